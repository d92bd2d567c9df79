"""Claims about a proxy's statistics and its tick: safety, liveness and witnesses.

The root coordinator relies on two invariants: a reported value is below every timestamp that may still be
appended, and not above the timestamps that are handed out from now on.
"""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    exists,
    forall,
    implies,
    invariant,
    ite,
    leads_to,
    reachable,
    transition_invariant,
)
from tidemark.spec.proxy.actions import ProxyActions


class ProxyClaims(ProxyActions):
    """Unfinished tasks and time tick of one proxy."""

    # ---- helpers ----

    def has_ts(s, t: ProxyActions.Task) -> Bool:
        return (s.phase[t] != "new") & (s.phase[t] != "asked")

    def is_open(s, t: ProxyActions.Task, c: ProxyActions.Channel) -> Bool:
        """The task has its timestamp, writes to the channel, and was not popped."""
        return s.uses[t, c] & s.has_ts(t) & (s.phase[t] != "popped")

    def value(s, c: ProxyActions.Channel) -> ProxyActions.Ts:
        """The value that the next report has for the channel."""
        return ite(s.follows[c], s.published[c], s.idle_value(c))

    def was_published(before, after: Self) -> Bool:
        return (before.tick == ite(before.NOW_FIRST, "taken", "stamped")) & (after.tick == "idle")

    # ---- safety ----

    @invariant(source="seed 002, tick; facts 3.3; property W")
    def reported_is_below_all_to_come(s) -> Bool:
        """A channel's reported value is below every timestamp that can still be appended to it."""
        return forall(s.Task, s.Channel, lambda t, c: implies(s.may_append(t, c), s.ts[t] > s.reported[c]))

    @invariant(source="facts 3.3; property W")
    def reported_is_given_to_nobody_else(s) -> Bool:
        """No present or later call is answered with a reported timestamp or a smaller one."""
        return forall(
            s.Channel,
            s.Task,
            lambda c, t: (
                (s.reported[c] <= s.issued) & implies(s.phase[t] == "asked", s.reported[c] <= s.floor[t])
            ),
        )

    @transition_invariant(source="seed 002, tick; property W")
    def appends_are_above_the_report(before, after: Self) -> Bool:
        """No message is appended at or below the reported value of its channel."""
        return forall(
            after.Task,
            after.Channel,
            lambda t, c: implies(
                after.appended[t, c] & ~before.appended[t, c], after.ts[t] > before.reported[c]
            ),
        )

    @transition_invariant(source="seed 002, popPChanStats; facts 3.1")
    def min_ts_never_goes_back(before, after: Self) -> Bool:
        """As long as a channel has unfinished tasks its least timestamp does not fall."""
        return forall(
            after.Channel,
            lambda c: implies(before.present[c] & after.present[c], after.min_ts[c] >= before.min_ts[c]),
        )

    @transition_invariant(source="seed 002, Enqueue: events 1 and 2; hazard 26")
    def min_ts_stays_above_its_report(before, after: Self) -> Bool:
        """No commit lowers a channel's least timestamp to a value reported from the statistics."""
        return forall(
            after.Channel,
            lambda c: implies(
                before.follows[c] & (before.reported[c] == before.published[c]) & after.present[c],
                before.reported[c] < after.min_ts[c],
            ),
        )

    @invariant(source="facts 3.1; B7")
    def unfinished_tasks_are_tracked(s) -> Bool:
        """The statistics of a channel have the timestamp of every committed task that has not ended."""
        return forall(
            s.Task,
            s.Channel,
            lambda t, c: implies(s.is_open(t, c) & s.committed[t], s.tracked[c, s.ts[t]]),
        )

    @invariant(source="hazard 27; B8")
    def no_ghost_is_tracked(s) -> Bool:
        """Every timestamp of the statistics is that of a committed task that has not ended."""
        return forall(
            s.Channel,
            s.Ts,
            lambda c, x: implies(
                s.tracked[c, x],
                exists(s.Task, lambda t: s.is_open(t, c) & s.committed[t] & (s.ts[t] == x)),
            ),
        )

    @invariant(source="seed 002, popPChanStats; facts 3.1", frame=True)
    def least_and_greatest_are_exact(s) -> Bool:
        """The least and greatest timestamp of a channel bound its tracked ones; the least is one of them."""
        return forall(
            s.Channel,
            s.Ts,
            lambda c, x: all_of(
                implies(s.tracked[c, x], s.present[c] & (s.min_ts[c] <= x) & (x <= s.max_ts[c])),
                implies(s.present[c], s.tracked[c, s.min_ts[c]]),
            ),
        )

    @transition_invariant(source="seed 002, tick: no minTs that goes back; facts 3.3")
    def reports_never_go_back(before, after: Self) -> Bool:
        """The reported value of a channel does not fall."""
        return forall(after.Channel, lambda c: after.reported[c] >= before.reported[c])

    @invariant(source="hazard 28; facts 3.3: capped by maxTs")
    def the_gate_waits_for_nobody_to_come(s) -> Bool:
        """The gate is a timestamp that was handed out, so a report lags by one batch of tasks at most."""
        return forall(s.Channel, lambda c: s.current[c] <= s.issued)

    @transition_invariant(source="hazard 28; facts 3.3")
    def a_batch_that_ended_is_passed(before, after: Self) -> Bool:
        """A tick that finds nothing unfinished at or below the gate publishes at least the gate."""
        return forall(
            after.Channel,
            lambda c: implies(
                before.was_published(after)
                & before.follows[c]
                & (~before.snap_present[c] | (before.snap_min[c] > before.current[c])),
                after.value(c) >= before.current[c],
            ),
        )

    # ---- liveness ----

    @leads_to(source="property WL; hazards 27, 28; B8")
    def reports_pass_finished_tasks(s, t: ProxyActions.Task, c: ProxyActions.Channel) -> tuple[Bool, Bool]:
        """When a task has ended, the reports of its channels reach its timestamp.

        Judged within bounds only. With unbounded timestamps it is false: the oracle may fail each tick
        (``fail_now``) while others are given ever greater timestamps. Fairness applies to each timestamp by
        itself, and none is a possible answer again and again, so ``stamp_now`` need not happen.
        """
        return (s.phase[t] == "popped") & s.uses[t, c], s.reported[c] >= s.ts[t]

    @leads_to(source="property WL; B48")
    def reports_follow_the_oracle(s, c: ProxyActions.Channel, ts: ProxyActions.Ts) -> tuple[Bool, Bool]:
        """The report of every channel reaches each timestamp that the oracle has handed out, with tasks or
        without.

        Judged within bounds only, for the same reason as ``reports_pass_finished_tasks``.
        """
        return s.issued >= ts, s.reported[c] >= ts

    # ---- witnesses ----

    @reachable(after="append", source="facts 3.1")
    def a_worker_overtakes_the_commit(before, after: Self, t: ProxyActions.Task) -> Bool:
        """A message is in the log before its timestamp is in the statistics."""
        return ~before.committed[t]

    @reachable(after="pop", source="seed 002, popPChanStats: t1 to t10; B7")
    def a_later_task_is_over_first(before, after: Self, t: ProxyActions.Task) -> Bool:
        """A task leaves before one with a smaller timestamp."""
        return exists(
            after.Task,
            after.Channel,
            lambda u, c: after.is_open(u, c) & after.uses[t, c] & (after.ts[u] < after.ts[t]),
        )

    @reachable(after="publish", source="facts 3.3; B7, B8")
    def the_least_passes_a_popped_task(before, after: Self) -> Bool:
        """A channel that was published below a task is published above it after the pop."""
        return exists(
            after.Task,
            after.Channel,
            lambda t, c: all_of(
                before.follows[c] & after.follows[c],
                after.uses[t, c] & (after.phase[t] == "popped"),
                before.published[c] < after.ts[t],
                after.ts[t] <= after.published[c],
            ),
        )

    @reachable(after="late_append", source="hazard 12")
    def a_message_comes_after_its_task(
        before, after: Self, t: ProxyActions.Task, c: ProxyActions.Channel
    ) -> Bool:
        """The log gets a message whose task has failed."""
        return (before.phase[t] == "finished") & after.appended[t, c]

    @reachable(after="fail", source="seed 004, 6.6.1: an error returns in advance")
    def a_task_fails_before_it_has_appended(before, after: Self, t: ProxyActions.Task) -> Bool:
        """A task has ended, and a log neither has its message nor will get it."""
        return (after.phase[t] == "finished") & exists(
            after.Channel, lambda c: after.uses[t, c] & ~after.appended[t, c] & ~after.unknown[t, c]
        )

    @reachable(after="stamp_now", source="facts 2.3; hazard 38")
    def an_answer_out_of_order(before, after: Self, ts: ProxyActions.Ts) -> Bool:
        """The tick's timestamp is smaller than one that was given before it."""
        return ts < before.issued

    @reachable(after="publish", source="hazard 28")
    def the_gate_holds_a_value_back(before, after: Self) -> Bool:
        """A tick could publish more, but the gate is not passed."""
        return exists(
            after.Channel,
            lambda c: before.follows[c] & after.follows[c] & (after.published[c] + 1 < before.snap_min[c]),
        )

    @reachable(after="publish", source="facts 3.3: the default may exceed now")
    def a_value_above_now(before, after: Self) -> Bool:
        """A channel whose tasks came after the tick's timestamp publishes that or more."""
        return exists(after.Channel, lambda c: after.follows[c] & (after.published[c] >= after.default))

    @reachable(after="report", source="facts 3.3")
    def a_channel_falls_back_to_the_default(before, after: Self) -> Bool:
        """An empty channel is reported with the default, above its last task."""
        return exists(
            after.Task,
            after.Channel,
            lambda t, c: (
                (after.phase[t] == "popped")
                & after.uses[t, c]
                & (before.reported[c] < after.ts[t])
                & (after.ts[t] <= after.reported[c])
            ),
        )
