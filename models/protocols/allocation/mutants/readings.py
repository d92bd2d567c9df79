"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.allocation.readings import TickOfTheCoordinator, is_the_message
from tidemark.spec.language import all_of, exists, forall, implies


class TickOfAnotherChannel(TickOfTheCoordinator):
    """The rows of any channel are taken for those of the channel of the tick."""

    @staticmethod
    def glue(rows, tick, c, upto):
        return all_of(
            tick.issued == rows.issued,
            tick.highest[c] == upto,
            forall(
                rows.Row,
                lambda r: implies(
                    rows.is_under_way(r),
                    exists(tick.Message, tick.Channel, lambda m, d: is_the_message(rows, tick, r, m, d)),
                ),
            ),
        )
