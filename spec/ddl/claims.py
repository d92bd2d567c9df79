"""Claims about the DDL minimum: safety, liveness and witnesses."""

from tidemark.spec.ddl.actions import DdlActions
from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    reachable,
    transition_invariant,
)


class DdlClaims(DdlActions):
    """DDL tasks of clients, background work, and the loop that reports the lesser minimum."""

    # ---- helpers ----

    def has_ts(s, t: DdlActions.Task) -> Bool:
        return (s.phase[t] != "new") & (s.phase[t] != "asked")

    def job_has_ts(s, j: DdlActions.Job) -> Bool:
        """The oracle has answered the job, or the job has failed."""
        return (s.stage[j] != "new") & (s.stage[j] != "locked") & (s.stage[j] != "asked")

    def is_open(s, t: DdlActions.Task) -> Bool:
        return (s.phase[t] == "stamped") | (s.phase[t] == "queued")

    # ---- safety ----

    @invariant(source="hazard 53; property W")
    def minimum_is_below_all_to_come(s) -> Bool:
        """The reported value is below every timestamp with which a DDL message can still be appended."""
        return all_of(
            forall(s.Task, lambda t: implies(s.may_append(t), s.ts[t] > s.reported)),
            forall(s.Job, lambda j: implies(s.stage[j] == "stamped", s.job_ts[j] > s.reported)),
        )

    @invariant(source="hazard 53; property W")
    def minimum_is_given_to_nobody_else(s) -> Bool:
        """No present or later call is answered with a reported timestamp or a smaller one."""
        return all_of(
            s.reported <= s.issued,
            forall(s.Task, lambda t: implies(s.phase[t] == "asked", s.reported <= s.floor[t])),
            forall(s.Job, lambda j: implies(s.stage[j] == "asked", s.reported <= s.job_floor[j])),
        )

    @transition_invariant(source="hazard 53; property W")
    def appends_are_above_the_report(before, after: Self) -> Bool:
        """No DDL message is appended at or below the reported value."""
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
    def reports_never_go_back(before, after: Self) -> Bool:
        """The reported value does not fall."""
        return after.reported >= before.reported

    @transition_invariant(source="facts 4: last contiguous finished")
    def minima_never_go_back(before, after: Self) -> Bool:
        """Neither the scheduler's minimum nor the last timestamp of the background falls."""
        return (after.scheduler_min >= before.scheduler_min) & (after.last_ts >= before.last_ts)

    @transition_invariant(source="facts 4: scheduler", frame=True)
    def a_finished_task_stays_finished(before, after: Self) -> Bool:
        """A finished task of a client stays finished."""
        return forall(
            after.Task,
            lambda t: implies(
                (before.phase[t] == "finished") & ~after.silent[t],
                (after.phase[t] == "finished") & (after.ts[t] == before.ts[t]),
            ),
        )

    # ---- liveness ----

    @leads_to(source="property WL")
    def reports_pass_finished_jobs(s, j: DdlActions.Job) -> tuple[Bool, Bool]:
        """When background work has ended, the reports reach its timestamp.

        Judged within bounds only, of a form in which a dummy task comes again for ever. Here it is false:
        tasks come to an end, and the scheduler's minimum stays at the last one.
        """
        return s.stage[j] == "unlocked", s.reported >= s.job_ts[j]

    @leads_to(source="property WL; B11")
    def reports_follow_the_oracle(s, ts: DdlActions.Ts) -> tuple[Bool, Bool]:
        """The reports reach each timestamp that the oracle has handed out, with DDL or without.

        Judged within bounds only, for the same reason as ``reports_pass_finished_jobs``. Dummy tasks alone
        are not enough where timestamps are unbounded: the oracle may fail the loop for ever (``fail_now``)
        while others are given greater ones. Fairness applies to each timestamp by itself, and none is a
        possible answer again and again.
        """
        return s.issued >= ts, s.reported >= ts

    # ---- witnesses ----

    @reachable(after="finish", source="facts 4: last contiguous finished")
    def a_later_task_waits_for_an_earlier(before, after: Self, t: DdlActions.Task) -> Bool:
        """A task is finished while an earlier one is not: the minimum stays."""
        return (after.ts[t] > after.scheduler_min) & (after.scheduler_min == before.scheduler_min)

    @reachable(after="finish", source="facts 4: last contiguous finished")
    def the_minimum_moves_over_two(before, after: Self, t: DdlActions.Task) -> Bool:
        """The first task is finished, and the minimum moves over it and a later one."""
        return after.scheduler_min > after.ts[t]

    @reachable(after="finish", source="facts 4: last contiguous finished")
    def the_minimum_moves_while_later_tasks_run(before, after: Self, t: DdlActions.Task) -> Bool:
        """The first task is finished, and the minimum does not wait for later ones."""
        later = exists(after.Task, lambda u: after.phase[u] == "queued")
        return later & (after.scheduler_min > before.scheduler_min)

    @reachable(after="append", source="seed 002, DDL: DDL and DML are ordered")
    def a_task_appends(before, after: Self, t: DdlActions.Task) -> Bool:
        """A DDL message of a client is in the logs."""
        return after.appended[t] & ~before.appended[t]

    @reachable(after="note", source="facts 4: last ts")
    def the_background_moves_on(before, after: Self) -> Bool:
        """A job's timestamp is above the last finished one."""
        return after.last_ts > before.last_ts

    @reachable(after="stamp_now", source="hazard 53: the racing reader")
    def a_racing_reader_waits_for_the_lock(before, after: Self) -> Bool:
        """The loop saw no job, then one took the lock, and the loop's timestamp is above the job's."""
        return exists(
            after.Job,
            lambda j: (after.stage[j] == "unlocked") & after.counted[j] & (after.job_ts[j] < after.last_ts),
        )

    @reachable(after="report", source="facts 4: counter > 0")
    def a_job_in_progress_is_reported_below(before, after: Self) -> Bool:
        """While a job is in progress the last timestamp is reported."""
        return exists(
            after.Job,
            lambda j: (after.stage[j] == "stamped") & (after.reported > before.reported),
        )

    @reachable(after="report", source="seed 002, sendMinDdlTsAsTt: zero ts was met")
    def a_round_is_skipped(before, after: Self) -> Bool:
        """Nothing is reported before both minima are known."""
        return before.found == 0
