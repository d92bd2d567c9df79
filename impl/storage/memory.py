"""Stores and a log in memory, for tests and for runs that need no durability."""

import asyncio
from bisect import bisect_right
from collections.abc import Sequence

from tidemark.impl.errors import StoreError
from tidemark.impl.types import (
    ChannelName,
    ChannelRecord,
    MetaSnapshot,
    Pack,
    Position,
    Row,
    SegmentId,
    SegmentRecord,
)


class MemoryObjectStore:
    """Objects by path."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[Row, ...]] = {}

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """Keep the rows."""
        self.objects[path] = tuple(rows)

    async def get(self, path: str) -> tuple[Row, ...]:
        """The rows of an object."""
        rows = self.objects.get(path)
        if rows is None:
            raise StoreError(f"there is no object {path!r}; it was never written or its write failed")
        return rows


class MemoryMetaStore:
    """Records by key."""

    def __init__(self) -> None:
        self.channels: dict[ChannelName, ChannelRecord] = {}
        self.segments: dict[SegmentId, SegmentRecord] = {}

    async def load(self) -> MetaSnapshot:
        """All saved records."""
        return MetaSnapshot(channels=tuple(self.channels.values()), segments=tuple(self.segments.values()))

    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """Keep the records."""
        for record in records:
            self.channels[record.channel] = record

    async def save_segment(self, record: SegmentRecord) -> None:
        """Keep the record."""
        self.segments[record.segment_id] = record

    async def replace_segment(self, record: SegmentRecord) -> None:
        """Keep the record."""
        self.segments[record.segment_id] = record

    async def collect(self, channel: ChannelRecord, segments: Sequence[SegmentId]) -> None:
        """Keep the channel's record, and forget the segments."""
        self.channels[channel.channel] = channel
        for segment in segments:
            self.segments.pop(segment, None)


class MemoryLog:
    """Packs by channel, in order. It outlives the nodes that read it."""

    def __init__(self) -> None:
        self.packs: dict[ChannelName, list[Pack]] = {}
        self._grown = asyncio.Condition()

    async def append(self, channel: ChannelName, pack: Pack) -> None:
        """Add a pack that begins where the last one ends, and wake the readers."""
        packs = self.packs.setdefault(channel, [])
        last = packs[-1].end.ts if packs else 0
        if pack.start.ts != last:
            raise ValueError(
                f"pack starts at {pack.start.ts} but {channel!r} ends at {last}; append in order"
            )
        packs.append(pack)
        async with self._grown:
            self._grown.notify_all()

    async def next_pack(self, channel: ChannelName, after: Position) -> Pack:
        """The first pack that ends after the position; waits for it."""
        async with self._grown:
            while True:
                packs = self.packs.get(channel, [])
                at = bisect_right(packs, after.ts, key=lambda pack: pack.end.ts)
                if at < len(packs):
                    return packs[at]
                await self._grown.wait()
