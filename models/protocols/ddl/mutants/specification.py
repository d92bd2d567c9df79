"""Named mutants of the DDL minimum: hazard 53 and real bugs, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.ddl import Ddl
from tidemark.spec.ddl.variants.live import TicksForever
from tidemark.spec.language import Set, action, everywhere, greatest, removed, require


@mutant(killer="ddl.minimum_is_below_all_to_come", source="H53", instance="ddl-small")
class TaskUnlocked(Ddl):
    """A task's timestamp and its place in the heap are two steps (hazard 53)."""

    TASK_LOCK = False


@mutant(killer="ddl.minimum_is_below_all_to_come", source="H53", instance="ddl-small")
class ReaderUnlocked(Ddl):
    """The loop does not wait for the lock (hazard 53)."""

    READER_LOCK = False


@mutant(killer="ddl.minimum_is_below_all_to_come", source="H53", instance="ddl-small")
class LastFinished(Ddl):
    """The scheduler's minimum is the greatest finished timestamp, whatever is unfinished (hazard 53)."""

    def front(s) -> Ddl.Ts:
        return greatest(s.Ts, s.is_finished, upto=s.issued, default=s.scheduler_min)


@mutant(killer="ddl.minimum_is_below_all_to_come", source="H53", instance="ddl-small")
class NotedBeforeAppend(Ddl):
    """A job's timestamp is noted as done with as soon as there is one (hazard 53)."""

    def stamp_job(s, j: Ddl.Job, ts: Ddl.Ts) -> None:
        super().stamp_job(j, ts)
        s.last_ts = ts


@mutant(killer="ddl.minimum_is_below_all_to_come", source="facts 4", instance="ddl-small")
class OnlyScheduler(Ddl):
    """Background work is forgotten in the minimum (facts 4)."""

    def lesser(s) -> Ddl.Ts:
        return s.scheduler_min


@mutant(killer="ddl.reports_never_go_back", source="B5", instance="ddl-small")
class TasksReport(Ddl):
    """A DDL task reports its own timestamp when it is over, beside the loop (B5)."""

    told: Set[Ddl.Task] = everywhere(False)

    @action(source="B5")
    def report_own(s, t: Ddl.Task) -> None:
        """The task tells the time tick its timestamp."""
        require((s.phase[t] == "finished") & ~s.told[t])
        s.told[t] = True
        s.reported = s.ts[t]


@mutant(killer="ddl.reports_follow_the_oracle", source="B11", instance="ddl-live")
class NoDummies(TicksForever):
    """No dummy task comes again: the scheduler's minimum does not advance while there is no DDL (B11)."""

    come_again = removed
