"""What the allocation of segments assumes of the oracle and of the time tick, in their words."""

from tidemark.models.composition.reading import Reading
from tidemark.models.protocols.tso.readings import AnswerOfACall
from tidemark.spec.allocation import Allocation
from tidemark.spec.language import all_of, exists, forall, implies, one_of
from tidemark.spec.timetick import TimeTick


class StampOfARow(AnswerOfACall, user=Allocation, action="stamp", ts=Allocation.Ts):
    """A row's timestamp is the answer to a call of its proxy."""

    @staticmethod
    def floor(rows, r: Allocation.Row):
        return rows.floor[r]


class StampOfARestart(AnswerOfACall, user=Allocation, action="restart", now=Allocation.Ts):
    """A restarted coordinator calls the oracle once, after it has stopped."""

    @staticmethod
    def floor(rows):
        return rows.since


class TickOfTheCoordinator(Reading, user=Allocation, owner=TimeTick, action="send_tick"):
    """The rows under way are messages that the log of the channel would take: those that ask have the same
    floor, those that are stamped the same timestamp. The tick is the greatest in the log.
    """

    @staticmethod
    def glue(rows, tick, c: TimeTick.Channel, upto: Allocation.Ts):
        return all_of(
            tick.issued == rows.issued,
            tick.highest[c] == upto,
            forall(
                rows.Row,
                lambda r: implies(
                    rows.is_under_way(r),
                    exists(tick.Message, lambda m: is_the_message(rows, tick, r, m, c)),
                ),
            ),
        )

    @staticmethod
    def takes(rows, upto):
        return rows.is_below_all_to_come(upto)


def is_the_message(rows, tick, r, m, c):
    """The row is this message of the channel, under way."""
    asks = (rows.stage[r] == "asked") & (tick.message[m] == "asked") & (rows.floor[r] == tick.floor[m])
    is_stamped = all_of(
        one_of(rows.stage[r], "stamped", "assigned"),
        one_of(tick.message[m], "open", "lost"),
        rows.ts[r] == tick.ts[m],
    )
    return all_of(tick.channel_of[m] == c, tick.may_append(m), asks | is_stamped)
