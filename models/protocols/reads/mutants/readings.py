"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.reads.readings import TickOfTheCoordinator, is_the_message
from tidemark.spec.language import all_of, exists, forall, implies


class TickOfAnotherChannel(TickOfTheCoordinator):
    """The writes of any channel are taken for those of the channel of the tick."""

    @staticmethod
    def glue(reads, tick, c, upto):
        return all_of(
            tick.issued == reads.issued,
            tick.highest[c] == upto,
            forall(
                reads.Write,
                lambda w: implies(
                    reads.is_begun(w),
                    exists(tick.Message, tick.Channel, lambda m, d: is_the_message(reads, tick, w, m, d)),
                ),
            ),
        )
