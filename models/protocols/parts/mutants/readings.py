"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.parts.readings import MomentOfAChannel
from tidemark.spec.language import all_of, implies


class PageOfAnyMoment(MomentOfAChannel):
    """A further page is a page of the channel, of whatever first page."""

    @staticmethod
    def glue(parts, reads, q, c, value):
        return all_of(
            reads.is_answered(q),
            reads.moment[q] == value,
            reads.safe[reads.replica[q]] <= parts.safe[c],
            implies(~parts.is_further(q), reads.guarantee[q] == parts.guarantee[q]),
        )
