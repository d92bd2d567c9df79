"""What flush assumes of the allocation of segments, and of the ownership of the channel, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.allocation import Allocation
from tidemark.spec.flush import Flush
from tidemark.spec.language import all_of, exists, forall, implies, one_of
from tidemark.spec.ownership import Ownership


class EndOfASegment(Reading, user=Flush, owner=Allocation, action="seal"):
    """The coordinator has ended the segment. A row of it behind what the node has read is one that may still
    come, or one that lies above the tick up to which the node says that it has read.
    """

    @staticmethod
    def glue(flush, rows, segment: Flush.Segment):
        return (rows.phase[segment] == "ended") & forall(
            flush.Position,
            lambda p: implies(
                (p > flush.consumed) & flush.row_of(p, segment),
                exists(rows.Row, lambda r: rows.may_join(r, segment) | lies_behind(rows, r, segment)),
            ),
        )

    @staticmethod
    def takes(flush, segment):
        follows = exists(flush.Position, lambda p: (p > flush.consumed) & flush.row_of(p, segment))
        return ~(flush.SEALS_END & follows)


def lies_behind(rows, r, segment):
    """The row of the segment is in the log, above the tick up to which the node has read."""
    return exists(
        rows.Grant,
        lambda a: all_of(
            rows.stage[r] == "logged", rows.uses[r, a], rows.of[a] == segment, rows.ts[r] > rows.told
        ),
    )


class SaveOfTheNode(Reading, user=Flush, owner=Ownership, action="record"):
    """The coordinator takes a save of some tenure, and records rows. The node of the flush is a tenure that
    owns the channel, and its saves on the way are its tasks.
    """

    @staticmethod
    def glue(  # noqa: PLR0917  # two states and four values, by position
        flush, own, segment: Flush.Segment, end: Flush.Position, t: Ownership.Tenure, node: Ownership.Tenure
    ):
        return all_of(
            own.is_taken(t),
            own.low[t, segment] < own.high[t, segment],
            own.high[t, segment] == end,
            end > own.dml[segment],
            own.record[segment] == "kept",
            own.is_taken(node),
            forall(
                flush.Segment,
                lambda g: implies(own.save[node, g] == "sent", is_on_the_way(flush, g, own.high[node, g])),
            ),
        )

    @staticmethod
    def takes(flush, segment, end):
        return is_on_the_way(flush, segment, end)


def is_on_the_way(flush, segment, end):
    """The request of the task has left the node."""
    return one_of(flush.task[segment, end], "sending", "retrying")
