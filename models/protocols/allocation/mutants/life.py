"""Mutants of the data coordinator: which segment a row goes to, and what a flush of a collection ends.

The functions return the program of ``tidemark.models.protocols.allocation.life:life`` with the fault in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from tidemark.impl.datacoord.collection_flush import CollectionFlush
from tidemark.impl.datacoord.segment_allocation import SegmentAllocator
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, SegmentId
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.allocation.life import ENDED, ROWS_GO, AllocationLife, life

LIFE = "allocation-impl-life"


class _AsksFirst(CollectionFlush):
    async def flush(self, channels: Sequence[ChannelName]) -> Timestamp:
        flush_ts = await self._oracle.alloc(1)
        segments = {channel: self._allocator.end_all(channel) for channel in channels}
        await asyncio.gather(*(self._flush_channel(name, flush_ts, one) for name, one in segments.items()))
        return flush_ts


@mutant(killer=ROWS_GO, source="seed 004, 6.3", instance=LIFE)
def the_timestamp_comes_before_the_end() -> AllocationLife:
    """The oracle is asked first: a row above its answer goes to a segment that is then ended."""
    return life(flush=_AsksFirst)


class _Forgets(SegmentAllocator):
    def end_all(self, channel: ChannelName) -> tuple[SegmentId, ...]:
        found = super().end_all(channel)
        self.ended[channel] = []
        return found


@mutant(killer=ENDED, source="seed 004, 6.3", instance=LIFE)
def a_failed_flush_forgets_its_segments() -> AllocationLife:
    """A segment is named by one flush alone, though that may fail."""
    return life(allocator=_Forgets)


class _ForgetsAll(SegmentAllocator):
    def forget(self, channel: ChannelName, flushed: Collection[SegmentId]) -> None:
        del flushed
        self.ended[channel] = []


@mutant(killer=ENDED, source="seed 004, 6.3", instance=LIFE)
def a_flush_forgets_what_another_has_ended() -> AllocationLife:
    """When a flush is over every segment that has ended is forgotten, also one that it did not name."""
    return life(allocator=_ForgetsAll)
