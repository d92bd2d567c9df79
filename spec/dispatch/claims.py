"""Claims about dispatchers: each target gets its range, once and in order; ticks continue for all others."""

from tidemark.spec.dispatch.actions import DispatchActions
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
    maximum,
    reachable,
    transition_invariant,
)


class DispatchClaims(DispatchActions):
    """One physical channel; any number of virtual channels, collections, messages and ticks."""

    def is_in_range(s, t: DispatchActions.Target, m: DispatchActions.Message) -> Bool:
        return all_of(s.is_for(t, m), s.ts[m] > s.begins[t], s.ts[m] <= s.upto[t])

    @invariant(source="facts 5.2; hazard 50")
    def nothing_is_left_out(s) -> Bool:
        """A target has every message of its own above its first position, up to its last pack."""
        return forall(
            s.Target,
            s.Message,
            lambda t, m: implies(
                all_of(s.where[t] != "absent", s.logged[m], s.is_in_range(t, m)), s.got[t, m]
            ),
        )

    @invariant(source="facts 5.2; seed 002 (groupingMsgs)")
    def nothing_else_is_sent(s) -> Bool:
        """A target has only messages of its own, above its first position, up to its last pack."""
        return forall(s.Target, s.Message, lambda t, m: implies(s.got[t, m], s.is_in_range(t, m)))

    @invariant(source="facts 5.2; hazard 50; property 1")
    def nothing_is_sent_twice(s) -> Bool:
        """No target gets a message again."""
        return forall(s.Target, s.Message, lambda t, m: ~s.twice[t, m])

    @transition_invariant(source="facts 5.2; hazard 50")
    def packs_come_in_order(before, after: Self) -> Bool:
        """The packs of a target advance, and new messages are above the last one."""
        return forall(
            after.Target,
            lambda t: implies(
                before.where[t] != "absent",
                (after.upto[t] >= before.upto[t])
                & forall(
                    after.Message,
                    lambda m: implies(after.got[t, m] & ~before.got[t, m], after.ts[m] > before.upto[t]),
                ),
            ),
        )

    @invariant(source="facts 5.2; hazard 50")
    def who_is_at_the_main_is_where_it_is(s) -> Bool:
        """A target of the main dispatcher has all messages that this has passed, except a pack being sent."""
        return forall(
            s.Target,
            lambda t: implies(
                s.where[t] == "main",
                s.upto[t] == maximum(s.position[t], ite(s.owed[t], s.main_from, s.main_at)),
            ),
        )

    @invariant(source="facts 5.2; hazard 50")
    def dispatchers_are_there_for_their_targets(s) -> Bool:
        """There is a main dispatcher as long as it has targets, and a deputy for each target that has one.
        Targets that have not come, or have left, have no dispatcher and no pack.
        """
        return all_of(
            (s.main != "none") == exists(s.Target, lambda t: s.where[t] == "main"),
            forall(
                s.Target,
                lambda t: all_of(
                    (s.deputy[t] != "none") == (s.where[t] == "deputy"),
                    implies(s.deputy[t] == "none", (s.deputy_at[t] == 0) & ~s.candidate[t]),
                    implies(~s.is_served(t), ~s.full[t] & ~s.owed[t]),
                ),
            ),
        )

    @transition_invariant(source="facts 5.2", frame=True)
    def a_target_has_room_for_one_pack(before, after: Self) -> Bool:
        """A pack goes to a target that has taken the one before."""
        return forall(
            after.Target,
            lambda t: implies(
                (before.where[t] != "absent") & (after.upto[t] != before.upto[t]),
                ~before.full[t] & after.full[t],
            ),
        )

    @transition_invariant(source="facts 5.2; hazard 50", frame=True)
    def who_has_room_is_not_split_off(before, after: Self) -> Bool:
        """A target that has taken its packs stays with the main dispatcher."""
        return forall(
            after.Target,
            lambda t: implies(
                (before.where[t] == "main") & ~before.full[t],
                (after.where[t] == "main") | (after.where[t] == "gone"),
            ),
        )

    @leads_to(source="facts 5.2; property WL")
    def ticks_reach_who_takes_them(s, t: DispatchActions.Target, ts: DispatchActions.Ts) -> tuple[Bool, Bool]:
        """A target that takes its packs gets every tick, or leaves, whatever the others do."""
        waits = s.is_served(t) & ~s.slow[t] & (s.tick >= ts)
        return waits, (s.upto[t] >= ts) | (s.where[t] == "gone")

    @reachable(after="split", source="facts 5.2")
    def a_slow_target_is_split_off(before, after: Self, t: DispatchActions.Target) -> Bool:
        """A target that takes no pack waits for a deputy, while another one has the pack."""
        return exists(after.Target, lambda u: (u != t) & (after.upto[u] == after.main_at))

    @reachable(after="take_late", source="facts 5.2")
    def a_slow_target_takes_a_pack(before, after: Self, t: DispatchActions.Target) -> Bool:
        """A target that was split off takes the pack that it was late with."""
        return (after.where[t] == "deputy") & before.full[t] & ~after.full[t]

    @reachable(after="send_deputy", source="facts 5.2; hazard 50")
    def a_pack_is_sent_again(before, after: Self, t: DispatchActions.Target, end: DispatchActions.Ts) -> Bool:
        """A deputy sends what the main dispatcher could not send."""
        return (before.main_at >= end) & exists(after.Message, lambda m: after.got[t, m] & ~before.got[t, m])

    @reachable(after="merge", source="facts 5.2; hazard 50")
    def a_deputy_is_merged(before, after: Self, t: DispatchActions.Target) -> Bool:
        """A target goes back to the main dispatcher."""
        return (after.where[t] == "main") & (after.upto[t] > after.begins[t])

    @reachable(after="merge", source="facts 5.2; hazard 50")
    def the_second_check_fails(before, after: Self, t: DispatchActions.Target) -> Bool:
        """One of the two advanced between both checks."""
        return after.where[t] == "deputy"

    @reachable(after="send_main", source="seed 002 (groupingMsgs)")
    def a_tick_comes_alone(before, after: Self, t: DispatchActions.Target) -> Bool:
        """A target without messages gets the tick, and another one has messages in the pack."""
        return exists(after.Message, lambda m: (after.ts[m] > before.upto[t]) & after.handed[m]) & forall(
            after.Message, lambda m: before.got[t, m] == after.got[t, m]
        )

    @reachable(after="read_main", source="facts 5.2")
    def a_pack_is_skipped(before, after: Self, end: DispatchActions.Ts) -> Bool:
        """A target of the main dispatcher has a position that the pack does not reach."""
        return exists(after.Target, lambda t: (after.where[t] == "main") & ~after.owed[t])
