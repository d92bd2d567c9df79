"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.flush.readings import EndOfASegment, lies_behind
from tidemark.spec.language import exists, forall, implies


class EndOfASealedSegment(EndOfASegment):
    """The coordinator has sealed the segment, and does not wait for a tick."""

    @staticmethod
    def glue(flush, rows, segment):
        return (rows.phase[segment] == "sealed") & forall(
            flush.Position,
            lambda p: implies(
                (p > flush.consumed) & flush.row_of(p, segment),
                exists(rows.Row, lambda r: rows.may_join(r, segment) | lies_behind(rows, r, segment)),
            ),
        )
