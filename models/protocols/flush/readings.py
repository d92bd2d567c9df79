"""What flush takes for granted of the allocation of segments, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.allocation import Allocation
from tidemark.spec.flush import Flush
from tidemark.spec.language import all_of, exists, forall, implies


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
