"""What the scheduler assumes of the oracle and of the statistics, in their words."""

from tidemark.models.composition.reading import Reading
from tidemark.models.protocols.tso.readings import AnswerOfACall
from tidemark.spec.language import all_of, exists, forall, implies
from tidemark.spec.proxy import Proxy
from tidemark.spec.scheduler import Scheduler


class StampOfATask(AnswerOfACall, user=Scheduler, action="stamp", ts=Scheduler.Ts):
    """A task's timestamp is the answer to its call."""

    @staticmethod
    def floor(scheduler, t: Scheduler.Task):
        return scheduler.floor[t]


class ReportOfTheStatistics(Reading, user=Scheduler, owner=Proxy, action="report"):
    """The value is the last report of a channel of the same proxy. A write that may still take effect is a
    task there that may still append to the channel, with the same timestamp, or that asks, with
    the same floor.
    """

    @staticmethod
    def glue(scheduler, proxy, c: Proxy.Channel, upto: Scheduler.Ts):
        return (proxy.reported[c] == upto) & forall(
            scheduler.Task,
            lambda t: implies(
                (scheduler.queue[t] == "dml") & scheduler.may_act(t),
                exists(proxy.Task, lambda p: is_the_write(scheduler, proxy, t, p, c)),
            ),
        )

    @staticmethod
    def takes(scheduler, upto):
        return scheduler.allows(upto)


def is_the_write(scheduler, proxy, t, p, c):
    """The task of the scheduler is this task of the statistics."""
    asks = scheduler.phase[t] == "asked"
    is_asked = (proxy.phase[p] == "asked") & (proxy.floor[p] == scheduler.floor[t])
    is_stamped = proxy.may_append(p, c) & (proxy.ts[p] == scheduler.ts[t])
    return all_of(implies(asks, is_asked), implies(~asks, is_stamped))
