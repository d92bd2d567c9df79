"""Mutants of the data coordinator: which segment a row goes to, and what a flush of a collection ends."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.allocation.program import allocation

DRIVEN = Host("allocation-driven", allocation)

SLIPS = (
    Patch(
        "the-timestamp-comes-before-the-end",
        at="datacoord/collection_flush.py:CollectionFlush.flush",
        old="""segments = {channel: self._allocator.end_all(channel) for channel in channels}
        flush_ts = await self._oracle.alloc(1)""",
        new="""flush_ts = await self._oracle.alloc(1)
        segments = {channel: self._allocator.end_all(channel) for channel in channels}""",
        source="seed 004, 6.3",
        says="The oracle is asked first: a row above its answer goes to a segment that is then ended.",
    ),
    Patch(
        "a-failed-flush-forgets-its-segments",
        at="datacoord/segment_allocation.py:SegmentAllocator.end_all",
        old="stored = ",
        new="self.ended[channel] = []\n        stored = ",
        source="seed 004, 6.3",
        says="A segment is named by one flush alone, though that may fail.",
    ),
    Patch(
        "a-flush-forgets-what-another-has-ended",
        at="datacoord/segment_allocation.py:SegmentAllocator.forget",
        old="known not in flushed",
        new="False",
        source="seed 004, 6.3",
        says="When a flush is over every segment that has ended is forgotten, also one that it did not name.",
    ),
)
MUTANTS = patches(
    __name__,
    Patch(
        "a-segment-ends-without-a-tick",
        at="datanode/buffer_manager.py:BufferManager.seal_segment",
        old="buffer.consumed.ts < expires",
        new="False",
        walked=DRIVEN,
        source="seed 004, 6.3",
        says="The data node ends a segment at whatever tick it has read.",
    ),
)
