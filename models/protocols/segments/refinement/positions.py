"""From a live query node to the state of ``SealedAreClosed`` (``mutants/positions.py``).

Everything else is read as in ``tidemark.models.protocols.segments.refinement``. Until the stream begins,
``excluded`` and ``closed`` are what the description says: nothing asks the filter before.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.excluded import EVERYTHING
from tidemark.impl.querynode.segments import Segment
from tidemark.impl.types import ChannelName, Row, SegmentId
from tidemark.models.protocols.segments import refinement as base
from tidemark.models.protocols.segments.ports import Stored, WritePlan
from tidemark.models.protocols.segments.refinement import NodeView
from tidemark.models.refinement.origins import Environment

SPECIFICATION = "tidemark.spec.segments.variants.positions:SealedAreClosed"


class NotingSegment(Segment):
    """A segment that notes the rows which are given to it again. It takes no copy of them."""

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment.segment_id)
        self.rows, self.deletes = segment.rows, segment.deletes
        self.copies: list[int] = []

    def insert(self, row: Row) -> None:
        """See Segment."""
        if row in self.rows.get(row.key, ()):
            self.copies.append(int(row.value))
        super().insert(row)


class NotingSegments(dict[SegmentId, Segment]):
    """Segments that note copies."""

    def __setitem__(self, number: SegmentId, segment: Segment) -> None:
        super().__setitem__(number, NotingSegment(segment))

    def setdefault(self, number: SegmentId, segment: Segment) -> Segment:
        """See dict."""
        if number not in self:
            self[number] = segment
        return self[number]


class NotingDelegators(dict[ChannelName, ShardDelegator]):
    """The delegators of a node, whose growing segments note copies."""

    def __setitem__(self, channel: ChannelName, delegator: ShardDelegator) -> None:
        delegator.growing = NotingSegments()
        super().__setitem__(channel, delegator)


class FilterView(NamedTuple):
    """What the filter of the node holds: by segment up to where; and the rows that came a second time."""

    upto: tuple[tuple[int, int], ...] = ()
    copies: tuple[int, ...] = ()


def filter_view(delegator: ShardDelegator) -> FilterView:
    """The picture of a filter."""
    growing = delegator.growing.values()
    copies = [w for segment in growing if isinstance(segment, NotingSegment) for w in segment.copies]
    upto = {name - 1: upto for name, upto in delegator.excluded.upto.items()}
    return FilterView(tuple(sorted(upto.items())), tuple(sorted(set(copies))))


def abstract(
    entries: Sequence[tuple[str, int, int]],
    stored: Stored,
    node: NodeView,
    seen: FilterView,
    writes: Sequence[WritePlan],
) -> dict[str, Any]:
    """The state of the specification, by variable name."""
    values = base.abstract(entries, stored, node, writes)
    segments = range(1 + max(plan.segment or 0 for plan in writes))
    found, known = node.described, dict(node.known)
    positions, taken = dict(stored.positions), dict(found.positions if found is not None else ())
    start = 0 if found is None else found.delete_checkpoint
    upto = _at_the_beginning(found, known) if node.grown is None else dict(seen.upto)

    def is_stored(w: int) -> bool:
        plan = writes[w]
        if found is None or plan.segment is None or plan.segment in (*found.flushed, *known):
            return False
        return plan.ts <= taken.get(plan.segment, 0)

    if node.grown is None:
        values["grown"] = {w: is_stored(w) for w in range(len(writes))}
    return {
        **values,
        "position": {g: positions.get(g, 0) for g in segments},
        "taken": {g: (positions if g in known else taken).get(g, 0) for g in segments},
        "excluded": {g: upto.get(g, 0) if start <= upto.get(g, 0) < EVERYTHING else 0 for g in segments},
        "closed": {g: upto.get(g) == EVERYTHING for g in segments},
        "twice": {w: w in seen.copies for w in range(len(writes))},
    }


def _at_the_beginning(found: Stored | None, known: Mapping[int, object]) -> dict[int, int]:
    """What is to be left out of the stream, before it begins."""
    if found is None:
        return {}
    return {**dict(found.positions), **dict.fromkeys((*found.flushed, *known), EVERYTHING)}


ENVIRONMENT = Environment(
    SPECIFICATION,
    {
        **base.ENVIRONMENT.reasons,
        "position": "what a data coordinator stores: simulated",
        "watching, wanted, start, files_at_start": "see the mapping without positions",
        "taken": "the description, and the record of a segment",
        "excluded, closed": "before the stream begins, what the description says",
        "twice": "noted by the segments of the program",
    },
)
"""What is not read from the implementation, and why."""
