"""What happens in a flush program, and the bounded instance of the specification that it must refine."""

from dataclasses import replace

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, EndPosition, Pack, Row, SegmentId, StartPosition
from tidemark.models.instance import Instance
from tidemark.models.protocols.flush.ports import NODE
from tidemark.models.refinement.scenario import Scenario
from tidemark.models.simulation.settings import ClockOrder, Settings

CHANNEL: ChannelName = "channel"
_NEVER = 1_000_000
ROW_BYTES = 24


class FlushScenario(Scenario):
    """What happens in a flush program.

    Attributes:
        rows: the segment of the row at each tick, from tick 1 on; 0 for a tick without a row.
        flushes: flush timestamps that the client asks for, each in a request of its own.
        sync_each_row: the buffer is full with one row.
        eager: two rows fill a buffer, a tick makes it stale, and a checkpoint is due at every other tick.
        seals: a flush also ends the segments whose last row it covers.
        timer_firings: rounds of the updater's timer, and pauses before repetitions, all incarnations
            together; ``endless``: without a limit.
        crashes: of the node.
        messages: faults of messages, all kinds together; None: only those of the kinds.
        moves: how often the operator takes the channel from the node and gives it back. Not while the node is
            down: the specification speaks of the owner that lives.
        remote_client: the client is a process of its own; otherwise it lives with the coordinator.
        repetitions: how many failed calls and writes the node repeats, and the client as many; None: each
            repetition is a firing of a timer.
        local_storage: the binlogs lie on the node's own disk; otherwise in a store that all share.
    """

    rows: tuple[SegmentId, ...]
    flushes: tuple[Timestamp, ...] = ()
    sync_each_row: bool = False
    eager: bool = False
    seals: bool = False
    timer_firings: int = 0
    endless: bool = False
    crashes: int = 0
    lost_replies: int = 0
    delays: int = 0
    drops: int = 0
    duplicates: int = 0
    messages: int | None = None
    storage_failures: int = 0
    torn_writes: int = 0
    moves: int = 0
    remote_client: bool = False
    repetitions: int | None = None
    local_storage: bool = False

    @property
    def segments(self) -> tuple[SegmentId, ...]:
        """The segments that have rows, in the order of the specification's elements; one if none has."""
        return tuple(sorted({segment for segment in self.rows if segment})) or (1,)

    def ended_by(self, flush_ts: Timestamp) -> tuple[SegmentId, ...]:
        """Return the segments that a flush ends: no row of them comes later."""
        later = set(self.rows[flush_ts:])
        covered = {segment for segment in self.rows[:flush_ts] if segment}
        return tuple(sorted(covered - later)) if self.seals else ()

    def packs(self) -> list[Pack]:
        """Return the log: one pack a tick, at most one row a pack."""
        found = []
        for start, segment in enumerate(self.rows):
            tick = start + 1
            rows = (Row(ts=tick, segment_id=segment, key=tick),) if segment else ()
            found.append(Pack(start=StartPosition(start), end=EndPosition(tick), rows=rows))
        return found

    def settings(self) -> Settings:
        """Return the bounds of the world."""
        return Settings(
            faults=replace(self.faults, messages=self.messages),
            crashable=frozenset({NODE}) if self.crashes else frozenset(),
            clock=ClockOrder.UNTIMED,
            timer_firings=None if self.endless else self.timer_firings,
        )

    def config(self) -> DataNodeConfig:
        """Return the configuration of the node. Nothing happens by memory pressure."""
        return DataNodeConfig(
            full_buffer_bytes=2 * ROW_BYTES if self.eager else 1 if self.sync_each_row else _NEVER,
            stale_after_ts=1 if self.eager else _NEVER,
            checkpoint_interval_ts=2 if self.eager else _NEVER,
            memory_watermark_bytes=_NEVER,
        )

    def instance(self, protocol: str = "tidemark.spec.flush:Flush") -> Instance:
        """Return the bounded instance of a specification with this log. Faults are not counted there."""
        place = {segment: index for index, segment in enumerate(self.segments)}
        return Instance(
            protocol,
            bounds={"Segment": len(self.segments), "Position": len(self.rows), "Copies": 2, "Faults": 0},
            constants={
                "carries": [False, *(segment != 0 for segment in self.rows)],
                "segment_of": [0, *(place.get(segment, 0) for segment in self.rows)],
                "ask_up_to": max(self.flushes, default=0),
            },
            name="scheduled",
        )
