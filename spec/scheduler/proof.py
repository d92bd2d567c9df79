"""Lemmas and ranks: why the claims about the scheduler are true for any size."""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    each,
    exists,
    forall,
    helpful,
    implies,
    least,
    lemma,
    one_of,
    rank,
)
from tidemark.spec.scheduler.claims import SchedulerClaims


class Scheduler(SchedulerClaims):
    """One proxy: tasks of three queues, their callers, cancellation, close and crash."""

    # ---- a task ends ----

    def is_before(s, u: SchedulerClaims.Task, t: SchedulerClaims.Task) -> Bool:
        """The task is queued and its worker comes first, or it is the other one itself."""
        return all_of(s.joins(u, t), s.phase[u] == "queued", s.place[u] <= s.place[t])

    def holds_up(s, u: SchedulerClaims.Task, t: SchedulerClaims.Task) -> Bool:
        """A worker has the task, and the other one waits for it: it is the same, or both are ddl tasks."""
        waits = all_of(s.phase[t] == "queued", s.queue[t] == "ddl", s.queue[u] == "ddl")
        return one_of(s.phase[u], "running", "ended") & ((u == t) | waits)

    def is_free(s, t: SchedulerClaims.Task) -> Bool:
        """No task that a worker has blocks it."""
        return (s.phase[t] == "queued") & ~exists(s.Task, lambda u: s.holds_up(u, t))

    def is_queued_at(s, u: SchedulerClaims.Task, t: SchedulerClaims.Task, p: SchedulerClaims.Place) -> Bool:
        return all_of(s.joins(u, t), s.phase[u] == "queued", s.place[u] == p)

    def first_place(s, t: SchedulerClaims.Task) -> SchedulerClaims.Place:
        return least(s.Place, lambda p: exists(s.Task, lambda u: s.is_queued_at(u, t, p)), default=0)

    def comes_next(s, u: SchedulerClaims.Task, t: SchedulerClaims.Task) -> Bool:
        """The task is the first of the queue, in which the other one waits and is free."""
        return s.is_free(t) & s.is_queued_at(u, t, s.first_place(t))

    @rank("a_task_ends")
    def what_a_task_waits_for(s, t: SchedulerClaims.Task) -> Measure:
        """Earlier tasks; for those with a worker call, notice, outcome, end; callers that may leave."""
        return (
            each(s.Task, lambda u: s.is_before(u, t)),
            each(s.Task, lambda u: s.holds_up(u, t) & (s.phase[u] == "running")),
            each(s.Task, lambda u: s.holds_up(u, t) & (s.notices[u] == 0)),
            each(s.Task, lambda u: s.holds_up(u, t) & s.unknown[u]),
            each(s.Task, lambda u: s.holds_up(u, t)),
            each(s.Task, lambda u: s.is_before(u, t) & s.is_wanted(u)),
        )

    @helpful("a_task_ends", action="issue")
    def a_worker_takes_it(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task) -> HelpfulCase:
        return s.comes_next(u, t) & s.is_wanted(u), (u,)

    @helpful("a_task_ends", action="drop")
    def a_worker_drops_it(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task) -> HelpfulCase:
        return s.comes_next(u, t) & ~s.is_wanted(u), (u,)

    @helpful("a_task_ends", action="end")
    def it_is_carried_out(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task) -> HelpfulCase:
        return s.holds_up(u, t) & (s.phase[u] == "running"), (u,)

    @helpful("a_task_ends", action="tell")
    def its_caller_is_told(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task) -> HelpfulCase:
        return all_of(s.holds_up(u, t), s.phase[u] == "ended", s.notices[u] == 0), (u,)

    @helpful("a_task_ends", action="settle")
    def its_outcome_is_known(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task) -> HelpfulCase:
        told = all_of(s.holds_up(u, t), s.phase[u] == "ended", s.notices[u] > 0)
        return told & s.unknown[u], (u,)

    @helpful("a_task_ends", action="pop")
    def it_is_over(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task) -> HelpfulCase:
        told = all_of(s.holds_up(u, t), s.phase[u] == "ended", s.notices[u] > 0)
        return told & ~s.unknown[u], (u,)

    # ---- a caller is notified ----

    @rank("a_caller_hears")
    def what_a_caller_waits_for(s, t: SchedulerClaims.Task) -> Measure:
        """The task's timestamp, and its place."""
        return s.phase[t] == "asked", s.holds_lock(t)

    @helpful("a_caller_hears", action="give_up")
    def its_question_ends(s, t: SchedulerClaims.Task) -> HelpfulCase:
        return (s.caller[t] == "waits") & (s.phase[t] == "asked"), (t,)

    @helpful("a_caller_hears", action="enqueue")
    def it_enters(s, t: SchedulerClaims.Task) -> HelpfulCase:
        return (s.caller[t] == "waits") & (s.phase[t] == "stamped"), (t,)

    @helpful("a_caller_hears", other="a_task_ends")
    def it_ends(s, t: SchedulerClaims.Task) -> HelpfulCase:
        return (s.caller[t] == "waits") & s.is_unfinished(t), (t,)

    # ---- a close ends ----

    @rank("a_close_ends")
    def what_a_close_waits_for(s) -> Measure:
        """Tasks that have asked, that hold a lock, that have not ended; no further task asks."""
        return (
            each(s.Task, lambda t: s.phase[t] == "asked"),
            each(s.Task, s.holds_lock),
            each(s.Task, s.is_unfinished),
        )

    @helpful("a_close_ends", action="give_up")
    def a_question_ends(s, t: SchedulerClaims.Task) -> HelpfulCase:
        return (s.mode == "closing") & (s.phase[t] == "asked"), (t,)

    @helpful("a_close_ends", action="enqueue")
    def a_task_enters(s, t: SchedulerClaims.Task) -> HelpfulCase:
        return (s.mode == "closing") & (s.phase[t] == "stamped"), (t,)

    @helpful("a_close_ends", other="a_task_ends")
    def each_task_ends(s, t: SchedulerClaims.Task) -> HelpfulCase:
        return (s.mode == "closing") & s.is_unfinished(t), (t,)

    @helpful("a_close_ends", action="end_close")
    def nothing_is_left(s) -> HelpfulCase:
        left = exists(s.Task, lambda t: s.holds_lock(t) | s.is_unfinished(t))
        return (s.mode == "closing") & ~left, ()

    @lemma(source="facts 2.3, 3.1")
    def what_was_given_was_issued(s) -> Bool:
        """Timestamps and places are at most the greatest; an entered task has both; a read only a place."""
        return (s.reported <= s.issued) & forall(
            s.Task,
            lambda t: all_of(
                s.ts[t] <= s.issued,
                s.floor[t] <= s.issued,
                s.place[t] <= s.tail[s.queue[t]],
                implies(
                    (s.queue[t] != "query") & (s.has_entered(t) | (s.phase[t] == "stamped")), s.ts[t] > 0
                ),
                implies((s.queue[t] == "query") | one_of(s.phase[t], "new", "asked"), s.ts[t] == 0),
                implies(one_of(s.phase[t], "new", "asked", "stamped"), ~s.has_entered(t)),
                implies(s.is_unfinished(t), s.has_entered(t)),
            ),
        )

    @lemma(source="seed 004, 6.6.1")
    def no_two_have_one_place(s) -> Bool:
        """No two tasks have one place."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(
                all_of(s.joins(t, u), s.has_entered(t), s.has_entered(u), s.place[t] == s.place[u]), t == u
            ),
        )

    @lemma(source="facts 3.1")
    def one_holds_the_lock(s) -> Bool:
        """In each queue at most one task is between its question and its entry."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(all_of(s.joins(t, u), s.holds_lock(t), s.holds_lock(u)), t == u),
        )

    @lemma(source="facts 3.1, 3.2: new timestamps are larger")
    def the_holder_is_the_latest(s) -> Bool:
        """The task that holds the lock has, or will get, a greater timestamp than each that has entered."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(all_of(s.joins(t, u), s.has_entered(t), s.holds_lock(u)), s.is_after(u, t)),
        )

    @lemma(source="seed 004, 6.6.1: FrontUnissuedTask")
    def the_first_was_taken_first(s) -> Bool:
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

    def was_taken_last(s, t: SchedulerClaims.Task) -> Bool:
        """The task is active, or was so when the proxy crashed and may have taken effect."""
        return one_of(s.phase[t], "running", "ended") | ((s.phase[t] == "lost") & s.has_acted(t))

    def has_acted(s, t: SchedulerClaims.Task) -> Bool:
        return s.carried[t] | s.unknown[t]

    @lemma(source="seed 004, 6.6.1: at most only one task is executing")
    def one_ddl_is_active(s) -> Bool:
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
    def calls_belong_to_tasks(s) -> Bool:
        """Only a task that was taken has a call; it is carried out, or unknown, or neither."""
        return forall(
            s.Task,
            lambda t: all_of(
                implies(s.has_acted(t), s.has_entered(t) & (s.phase[t] != "queued")),
                implies(s.unknown[t], one_of(s.phase[t], "ended", "lost") & ~s.carried[t]),
            ),
        )

    @lemma(source="seed 004, 6.6.1: getTaskByReqID")
    def ids_are_unique(s) -> Bool:
        """No two tasks were given one id."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(all_of(s.has_id(t), s.has_id(u), s.id[t] == s.id[u]), t == u),
        )

    @lemma(source="seed 004, 6.6.1: WaitToFinish")
    def who_waits_was_not_notified(s) -> Bool:
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
    def nothing_runs_after_the_end(s) -> Bool:
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
