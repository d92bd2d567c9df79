"""Named mutants of the scheduler, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, all_of, each, exists, forall, implies, ite, maximum, one_of, require
from tidemark.spec.scheduler import Scheduler

TWO = "scheduler-two-ddls"
SIDE = "scheduler-two-writes"
READ = "scheduler-write-and-read"


@mutant(killer="scheduler.notified_once", source="seed 004, 6.6.1: Notify", instance=TWO)
class DropsInSilence(Scheduler):
    """What is not carried out is taken from the queue, and that is all."""

    def drop(s, t: Scheduler.Task) -> None:
        require(s.is_next(t) & ~s.is_wanted(t))
        s.phase[t] = "over"


@mutant(killer="scheduler.one_ddl_is_under_way", source="hazard 12; seed 004, 6.0", instance=TWO)
class NextBeginsAtTheNotice(Scheduler):
    """The next ddl task begins when the caller of the one before it was told."""

    def is_next(s, t: Scheduler.Task) -> Bool:
        return all_of(
            s.phase[t] == "queued",
            forall(
                s.Task,
                lambda u: implies(s.joins(t, u) & (s.phase[u] == "queued"), s.place[t] <= s.place[u]),
            ),
            implies(
                s.queue[t] == "ddl",
                ~exists(
                    s.Task,
                    lambda u: s.joins(t, u) & one_of(s.phase[u], "running", "ended") & (s.notices[u] == 0),
                ),
            ),
        )


@mutant(killer="scheduler.the_active_tasks_are_known", source="seed 004, 6.6.1", instance=TWO)
class TakenIsNotActive(Scheduler):
    """A task leaves the unissued ones, and does not become active."""

    def take(s, t: Scheduler.Task) -> None:
        s.active = each(s.Task, lambda u: s.active[u])


@mutant(killer="scheduler.the_active_tasks_are_known", source="seed 004, 6.6.1", instance=TWO)
class StaysActiveWithoutItsCaller(Scheduler):
    """A task whose caller has left is not taken out of the map."""

    def pop(s, t: Scheduler.Task) -> None:
        known = s.active
        super().pop(t)
        s.active = each(s.Task, lambda u: ite(s.caller[t] == "left", known[u], s.active[u]))


@mutant(killer="scheduler.nobody_waits_for_a_closed_proxy", source="seed 004, 6.6.1", instance=TWO)
class CloseOverlooksAnEntry(Scheduler):
    """A task that is about to enter its queue is overlooked at the close."""

    def end_close(s) -> None:
        require(s.mode == "closing")
        require(forall(s.Task, lambda t: ~s.is_unfinished(t)))
        s.mode = "closed"


@mutant(killer="scheduler.ddls_take_effect_in_order", source="seed 004, 6.0: sequentially", instance=TWO)
class TakesTheLast(Scheduler):
    """A worker takes the task that has entered last."""

    def is_next(s, t: Scheduler.Task) -> Bool:
        return (s.phase[t] == "queued") & ~exists(
            s.Task,
            lambda u: (
                s.joins(t, u)
                & (
                    ((s.phase[u] == "queued") & (s.place[u] > s.place[t]))
                    | ((s.queue[t] == "ddl") & one_of(s.phase[u], "running", "ended"))
                )
            ),
        )


@mutant(killer="scheduler.one_ddl_is_under_way", source="seed 004, 6.0; hazard 12", instance=TWO)
class CancellationEndsTheTask(Scheduler):
    """A caller that leaves takes its task with it: the call is given up, and never settled."""

    def cancel(s, t: Scheduler.Task) -> None:
        runs = s.phase[t] == "running"
        super().cancel(t)
        s.unknown[t] = s.unknown[t] | (runs & ~s.carried[t])
        s.notices[t] = ite(runs, 1, s.notices[t])
        s.active[t] = s.active[t] & ~runs
        s.phase[t] = ite(runs, "over", s.phase[t])


@mutant(killer="scheduler.a_task_ends", source="seed 004, 6.6.1: Notify", instance=SIDE)
class NoticeWaitsForTheCaller(Scheduler):
    """A notice is handed over, to a caller that may have left."""

    def tell(s, t: Scheduler.Task) -> None:
        require(s.caller[t] == "waits")
        super().tell(t)


@mutant(killer="scheduler.a_task_ends", source="seed 004, 6.6.1", instance=TWO)
class NobodyTakesWhatIsNotWanted(Scheduler):
    """A task whose caller has left stays where it is, and those behind it wait."""

    def drop(s, t: Scheduler.Task) -> None:
        require(s.mode == "closing")
        super().drop(t)


@mutant(killer="scheduler.nobody_waits_for_a_closed_proxy", source="seed 004, 6.6.1", instance=TWO)
class CrashIsNotSeen(Scheduler):
    """Callers of a proxy that has crashed wait on."""

    def crash(s) -> None:
        known = s.caller
        super().crash()
        s.caller = each(s.Task, lambda t: known[t])


@mutant(killer="scheduler.writes_are_above_the_report", source="hazard 12", instance=SIDE)
class ReportsWhatWasGivenUp(Scheduler):
    """A write that was given up does not count in the report, and comes afterwards."""

    def report(s, upto: Scheduler.Ts) -> None:
        require(one_of(s.mode, "open", "closing") & (upto > s.reported))
        require(
            forall(
                s.Task,
                lambda t: implies(
                    all_of(s.queue[t] == "dml", s.may_act(t), ~s.unknown[t]), s.is_above(t, upto)
                ),
            )
        )
        s.reported = upto
        s.issued = maximum(s.issued, upto)


@mutant(killer="scheduler.nobody_waits_for_a_closed_proxy", source="seed 004, 6.6.1", instance=READ)
class ReadsEnterAClosedProxy(Scheduler):
    """A read needs no lock, and enters whatever the proxy does."""

    def enter(s, t: Scheduler.Task) -> None:
        require((s.phase[t] == "new") & (s.queue[t] == "query"))
        s.caller[t] = "waits"
        s.line_up(t)
