"""From the live objects of coordinator, writes and data node to the state of ``tidemark.spec.allocation``.

The implementation grants each message its own part, when the message is made, and for no time: a grant is a
row's, and its expiry the row's timestamp.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.impl.datacoord.segment_allocation import SegmentAllocator
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.types import ChannelName, SegmentId, SegmentPhase
from tidemark.models.refinement.origins import Environment


@dataclass(eq=False)
class InsertView:
    """One insert of one row.

    Attributes:
        stage: as in the specification.
        floor: what the oracle had issued when it was asked. ts: what it has answered.
        segment: of the row, once its message is made.
    """

    stage: str = "new"
    floor: int = 0
    ts: int = 0
    segment: SegmentId | None = None


@dataclass(frozen=True)
class GrantView:
    """A grant that was given: whose, and the timestamp of that row."""

    insert: InsertView
    until: int


def is_ended(buffer: WriteBuffer, segment: SegmentId) -> bool:
    """Whether the data node flushes a segment, or will with the next tick."""
    info = buffer.metacache.segments.get(segment)
    return info is not None and info.phase is not SegmentPhase.GROWING


def growing(allocator: SegmentAllocator | None) -> set[SegmentId]:
    """The segments to which rows are given."""
    return set() if allocator is None else {one.segment_id for one in allocator.growing.values()}


def full(allocator: SegmentAllocator | None, channel: ChannelName) -> set[SegmentId]:
    """The segments that have ended for the allocator, and are not flushed."""
    return set() if allocator is None else set(allocator.ended.get(channel, []))


def phase(
    segment: SegmentId,
    *,
    buffer: WriteBuffer,
    allocator: SegmentAllocator | None,
    sealed: Collection[SegmentId],
) -> str:
    """The phase of a segment. ``sealed``: those that were seen to be full, or that a flush has named."""
    if is_ended(buffer, segment):
        return "ended"
    return "sealed" if segment in sealed and segment not in growing(allocator) else "growing"


def rows(inserts: Sequence[InsertView], grants: Mapping[int, GrantView], number: int) -> dict[str, Any]:
    """The variables of rows and grants, of which there are so many."""
    under_way, every = ("assigned", "logged"), range(number)
    return {
        "stage": {r: one.stage for r, one in enumerate(inserts)},
        "floor": {r: one.floor for r, one in enumerate(inserts)},
        "ts": {r: one.ts for r, one in enumerate(inserts)},
        "uses": {
            (r, a): a in grants and grants[a].insert is one and one.stage in under_way
            for r, one in enumerate(inserts)
            for a in every
        },
        "given": {a: a in grants for a in every},
        "until": {a: grants[a].until if a in grants else 0 for a in every},
    }


ENVIRONMENT = Environment(
    "spec/allocation:Allocation",
    {
        "issued, stage, floor, ts": "the oracle, and how far an insert has come",
        "uses, given, until": (
            "which of a segment's grants it is, and that it is a row's timestamp long, is a reading"
        ),
        "tick": "the log",
        "up, since, faults": "that the coordinator stops, and begins",
        "span": "no grant outlives its message: 0",
        "expiry": "kept nowhere: reckoned from the grants that were given",
        "phase": "that a segment has ended for the allocator is remembered over a restart",
    },
)
"""What is not read from the implementation, and why."""
