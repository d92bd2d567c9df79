"""Claims about the scheduler of a proxy: safety, liveness and witnesses."""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    one_of,
    reachable,
    transition_invariant,
)
from tidemark.spec.scheduler.actions import SchedulerActions


class SchedulerClaims(SchedulerActions):
    """One proxy: tasks of three queues, their callers, cancellation, close and crash."""

    # ---- order ----

    @transition_invariant(source="seed 004, 6.6.1: the timestamp of entering the queue; facts 3.1, 3.2")
    def new_timestamps_are_greatest(before, after: Self) -> Bool:
        """A change or write that enters its queue has a greater timestamp than each that is there, or was."""
        return forall(
            after.Task,
            after.Task,
            lambda t, u: implies(
                all_of(
                    after.queue[t] != "query",
                    ~before.has_entered(t),
                    after.has_entered(t),
                    after.joins(t, u),
                    before.has_entered(u),
                ),
                after.ts[t] > after.ts[u],
            ),
        )

    @invariant(source="seed 004, 6.0; facts 3.1: allocation order = queue order")
    def a_queue_is_in_order_of_time(s) -> Bool:
        """Of two changes, or two writes, the one with the smaller timestamp has entered first."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(
                all_of(s.queue[t] != "query", s.has_entered(t), s.joins(t, u), s.place[t] < s.place[u]),
                s.ts[t] < s.ts[u],
            ),
        )

    @invariant(source="seed 004, 6.6.1: at most only one task is executing")
    def one_ddl_is_under_way(s) -> Bool:
        """No two ddl tasks have calls that may take effect."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(
                all_of(s.queue[t] == "ddl", s.queue[u] == "ddl", s.is_under_way(t), s.is_under_way(u)), t == u
            ),
        )

    def is_under_way(s, t: SchedulerActions.Task) -> Bool:
        """A worker carries the task out, or its call may still take effect."""
        return (s.phase[t] == "running") | s.unknown[t]

    @invariant(source="seed 004, 6.0: sequentially; facts 3.1")
    def ddls_take_effect_in_order(s) -> Bool:
        """Once a ddl task took effect, none of a smaller timestamp does."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: implies(
                all_of(s.queue[t] == "ddl", s.queue[u] == "ddl", s.carried[t], s.may_act(u)), s.is_after(u, t)
            ),
        )

    @invariant(source="seed 004, 6.6.1; seed 004, 6.6.3; property W")
    def writes_are_above_the_report(s) -> Bool:
        """However tasks end: no write takes effect at or below the reported value."""
        return s.allows(s.reported)

    @invariant(source="seed 002, Enqueue: CanSkipAllocTimestamp", frame=True)
    def no_read_waits_to_enter(s) -> Bool:
        """No read waits for an oracle or a lock before it is in its queue."""
        return forall(s.Task, lambda t: implies(s.queue[t] == "query", ~s.holds_lock(t)))

    # ---- notifications, and the map of active tasks ----

    @invariant(source="seed 004, 6.6.1: Notify")
    def notified_once(s) -> Bool:
        """A caller is notified once when its task has ended, and never twice."""
        return forall(
            s.Task,
            lambda t: (s.notices[t] <= 1) & implies(s.phase[t] == "over", s.notices[t] == 1),
        )

    @invariant(source="seed 004, 6.6.1")
    def nobody_waits_for_a_closed_proxy(s) -> Bool:
        """When a proxy is closed or has crashed, no caller waits, and no task is left."""
        return implies(
            one_of(s.mode, "closed", "crashed"),
            forall(
                s.Task,
                lambda t: (s.caller[t] != "waits") & ~s.holds_lock(t) & ~s.is_unfinished(t),
            ),
        )

    @invariant(source="seed 004, 6.6.1: activateTasks; facts 3.1")
    def the_active_tasks_are_known(s) -> Bool:
        """The map has exactly the tasks that a worker has taken and that have not ended."""
        return forall(s.Task, lambda t: s.active[t] == one_of(s.phase[t], "running", "ended"))

    # ---- liveness ----

    @leads_to(source="seed 004, 6.6.1: WaitToFinish")
    def a_caller_hears(s, t: SchedulerActions.Task) -> tuple[Bool, Bool]:
        """A waiting caller is notified, or leaves, or sees the proxy crash."""
        return s.caller[t] == "waits", s.caller[t] != "waits"

    @leads_to(source="seed 004, 6.6.1; facts 3.1")
    def a_task_ends(s, t: SchedulerActions.Task) -> tuple[Bool, Bool]:
        """A task that has entered ends, or is lost in a crash."""
        return s.is_unfinished(t), one_of(s.phase[t], "over", "lost")

    @leads_to(source="seed 004, 6.6.1")
    def a_close_ends(s) -> tuple[Bool, Bool]:
        """A closing proxy becomes closed, or crashes."""
        return s.mode == "closing", one_of(s.mode, "closed", "crashed")

    # ---- witnesses ----

    @reachable(after="issue", source="seed 004, 6.6.1: in parallel")
    def two_tasks_run_side_by_side(before, after: Self, t: SchedulerActions.Task) -> Bool:
        """Two tasks of one queue run at the same time."""
        return exists(
            before.Task, lambda u: before.joins(t, u) & (before.phase[u] == "running") & ~before.carried[u]
        )

    @reachable(after="carry", source="seed 004, 6.6.1: in parallel")
    def a_later_task_takes_effect_first(before, after: Self, t: SchedulerActions.Task) -> Bool:
        """A task takes effect before one of its queue with a smaller timestamp that is still running."""
        return exists(
            before.Task,
            lambda u: (
                all_of(before.joins(t, u), before.ts[u] < before.ts[t], before.phase[u] == "running")
                & ~before.carried[u]
            ),
        )

    @reachable(after="carry", source="seed 002, Enqueue: CanSkipAllocTimestamp")
    def a_read_does_not_wait_for_the_oracle(before, after: Self, t: SchedulerActions.Task) -> Bool:
        """A read is carried out while a write waits for its timestamp."""
        return (before.queue[t] == "query") & exists(before.Task, lambda u: before.phase[u] == "asked")

    @reachable(after="late", source="hazard 12")
    def what_failed_takes_effect(before, after: Self, t: SchedulerActions.Task) -> Bool:
        """The caller gets an error, and then the call takes effect."""
        return before.caller[t] == "told"

    @reachable(after="settle", source="hazard 12")
    def a_ddl_waits_until_another_is_settled(before, after: Self, t: SchedulerActions.Task) -> Bool:
        """The caller of a ddl task was notified, and the next task still waits."""
        return all_of(
            before.caller[t] == "told",
            before.queue[t] == "ddl",
            exists(before.Task, lambda u: (before.queue[u] == "ddl") & (before.phase[u] == "queued")),
        )

    @reachable(after="carry", source="seed 004, 6.6.1")
    def a_task_goes_on_without_its_caller(before, after: Self, t: SchedulerActions.Task) -> Bool:
        """The caller leaves while the task runs, and it takes effect."""
        return before.caller[t] == "left"

    @reachable(after="report", source="seed 004, 6.6.1")
    def a_report_passes_a_dropped_write(before, after: Self, upto: SchedulerActions.Ts) -> Bool:
        """The timestamp of a task that was not carried out is reported."""
        return exists(
            after.Task,
            lambda t: (
                all_of(
                    after.phase[t] == "over",
                    ~after.carried[t],
                    after.ts[t] > before.reported,
                    after.ts[t] <= upto,
                )
                & (after.queue[t] == "dml")
            ),
        )

    @reachable(after="drop", source="seed 004, 6.6.1")
    def a_closing_proxy_drops_what_is_wanted(before, after: Self, t: SchedulerActions.Task) -> Bool:
        """A task is dropped whose caller waits."""
        return before.caller[t] == "waits"

    @reachable(after="end_close", source="seed 004, 6.6.1")
    def a_close_waits_for_a_task(before, after: Self) -> Bool:
        """A proxy is closed in which a task took effect and its caller was notified."""
        return exists(after.Task, lambda t: after.carried[t] & (after.caller[t] == "told"))
