"""Claims about the DDL minimum: what must be true, should happen and can happen, and why.

The state and the steps stand in ``ddl_steps``. Sources: seed 002 (sendMinDdlTsAsTt), facts 4, hazard 53, bugs
B5, B11, B47.
"""

from spec import ddl_steps
from spec.language import (
    all_of,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    lemma,
    reachable,
    transition_invariant,
)


class Ddl(ddl_steps.Ddl):
    """DDL tasks of clients, background work, and the loop that reports the lesser minimum."""

    # ---- words of the claims ----

    def has_ts(s, t):
        """The oracle has answered the task."""
        return (s.phase[t] != "new") & (s.phase[t] != "asked")

    def job_has_ts(s, j):
        """The oracle has answered the job, or the job has failed."""
        return (s.stage[j] != "new") & (s.stage[j] != "locked") & (s.stage[j] != "asked")

    def is_open(s, t):
        """The task has its timestamp and is not finished."""
        return (s.phase[t] == "stamped") | (s.phase[t] == "queued")

    # ---- what must be true ----

    @invariant(source="hazard 53; property W")
    def minimum_is_below_all_to_come(s):
        """What was reported is below every timestamp with which a DDL message can still be appended."""
        return all_of(
            forall(s.Task, lambda t: implies(s.may_append(t), s.ts[t] > s.reported)),
            forall(s.Job, lambda j: implies(s.stage[j] == "stamped", s.job_ts[j] > s.reported)),
        )

    @invariant(source="hazard 53; property W")
    def minimum_is_given_to_nobody_else(s):
        """No call that is under way, and none to come, is answered with a reported timestamp or a smaller
        one.
        """
        return all_of(
            s.reported <= s.issued,
            forall(s.Task, lambda t: implies(s.phase[t] == "asked", s.reported <= s.floor[t])),
            forall(s.Job, lambda j: implies(s.stage[j] == "asked", s.reported <= s.job_floor[j])),
        )

    @transition_invariant(source="hazard 53; property W")
    def appends_are_above_the_report(before, after):
        """No DDL message is appended at or below what was reported."""
        return all_of(
            forall(
                after.Task,
                lambda t: implies(after.appended[t] & ~before.appended[t], after.ts[t] > before.reported),
            ),
            forall(
                after.Job,
                lambda j: implies(
                    (before.stage[j] == "stamped") & (after.stage[j] == "sent"),
                    after.job_ts[j] > before.reported,
                ),
            ),
        )

    @transition_invariant(source="B5: timestamp go back")
    def reports_never_go_back(before, after):
        """What is reported does not fall."""
        return after.reported >= before.reported

    @transition_invariant(source="facts 4: last contiguous finished")
    def minima_never_go_back(before, after):
        """Neither the scheduler's minimum nor the last timestamp of the background falls."""
        return (after.scheduler_min >= before.scheduler_min) & (after.last_ts >= before.last_ts)

    @transition_invariant(source="facts 4: scheduler")
    def a_finished_task_stays_finished(before, after):
        """A task of a client comes once."""
        return forall(
            after.Task,
            lambda t: implies(
                (before.phase[t] == "finished") & ~after.silent[t],
                (after.phase[t] == "finished") & (after.ts[t] == before.ts[t]),
            ),
        )

    # ---- what should happen ----

    @leads_to(source="property WL")
    def reports_pass_finished_jobs(s, j: ddl_steps.Ddl.Job):
        """When background work is over, the reports reach its timestamp."""
        return s.stage[j] == "unlocked", s.reported >= s.job_ts[j]

    @leads_to(source="property WL; B11")
    def reports_follow_the_oracle(s, ts: ddl_steps.Ddl.Ts):
        """Whatever the oracle has handed out, the reports reach it, with DDL or without."""
        return s.issued >= ts, s.reported >= ts

    # ---- what can happen ----

    @reachable(after="finish", source="facts 4: last contiguous finished")
    def a_later_task_waits_for_an_earlier(before, after, t):
        """A task is finished while an earlier one is not: the minimum stays."""
        return (after.ts[t] > after.scheduler_min) & (after.scheduler_min == before.scheduler_min)

    @reachable(after="finish", source="facts 4: last contiguous finished")
    def the_minimum_moves_over_two(before, after, t):
        """The first task is finished, and the minimum moves over it and a later one."""
        return after.scheduler_min > after.ts[t]

    @reachable(after="finish", source="facts 4: last contiguous finished")
    def the_minimum_moves_while_later_tasks_run(before, after, t):
        """The first task is finished, and the minimum does not wait for those behind it."""
        later = exists(after.Task, lambda u: after.phase[u] == "queued")
        return later & (after.scheduler_min > before.scheduler_min)

    @reachable(after="append", source="seed 002: DDL and DML are ordered")
    def a_task_appends(before, after, t):
        """A DDL message of a client is in the logs."""
        return after.appended[t] & ~before.appended[t]

    @reachable(after="note", source="facts 4: last ts")
    def the_background_moves_on(before, after):
        """A job's timestamp is above the last one that was done with."""
        return after.last_ts > before.last_ts

    @reachable(after="stamp_now", source="hazard 53: the racing reader")
    def a_racing_reader_waits_for_the_lock(before, after):
        """The loop saw no job, one went through the lock, and the loop's timestamp is above it."""
        return exists(
            after.Job,
            lambda j: (after.stage[j] == "unlocked") & after.counted[j] & (after.job_ts[j] < after.last_ts),
        )

    @reachable(after="report", source="facts 4: counter > 0")
    def a_job_in_progress_is_reported_below(before, after):
        """While a job is in progress the last timestamp is reported."""
        return exists(
            after.Job,
            lambda j: (after.stage[j] == "stamped") & (after.reported > before.reported),
        )

    @reachable(after="report", source="seed 002: zero ts was met")
    def a_round_is_skipped(before, after):
        """Nothing is reported before both minima are known."""
        return before.found == 0

    # ---- why it is true for any size ----

    @lemma(source="facts 2.3")
    def timestamps_are_the_oracles(s):
        """Whatever was given out is at most the greatest that was."""
        return all_of(
            forall(s.Task, lambda t: (s.ts[t] <= s.issued) & (s.floor[t] <= s.issued)),
            forall(s.Task, lambda t: implies(s.has_ts(t), s.ts[t] > 0)),
            forall(s.Job, lambda j: (s.job_ts[j] <= s.issued) & (s.job_floor[j] <= s.issued)),
            s.loop_floor <= s.issued,
            s.scheduler_min <= s.issued,
            s.last_ts <= s.issued,
        )

    @lemma(source="facts 4: one lock")
    def one_task_asks_at_a_time(s):
        """Between its question and the heap there is one task at most, and it is the latest."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: all_of(
                implies(
                    ((s.phase[t] == "asked") | (s.phase[t] == "stamped"))
                    & ((s.phase[u] == "asked") | (s.phase[u] == "stamped")),
                    t == u,
                ),
                implies((s.phase[t] == "asked") & s.has_ts(u), s.ts[u] <= s.floor[t]),
                implies((s.phase[t] == "stamped") & s.has_ts(u) & (t != u), s.ts[u] < s.ts[t]),
                implies((t != u) & s.has_ts(t) & s.has_ts(u), s.ts[t] != s.ts[u]),
            ),
        )

    @lemma(source="facts 4: last contiguous finished")
    def the_front_is_below_all_open(s):
        """The scheduler's minimum is below every unfinished task, and not above what is asked for."""
        return forall(
            s.Task,
            lambda t: all_of(
                implies(s.is_open(t), s.ts[t] > s.scheduler_min),
                implies(s.phase[t] == "asked", s.floor[t] >= s.scheduler_min),
            ),
        )

    @lemma(source="facts 4: last contiguous finished")
    def the_front_is_a_finished_task(s):
        """The scheduler's minimum is the timestamp of a task that is over."""
        return (s.scheduler_min == 0) | s.is_finished(s.scheduler_min)

    @lemma(source="facts 4: one lock")
    def one_holds_the_lock(s):
        """One job at most has the lock, and the loop asks the oracle only while none has."""
        return all_of(
            forall(s.Job, s.Job, lambda i, j: implies(s.holds(i) & s.holds(j), i == j)),
            forall(s.Job, lambda j: ~(s.holds(j) & (s.loop == "asked"))),
        )

    @lemma(source="facts 4: the last ts")
    def the_last_ts_is_below_all_jobs(s):
        """A job that has, or will get, a timestamp is above the last one that is done with."""
        return forall(
            s.Job,
            lambda j: all_of(
                implies(s.stage[j] == "asked", s.job_floor[j] >= s.last_ts),
                implies((s.stage[j] == "stamped") | (s.stage[j] == "sent"), s.job_ts[j] > s.last_ts),
                implies(s.loop == "asked", s.loop_floor >= s.last_ts),
            ),
        )

    @lemma(source="seed 002, sendMinDdlTsAsTt")
    def what_the_loop_has_is_old(s):
        """What the loop has read is at most what it would read now, and at least what it reported."""
        return all_of(
            s.background <= s.last_ts,
            s.found <= s.last_ts,
            s.found <= s.scheduler_min,
            s.reported <= s.last_ts,
            s.reported <= s.scheduler_min,
            implies(s.loop == "have_background", s.reported <= s.background),
            implies(s.loop == "have_both", (s.reported <= s.found) | (s.found == 0)),
        )

    @lemma(source="facts 4")
    def what_is_idle_is_empty(s):
        """Nothing is left over of a call that was answered, of a task or a job that has not begun, of a round
        that is over.
        """
        return all_of(
            forall(
                s.Task,
                lambda t: all_of(
                    (s.phase[t] == "asked") | (s.floor[t] == 0),
                    s.has_ts(t) | (s.ts[t] == 0),
                    implies(s.appended[t], s.has_ts(t) & ~s.silent[t]),
                ),
            ),
            forall(
                s.Job,
                lambda j: all_of(
                    (s.stage[j] == "asked") | (s.job_floor[j] == 0),
                    s.job_has_ts(j) | (s.job_ts[j] == 0),
                    implies(s.counted[j], s.stage[j] != "new"),
                ),
            ),
            (s.loop == "asked") | (s.loop_floor == 0),
            (s.loop == "have_background") | (s.background == 0),
            (s.loop == "have_both") | (s.found == 0),
        )
