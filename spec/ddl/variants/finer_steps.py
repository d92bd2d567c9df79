"""The DDL minimum in finer steps: a message goes to the logs one by one, and the coordinator crashes.

The time tick has a crash of its own (``spec/timetick/variants/takeover.py``); this one is about tasks, jobs,
locks and minima, and about messages that are in some logs and on their way to others.
"""

from tidemark.spec.ddl import Ddl
from tidemark.spec.language import (
    Bool,
    Map,
    Self,
    Set,
    Sort,
    TypeAlias,
    action,
    all_of,
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    lemma,
    one_of,
    other_parameters,
    reachable,
    require,
    transition_invariant,
)


class LogByLog(Ddl):
    """A message is in one log after the other; each log has ticks of its own."""

    Log: TypeAlias = Sort

    in_log: Set[Ddl.Task, Log] = everywhere(False)
    job_in_log: Set[Ddl.Job, Log] = everywhere(False)
    tick: Map[Log, Ddl.Ts] = everywhere(0)

    @other_parameters
    def append(s, t: Ddl.Task, log: Log) -> None:
        """The task's message is in one log more."""
        require(s.is_running(t) & ~s.silent[t])
        require(~s.in_log[t, log])
        s.in_log[t, log] = True
        s.appended[t] = forall(s.Log, lambda g: s.in_log[t, g])

    @other_parameters
    def append_job(s, j: Ddl.Job, log: Log) -> None:
        """The job's message is in one log more."""
        require((s.stage[j] == "stamped") & s.is_in_progress(j))
        require(~s.job_in_log[j, log])
        s.job_in_log[j, log] = True
        s.stage[j] = ite(forall(s.Log, lambda g: s.job_in_log[j, g]), "sent", "stamped")

    def is_in_progress(s, j: Ddl.Job) -> Bool:
        return s.counted[j]

    @action(source="seed 002, coordinator")
    def tick_log(s, log: Log) -> None:
        """A log gets the tick that the last report allows."""
        require(s.tick[log] < s.reported)
        s.tick[log] = s.reported

    @transition_invariant(source="seed 002, DDL: DDL and DML are ordered; property W")
    def each_log_keeps_its_ticks(before, after: Self) -> Bool:
        """A DDL message comes to each log above the ticks of that log."""
        return all_of(
            forall(
                after.Task,
                after.Log,
                lambda t, g: implies(after.in_log[t, g] & ~before.in_log[t, g], after.ts[t] > before.tick[g]),
            ),
            forall(
                after.Job,
                after.Log,
                lambda j, g: implies(
                    after.job_in_log[j, g] & ~before.job_in_log[j, g], after.job_ts[j] > before.tick[g]
                ),
            ),
        )

    @lemma(source="seed 002, DDL")
    def appended_is_in_every_log(s) -> Bool:
        """Each appended message is in every log; no tick is above the reported value."""
        return all_of(
            forall(s.Task, s.Log, lambda t, g: implies(s.appended[t], s.in_log[t, g])),
            forall(s.Task, s.Log, lambda t, g: implies(s.in_log[t, g], s.has_ts(t) & ~s.silent[t])),
            forall(s.Job, s.Log, lambda j, g: implies(s.job_in_log[j, g], s.job_has_ts(j))),
            forall(s.Log, lambda g: s.tick[g] <= s.reported),
        )

    @reachable(after="tick_log", source="seed 002, DDL: DDL and DML are ordered")
    def a_tick_comes_between_two_logs(before, after: Self, log: Log) -> Bool:
        """A message is in one log, and a log that still has to get it gets a tick first."""
        return exists(
            after.Task,
            after.Log,
            lambda t, g: after.is_open(t) & after.in_log[t, g] & ~after.in_log[t, log],
        )


