"""What happens in a program of channels: logs, flushes, drops, batches, memory, faults."""

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.types import ChannelName, EndPosition, Pack, Row, SegmentId, StartPosition
from tidemark.models.refinement.scenario import FaultyScenario
from tidemark.models.simulation.settings import ClockOrder, Settings

COORDINATOR = "coordinator"
NODE = "node"
ROW_BYTES = 24
_NEVER = 1_000_000


class ChannelsScenario(FaultyScenario):
    """What happens in a program of channels.

    Attributes:
        logs: by channel its packs, by pack the segments of its rows.
        dropped: channels whose last pack carries the drop message.
        flushes: (channel, flush timestamp) of each client; it also ends the segments that have no later row.
        sync_each_row: a buffer is full with one row.
        memory: rows that may be in memory before the memory check acts.
        memory_checks, timers: how often the node looks at its memory, and its updater's timer ends.
        batch, parallel: positions in a call of the updater, calls at the same time.
        repetitions: failed calls and writes that the node repeats.
        slow_store: each change of the coordinator's metadata takes a step.
        deadlines: calls go through ``tidemark.impl.rpc`` in one process, and its deadlines may pass.
    """

    logs: tuple[tuple[tuple[SegmentId, ...], ...], ...]
    dropped: tuple[int, ...] = ()
    flushes: tuple[tuple[int, int], ...] = ()
    sync_each_row: bool = False
    memory: int = _NEVER
    memory_checks: int = 0
    timers: int = 1
    batch: int = 1
    parallel: int = 1
    repetitions: int = 0
    slow_store: bool = False
    deadlines: int = 0

    @property
    def channels(self) -> tuple[ChannelName, ...]:
        """Names of the channels."""
        return tuple(f"c{place}" for place in range(len(self.logs)))

    def packs(self) -> dict[ChannelName, tuple[Pack, ...]]:
        """Return the logs. A pack has one timestamp for each of its rows, and one for its tick."""
        return {name: tuple(self._packs(place)) for place, name in enumerate(self.channels)}

    def _packs(self, place: int) -> list[Pack]:
        found: list[Pack] = []
        for number, segments in enumerate(self.logs[place], start=1):
            start = found[-1].end.ts if found else 0
            # The last row of a pack has the timestamp of its end: the boundary belongs to the pack.
            end = start + max(len(segments), 1)
            rows = tuple(
                Row(
                    ts=start + n,
                    segment_id=segment,
                    key=100 * place + start + n,
                    value=f"{place}.{start + n}",
                )
                for n, segment in enumerate(segments, start=1)
            )
            last = number == len(self.logs[place]) and place in self.dropped
            found.append(Pack(StartPosition(start), EndPosition(end), rows, drop=last))
        return found

    def rows(self) -> dict[ChannelName, tuple[Row, ...]]:
        """Return the rows of each channel."""
        return {
            name: tuple(row for pack in packs for row in pack.rows) for name, packs in self.packs().items()
        }

    def ended_by(self, place: int, flush_ts: int) -> tuple[SegmentId, ...]:
        """Return the segments of a channel that have rows up to a timestamp and none after it."""
        rows = self.rows()[self.channels[place]]
        later = {row.segment_id for row in rows if row.ts > flush_ts}
        return tuple(sorted({row.segment_id for row in rows if row.ts <= flush_ts} - later))

    def settings(self) -> Settings:
        """Return the bounds of the world."""
        return Settings(
            faults=self.faults,
            crashable=frozenset({COORDINATOR}) if self.crashes else frozenset(),
            clock=ClockOrder.UNTIMED,
            timer_firings=self.deadlines,
        )

    def config(self) -> DataNodeConfig:
        """Return the configuration of the node."""
        return DataNodeConfig(
            full_buffer_bytes=1 if self.sync_each_row else _NEVER,
            stale_after_ts=_NEVER,
            memory_watermark_bytes=self.memory * (ROW_BYTES + 3) if self.memory != _NEVER else _NEVER,
            checkpoint_interval_ts=0,
            max_positions_per_rpc=self.batch,
            max_parallel_rpcs=self.parallel,
        )
