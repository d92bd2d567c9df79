"""The edges of a node and a coordinator with several channels."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from tidemark.impl.datanode.data_node import DataNode
from tidemark.impl.errors import RpcError, StoreError
from tidemark.impl.types import (
    ChannelRecord,
    MetaSnapshot,
    SegmentId,
    SegmentRecord,
)
from tidemark.models.protocols.common.calls import known_as
from tidemark.models.simulation.world.process import Process

META = "meta"
CHANNELS = "channels"


class SlowMeta:
    """The coordinator's metadata in a store that takes its time, fails, and outlives the coordinator.

    All channels lie under one key: what is saved together is there together or not at all.
    """

    def __init__(self, process: Process) -> None:
        self._store = process.store(META)

    async def load(self) -> MetaSnapshot:
        """Everything that was saved, read in the step of the caller."""
        return snapshot(self._store.content())

    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """Save the records."""
        content = self._store.content()
        merged = {record.channel: record for record in (*content.get(CHANNELS, ()), *records)}
        await self._put(CHANNELS, tuple(merged[name] for name in sorted(merged)))

    async def save_segment(self, record: SegmentRecord) -> None:
        """Save the record."""
        await self._put(f"segment {record.segment_id}", record)

    async def replace_segment(self, record: SegmentRecord) -> None:
        """Save the record."""
        await self.save_segment(record)

    async def collect(self, channel: ChannelRecord, segments: Sequence[SegmentId]) -> None:
        """Save the record, and in the same step the segments are gone."""
        await self.save_channels([channel])
        for segment in segments:
            self._store.content().pop(f"segment {segment}", None)

    async def _put(self, key: str, value: object) -> None:
        with known_as(StoreError):
            await self._store.put(key, value)


def snapshot(content: Mapping[str, object]) -> MetaSnapshot:
    """Return what the content of a store means."""
    channels = content.get(CHANNELS, ())
    segments = [value for key, value in sorted(content.items()) if key != CHANNELS]
    assert isinstance(channels, tuple)
    return MetaSnapshot(channels, tuple(value for value in segments if isinstance(value, SegmentRecord)))


class NodeClock:
    """Pauses of the node: the updater's timer, the memory check, and those before a repetition.

    Attributes:
        timers, checks, repetitions: how many of each may still end.

    Args:
        tick, check: lengths of the first two, in seconds.
        rounds: what to do when the timer's pause begins, and when it ends.
        looks: what to do when a pause of the memory check begins, and when it ends.
    """

    def __init__(
        self,
        process: Process,
        *,
        tick: float,
        check: float,
        counts: tuple[int, int, int],
        rounds: tuple[Callable[[], None], Callable[[], None]],
        looks: tuple[Callable[[], None], Callable[[], None]],
    ) -> None:
        self.timers, self.checks, self.repetitions = counts
        self._process = process
        self._tick, self._check = tick, check
        self._rounds, self._looks = rounds, looks

    async def sleep(self, seconds: float) -> None:
        """Return when the pause is over; never, if its budget is spent."""
        if seconds == self._tick:
            self._rounds[0]()
            await self._end("timers", "timer.checkpoint")
            self._rounds[1]()
        elif seconds == self._check:
            self._looks[0]()
            await self._end("checks", "timer.memory")
            self._looks[1]()
        else:
            await self._end("repetitions", "pause")

    async def _end(self, kind: str, point: str) -> None:
        left: int = getattr(self, kind)
        if not left:
            await asyncio.get_running_loop().create_future()
        setattr(self, kind, left - 1)
        await self._process.point(point)


def refused(node: DataNode, failure: Exception) -> RpcError:
    """What a caller hears of a call that a node has refused."""
    return RpcError(f"{node.node_id}: {failure}")
