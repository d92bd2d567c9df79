"""What the scheduler assumes of the oracle, of the ids and of the statistics, in their words."""

from tidemark.models.composition.reading import Reading
from tidemark.models.protocols.tso.readings import AnswerOfACall
from tidemark.spec.ids import Ids
from tidemark.spec.language import all_of, exists, forall, implies
from tidemark.spec.proxy import Proxy
from tidemark.spec.scheduler import Scheduler


class StampOfATask(AnswerOfACall, user=Scheduler, action="stamp", ts=Scheduler.Ts):
    """A task's timestamp is the answer to its call."""

    @staticmethod
    def floor(scheduler, t: Scheduler.Task):
        return scheduler.floor[t]


class IdOfATask(Reading, user=Scheduler, owner=Ids, action="stamp"):
    """Each task has its id from a run of its own: if the ids of two tasks are one, those of the runs are."""

    @staticmethod
    def glue(scheduler, ids, t: Scheduler.Task):
        return forall(
            scheduler.Task,
            lambda u: implies(
                scheduler.has_id(u),
                exists(ids.Row, ids.Row, lambda q, r: are_the_runs(scheduler, ids, (t, u), (q, r))),
            ),
        )

    @staticmethod
    def takes(scheduler, t):
        return scheduler.is_alone(t)


class IdOfARead(IdOfATask, action="enter"):
    """A read has its id as any task."""


def are_the_runs(scheduler, ids, tasks, runs):
    """The two tasks have their ids from these two runs."""
    (t, u), (q, r) = tasks, runs
    return all_of(
        q != r,
        ids.has[q],
        ids.has[r],
        ids.id[q] <= ids.last[q],
        ids.id[r] <= ids.last[r],
        implies(scheduler.id[t] == scheduler.id[u], ids.id[q] == ids.id[r]),
    )


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
