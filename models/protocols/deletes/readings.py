"""What the handling of deletes assumes of the flush of segments, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.deletes import Deletes
from tidemark.spec.flush import Flush
from tidemark.spec.language import forall, implies


class EndOfASegment(Reading, user=Deletes, owner=Flush, action="end_segment"):
    """A segment ends when the coordinator records it as flushed. Its rows are rows of the log, and a row that
    the coordinator has recorded is in files.
    """

    @staticmethod
    def glue(deletes, flush, g: Deletes.Segment, h: Flush.Segment):
        return flush.flushed[h] & forall(
            deletes.Position,
            lambda p: implies(
                deletes.row_of(p, g),
                flush.row_of(p, h) & implies(flush.durable(p), deletes.in_files(p)),
            ),
        )

    @staticmethod
    def takes(deletes, g):
        return forall(deletes.Position, lambda p: implies(deletes.row_of(p, g), deletes.in_files(p)))
