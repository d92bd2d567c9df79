"""Mutants of the data coordinator: which segment a row goes to, and what a flush of a collection ends."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.allocation.program import allocation

DRIVEN = Host("allocation-driven", allocation)

SLIPS = (
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
