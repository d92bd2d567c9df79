"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.deletes.readings import EndOfASegment
from tidemark.spec.language import exists, forall, implies


class EndOfAnySegment(EndOfASegment):
    """The end of any segment is taken for that of the segment."""

    @staticmethod
    def glue(deletes, flush, g, h):
        return exists(flush.Segment, lambda other: flush.flushed[other]) & forall(
            deletes.Position,
            lambda p: implies(
                deletes.row_of(p, g),
                flush.row_of(p, h) & implies(flush.durable(p), deletes.in_files(p)),
            ),
        )