class CoordinatorCrashes(LogByLog):
    """The coordinator crashes and another follows: tasks, jobs, locks and minima are lost. Messages on their
    way may reach the logs that do not refuse the old coordinator yet.

    ``reported`` is the last report of any coordinator: the reports of a successor continue from there.
    """

    up: Bool = True
    old: Set[Ddl.Task] = everywhere(False)  # tasks of coordinators that have crashed
    old_job: Set[Ddl.Job] = everywhere(False)
    adrift: Set[Ddl.Task] = everywhere(False)  # their messages may be on the way
    closed: Set[LogByLog.Log] = everywhere(False)  # the log refuses the predecessor

    # ---- helpers that now speak of the running coordinator ----

    def is_running(s, t: LogByLog.Task) -> Bool:
        return super().is_running(t) | s.adrift[t]

    def is_finished(s, x: LogByLog.Ts) -> Bool:
        return exists(s.Task, lambda t: (s.phase[t] == "finished") & ~s.old[t] & (s.ts[t] == x))

    def holds(s, j: LogByLog.Job) -> Bool:
        return super().holds(j) & ~s.old_job[j]

    def is_in_progress(s, j: LogByLog.Job) -> Bool:
        return s.counted[j] | s.old_job[j]

    # ---- steps ----

    @action(source="facts 4; B46")
    def crash(s) -> None:
        """The coordinator stops; its sent messages are on the way."""
        require(s.up)
        s.up = False
        s.closed = each(s.Log, lambda g: False)
        s.end_tasks()
        s.end_jobs()
        s.scheduler_min = 0
        s.last_ts = 0
        s.loop = "idle"
        s.loop_floor = 0
        s.background = 0
        s.found = 0

    def end_tasks(s) -> None:
        """A client without an answer may come again; the other tasks have ended."""
        s.adrift = each(s.Task, lambda t: s.adrift[t] | (s.phase[t] == "queued"))
        s.old = each(s.Task, lambda t: s.old[t] | s.has_ts(t))
        s.floor = each(s.Task, lambda t: 0)
        s.phase = each(s.Task, lambda t: ite(s.has_ts(t), "finished", "new"))

    def end_jobs(s) -> None:
        """A job that had sent its message stays as it is, without the lock; the others have ended."""
        s.old_job = each(s.Job, lambda j: s.old_job[j] | (s.stage[j] != "new"))
        s.counted = each(s.Job, lambda j: False)
        s.job_floor = each(s.Job, lambda j: 0)
        s.stage = each(
            s.Job,
            lambda j: ite(one_of(s.stage[j], "new", "stamped"), s.stage[j], "unlocked"),
        )

    @action(fairness="weak", source="hazard 11; B46")
    def close_log(s, log: LogByLog.Log) -> None:
        """A log refuses the predecessor from now on."""
        require(~s.up & ~s.closed[log])
        s.closed[log] = True

    @action(fairness="weak", source="facts 4; B46")
    def start(s) -> None:
        """A successor serves when all logs refuse the predecessor: messages on their way are lost."""
        require(~s.up & forall(s.Log, lambda g: s.closed[g]))
        s.up = True
        s.adrift = each(s.Task, lambda t: s.adrift[t] & ~s.DDL_FENCED)
        s.stage = each(
            s.Job,
            lambda j: ite(s.DDL_FENCED & s.old_job[j], "unlocked", s.stage[j]),
        )

    @other_parameters
    def append(s, t: LogByLog.Task, log: LogByLog.Log) -> None:
        require(~(s.old[t] & s.DDL_FENCED & s.closed[log]))
        super().append(t, log)

    @other_parameters
    def append_job(s, j: LogByLog.Job, log: LogByLog.Log) -> None:
        require(~(s.old_job[j] & s.DDL_FENCED & s.closed[log]))
        super().append_job(j, log)

    def ask(s, t: LogByLog.Task) -> None:
        require(s.up)
        super().ask(t)

    def begin_job(s, j: LogByLog.Job) -> None:
        require(s.up)
        super().begin_job(j)

    def look(s) -> None:
        require(s.up)
        super().look()

    def tick_log(s, log: LogByLog.Log) -> None:
        require(s.up)
        super().tick_log(log)

    def count_job(s, j: LogByLog.Job) -> None:
        require(~s.old_job[j])
        super().count_job(j)

    def note(s, j: LogByLog.Job) -> None:
        require(~s.old_job[j])
        super().note(j)

    # ---- claims and lemmas ----

    @transition_invariant(source="facts 4: last contiguous finished")
    def minima_never_go_back(before, after: Self) -> Bool:
        """While a coordinator runs, neither of its two minima falls."""
        return implies(
            before.up & after.up,
            (after.scheduler_min >= before.scheduler_min) & (after.last_ts >= before.last_ts),
        )

    @lemma(source="facts 4; B46")
    def while_nobody_coordinates_nothing_runs(s) -> Bool:
        """After a crash no task and no job has the lock, and the loop is idle."""
        return all_of(
            forall(s.Task, lambda t: implies(s.old[t], s.phase[t] == "finished")),
            forall(s.Task, lambda t: implies(s.adrift[t], s.old[t])),
            forall(
                s.Job,
                lambda j: implies(s.old_job[j], one_of(s.stage[j], "stamped", "sent", "over", "unlocked")),
            ),
            forall(s.Job, lambda j: implies(s.old_job[j], ~s.counted[j])),
            implies(s.up & s.DDL_FENCED, forall(s.Task, lambda t: ~s.adrift[t])),
            implies(
                s.up & s.DDL_FENCED,
                forall(s.Job, lambda j: implies(s.old_job[j], s.stage[j] == "unlocked")),
            ),
            s.up | (s.loop == "idle") & (s.scheduler_min == 0) & (s.last_ts == 0),
            s.up | forall(s.Task, lambda t: (s.phase[t] == "new") | s.old[t]),
            s.up | forall(s.Job, lambda j: (s.stage[j] == "new") | s.old_job[j]),
        )

    @lemma(source="seed 002, sendMinDdlTsAsTt")
    def what_the_loop_has_is_old(s) -> Bool:
        """The loop's values are at most what it would read now, and at least the reported value, or zero."""
        return all_of(
            s.background <= s.last_ts,
            s.found <= s.last_ts,
            s.found <= s.scheduler_min,
            (s.last_ts == 0) | (s.reported <= s.last_ts),
            (s.scheduler_min == 0) | (s.reported <= s.scheduler_min),
            implies(s.loop == "have_background", (s.reported <= s.background) | (s.background == 0)),
            implies(s.loop == "have_both", (s.reported <= s.found) | (s.found == 0)),
        )

    @lemma(source="seed 002, sendMinDdlTsAsTt: zero is skipped")
    def a_successor_goes_on(s) -> Bool:
        """Until a coordinator has a minimum, all timestamps of its work are above the earlier reports."""
        return all_of(
            implies(
                s.scheduler_min == 0,
                forall(s.Task, lambda t: implies(s.has_ts(t) & ~s.old[t], s.ts[t] > s.reported)),
            ),
            implies(
                s.last_ts == 0,
                forall(
                    s.Job,
                    lambda j: implies((s.stage[j] == "sent") & ~s.old_job[j], s.job_ts[j] > s.reported),
                ),
            ),
            implies(s.loop == "asked", s.loop_floor >= s.reported),
        )

    # ---- witnesses ----

    @reachable(after="append", source="B46; hazard 11")
    def a_message_lands_beside_a_log_that_refuses_it(before, after: Self, t: LogByLog.Task) -> Bool:
        """The predecessor's message comes to a log while another refuses it."""
        return before.old[t] & exists(before.Log, lambda g: before.closed[g] & ~before.in_log[t, g])

    @reachable(after="report", source="B46")
    def a_successor_reports_more(before, after: Self) -> Bool:
        """A coordinator that follows another reports more than its predecessor."""
        return exists(before.Task, lambda t: before.old[t] & (before.ts[t] <= before.reported)) & (
            after.reported > before.reported
        )


class ReportsNothingYet(CoordinatorCrashes):
    """A coordinator that has no minimum yet reports zero."""

    def report(s) -> None:
        require(s.loop == "have_both")
        s.reported = s.found
        s.found = 0
        s.loop = "idle"
