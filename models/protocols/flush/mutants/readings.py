"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.flush.readings import EndOfASegment, SaveOfTheNode, is_on_the_way, lies_behind
from tidemark.spec.language import all_of, exists, forall, implies


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


class SaveOfSomeNode(SaveOfTheNode):
    """The node of the flush need not be an owner of the channel."""

    @staticmethod
    def glue(flush, own, segment, end, t, node):
        return all_of(
            own.is_taken(t),
            own.low[t, segment] < own.high[t, segment],
            own.high[t, segment] == end,
            end > own.dml[segment],
            own.record[segment] == "kept",
            forall(
                flush.Segment,
                lambda g: implies(own.save[node, g] == "sent", is_on_the_way(flush, g, own.high[node, g])),
            ),
        )
