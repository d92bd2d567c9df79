"""Inductive lemmas: why the claims about the scheduler are true for any size."""

from tidemark.spec.language import all_of, forall, implies, lemma, one_of
from tidemark.spec.scheduler.ranking import SchedulerRanking


class Scheduler(SchedulerRanking):
    """One proxy: tasks of three queues, their callers, cancellation, close and crash."""

    @lemma(source="facts 2.3, 3.1")
    def what_was_given_was_issued(s):
        """Timestamps and places are at most the greatest given ones; an entered task has both."""
        return (s.reported <= s.issued) & forall(
            s.Task,
            lambda t: all_of(
                s.ts[t] <= s.issued,
                s.floor[t] <= s.issued,
                s.place[t] <= s.tail[s.queue[t]],
                implies(s.has_entered(t) | (s.phase[t] == "stamped"), s.ts[t] > 0),
                implies(one_of(s.phase[t], "new", "asked"), s.ts[t] == 0),
                implies(one_of(s.phase[t], "new", "asked", "stamped"), ~s.has_entered(t)),
                implies(s.is_unfinished(t), s.has_entered(t)),
            ),
        )

    @lemma(source="seed 004, 6.6.1")
    def no_two_have_one_place(s):
        """No two tasks have one place."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(
                all_of(s.joins(t, u), s.has_entered(t), s.has_entered(u), s.place[t] == s.place[u]), t == u
            ),
        )

    @lemma(source="facts 3.1")
    def one_holds_the_lock(s):
        """In each queue at most one task is between its question and its entry."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(all_of(s.joins(t, u), s.holds_lock(t), s.holds_lock(u)), t == u),
        )

    @lemma(source="facts 3.1, 3.2: new timestamps are larger")
    def the_holder_is_the_latest(s):
        """The task that holds the lock has, or will get, a greater timestamp than each that has entered."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(all_of(s.joins(t, u), s.has_entered(t), s.holds_lock(u)), s.is_after(u, t)),
        )

    @lemma(source="seed 004, 6.6.1: FrontUnissuedTask")
    def the_first_was_taken_first(s):
        """Queued tasks entered after taken ones, and the last taken ddl task after all that have ended."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: all_of(
                implies(
                    all_of(s.joins(t, u), s.has_entered(t), s.phase[t] != "queued", s.phase[u] == "queued"),
                    s.place[t] < s.place[u],
                ),
                implies(
                    all_of(
                        s.queue[t] == "ddl",
                        s.queue[u] == "ddl",
                        s.has_entered(t),
                        s.phase[t] == "over",
                        s.was_taken_last(u),
                    ),
                    s.place[t] < s.place[u],
                ),
            ),
        )

    def was_taken_last(s, t):
        """The task is active, or was so when the proxy crashed and may have taken effect."""
        return one_of(s.phase[t], "running", "ended") | ((s.phase[t] == "lost") & s.has_acted(t))

    def has_acted(s, t):
        return s.carried[t] | s.unknown[t]

    @lemma(source="seed 004, 6.6.1: at most only one task is executing")
    def one_ddl_is_active(s):
        """No two ddl tasks are active, or were so when the proxy crashed."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(
                all_of(s.queue[t] == "ddl", s.queue[u] == "ddl", s.was_taken_last(t), s.was_taken_last(u)),
                t == u,
            ),
        )

    @lemma(source="hazard 12")
    def calls_belong_to_tasks(s):
        """Only a task that was taken has a call; it is carried out, or unknown, or neither."""
        return forall(
            s.Task,
            lambda t: all_of(
                implies(s.has_acted(t), s.has_entered(t) & (s.phase[t] != "queued")),
                implies(s.unknown[t], one_of(s.phase[t], "ended", "lost") & ~s.carried[t]),
            ),
        )

    @lemma(source="seed 004, 6.6.1: getTaskByReqID")
    def ids_are_unique(s):
        """No two tasks were given one id."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(all_of(s.has_id(t), s.has_id(u), s.id[t] == s.id[u]), t == u),
        )

    @lemma(source="seed 004, 6.6.1: WaitToFinish")
    def who_waits_was_not_notified(s):
        """A caller waits until it is notified; none is notified before the end."""
        return forall(
            s.Task,
            lambda t: all_of(
                implies(s.phase[t] == "new", (s.caller[t] == "absent") & (s.notices[t] == 0)),
                implies(s.caller[t] == "waits", (s.notices[t] == 0) & (s.holds_lock(t) | s.is_unfinished(t))),
                implies(s.holds_lock(t) | one_of(s.phase[t], "queued", "running"), s.notices[t] == 0),
            ),
        )

    @lemma(source="seed 004, 6.6.1")
    def nothing_runs_after_the_end(s):
        """A proxy that is closed or has crashed holds no task; only a crash loses one."""
        return forall(
            s.Task,
            lambda t: all_of(
                implies(
                    one_of(s.mode, "closed", "crashed"),
                    ~s.holds_lock(t) & ~s.is_unfinished(t),
                ),
                implies(s.phase[t] == "lost", s.mode == "crashed"),
            ),
        )
