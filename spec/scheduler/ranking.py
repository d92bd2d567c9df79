"""Why tasks, waits of callers and a close end, for any size: measures, and the actions that lower them."""

from tidemark.spec.language import all_of, each, exists, helpful, least, one_of, rank
from tidemark.spec.scheduler.claims import SchedulerClaims


class SchedulerRanking(SchedulerClaims):
    """One proxy: tasks of three queues, their callers, cancellation, close and crash."""

    # ---- a task ends ----

    def is_before(s, u, t):
        """The task is queued and its worker comes first, or it is the other one itself."""
        return all_of(s.joins(u, t), s.phase[u] == "queued", s.place[u] <= s.place[t])

    def holds_up(s, u, t):
        """A worker has the task, and the other one waits for it: it is the same, or both are ddl tasks."""
        waits = all_of(s.phase[t] == "queued", s.queue[t] == "ddl", s.queue[u] == "ddl")
        return one_of(s.phase[u], "running", "ended") & ((u == t) | waits)

    def is_free(s, t):
        """No task that a worker has blocks it."""
        return (s.phase[t] == "queued") & ~exists(s.Task, lambda u: s.holds_up(u, t))

    def is_queued_at(s, u, t, p):
        return all_of(s.joins(u, t), s.phase[u] == "queued", s.place[u] == p)

    def first_place(s, t):
        return least(s.Place, lambda p: exists(s.Task, lambda u: s.is_queued_at(u, t, p)), default=0)

    def comes_next(s, u, t):
        """The task is the first of the queue, in which the other one waits and is free."""
        return s.is_free(t) & s.is_queued_at(u, t, s.first_place(t))

    @rank("a_task_ends")
    def what_a_task_waits_for(s, t: SchedulerClaims.Task):
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
    def a_worker_takes_it(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task):
        return s.comes_next(u, t) & s.is_wanted(u), (u,)

    @helpful("a_task_ends", action="drop")
    def a_worker_drops_it(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task):
        return s.comes_next(u, t) & ~s.is_wanted(u), (u,)

    @helpful("a_task_ends", action="end")
    def it_is_carried_out(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task):
        return s.holds_up(u, t) & (s.phase[u] == "running"), (u,)

    @helpful("a_task_ends", action="tell")
    def its_caller_is_told(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task):
        return all_of(s.holds_up(u, t), s.phase[u] == "ended", s.notices[u] == 0), (u,)

    @helpful("a_task_ends", action="settle")
    def its_outcome_is_known(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task):
        told = all_of(s.holds_up(u, t), s.phase[u] == "ended", s.notices[u] > 0)
        return told & s.unknown[u], (u,)

    @helpful("a_task_ends", action="pop")
    def it_is_over(s, t: SchedulerClaims.Task, u: SchedulerClaims.Task):
        told = all_of(s.holds_up(u, t), s.phase[u] == "ended", s.notices[u] > 0)
        return told & ~s.unknown[u], (u,)

    # ---- a caller is notified ----

    @rank("a_caller_hears")
    def what_a_caller_waits_for(s, t: SchedulerClaims.Task):
        """The task's timestamp, and its place."""
        return s.phase[t] == "asked", s.holds_lock(t)

    @helpful("a_caller_hears", action="give_up")
    def its_question_ends(s, t: SchedulerClaims.Task):
        return (s.caller[t] == "waits") & (s.phase[t] == "asked"), (t,)

    @helpful("a_caller_hears", action="enqueue")
    def it_enters(s, t: SchedulerClaims.Task):
        return (s.caller[t] == "waits") & (s.phase[t] == "stamped"), (t,)

    @helpful("a_caller_hears", other="a_task_ends")
    def it_ends(s, t: SchedulerClaims.Task):
        return (s.caller[t] == "waits") & s.is_unfinished(t), (t,)

    # ---- a close ends ----

    @rank("a_close_ends")
    def what_a_close_waits_for(s):
        """Tasks that have asked, that hold a lock, that have not ended; no further task asks."""
        return (
            each(s.Task, lambda t: s.phase[t] == "asked"),
            each(s.Task, s.holds_lock),
            each(s.Task, s.is_unfinished),
        )

    @helpful("a_close_ends", action="give_up")
    def a_question_ends(s, t: SchedulerClaims.Task):
        return (s.mode == "closing") & (s.phase[t] == "asked"), (t,)

    @helpful("a_close_ends", action="enqueue")
    def a_task_enters(s, t: SchedulerClaims.Task):
        return (s.mode == "closing") & (s.phase[t] == "stamped"), (t,)

    @helpful("a_close_ends", other="a_task_ends")
    def each_task_ends(s, t: SchedulerClaims.Task):
        return (s.mode == "closing") & s.is_unfinished(t), (t,)

    @helpful("a_close_ends", action="end_close")
    def nothing_is_left(s):
        left = exists(s.Task, lambda t: s.holds_lock(t) | s.is_unfinished(t))
        return (s.mode == "closing") & ~left, ()
