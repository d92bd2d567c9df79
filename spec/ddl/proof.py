"""Inductive lemmas: why the claims about the coordinator's own minimum are true for any size."""

from tidemark.spec.ddl.claims import DdlClaims
from tidemark.spec.language import Bool, all_of, forall, implies, lemma


class Ddl(DdlClaims):
    """DDL tasks of clients, background work, and the loop that reports the lesser minimum."""

    @lemma(source="facts 2.3")
    def timestamps_are_the_oracles(s) -> Bool:
        """Every timestamp that was given is at most the greatest issued one."""
        return all_of(
            forall(s.Task, lambda t: (s.ts[t] <= s.issued) & (s.floor[t] <= s.issued)),
            forall(s.Task, lambda t: implies(s.has_ts(t), s.ts[t] > 0)),
            forall(s.Job, lambda j: (s.job_ts[j] <= s.issued) & (s.job_floor[j] <= s.issued)),
            s.loop_floor <= s.issued,
            s.scheduler_min <= s.issued,
            s.last_ts <= s.issued,
        )

    @lemma(source="facts 4: one lock")
    def one_task_asks_at_a_time(s) -> Bool:
        """At most one task is between its question and the heap, and it is the latest."""
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
    def the_front_is_below_all_open(s) -> Bool:
        """The scheduler's minimum is below every unfinished task, and not above future answers."""
        return forall(
            s.Task,
            lambda t: all_of(
                implies(s.is_open(t), s.ts[t] > s.scheduler_min),
                implies(s.phase[t] == "asked", s.floor[t] >= s.scheduler_min),
            ),
        )

    @lemma(source="facts 4: last contiguous finished")
    def the_front_is_a_finished_task(s) -> Bool:
        """The scheduler's minimum is the timestamp of a task that has ended."""
        return (s.scheduler_min == 0) | s.is_finished(s.scheduler_min)

    @lemma(source="facts 4: one lock")
    def one_holds_the_lock(s) -> Bool:
        """At most one job has the lock, and the loop asks the oracle only while none has."""
        return all_of(
            forall(s.Job, s.Job, lambda i, j: implies(s.holds(i) & s.holds(j), i == j)),
            forall(s.Job, lambda j: ~(s.holds(j) & (s.loop == "asked"))),
        )

    @lemma(source="facts 4: the last ts")
    def the_last_ts_is_below_all_jobs(s) -> Bool:
        """A job that has, or will get, a timestamp is above the last finished one."""
        return forall(
            s.Job,
            lambda j: all_of(
                implies(s.stage[j] == "asked", s.job_floor[j] >= s.last_ts),
                implies((s.stage[j] == "stamped") | (s.stage[j] == "sent"), s.job_ts[j] > s.last_ts),
                implies(s.loop == "asked", s.loop_floor >= s.last_ts),
            ),
        )

    @lemma(source="seed 002, sendMinDdlTsAsTt")
    def what_the_loop_has_is_old(s) -> Bool:
        """The loop's values are at most what it would read now, and at least what it reported."""
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
    def what_is_idle_is_empty(s) -> Bool:
        """An answered call, a task or job that has not begun, and a finished round leave no state."""
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
