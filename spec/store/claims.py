"""Claims about a store: safety and witnesses."""

from tidemark.spec.language import (
    Bool,
    Self,
    exists,
    forall,
    implies,
    invariant,
    one_of,
    reachable,
    transition_invariant,
)
from tidemark.spec.store.actions import StoreActions


class StoreClaims(StoreActions):
    """One value that grows, saves and reads that overlap, a fence, power failures."""

    # ---- safety ----

    @invariant(source="property D")
    def what_was_answered_is_durable(s) -> Bool:
        """A save that was answered survives a power failure."""
        return forall(s.Save, lambda w: implies(s.stage[w] == "answered", s.value[w] <= s.forced))

    @invariant(source="property D; property L")
    def what_was_read_is_durable(s) -> Bool:
        """A value that a read has answered survives a power failure."""
        return forall(s.Read, lambda r: implies(s.look[r] == "answered", s.got[r] <= s.forced))

    @invariant(source="property L")
    def a_read_sees_what_was_answered_before(s) -> Bool:
        """A read answers with no less than the visible value when it began."""
        return forall(s.Read, lambda r: implies(s.look[r] == "answered", s.least[r] <= s.got[r]))

    @invariant(source="hazard 43", frame=True)
    def what_was_refused_has_no_effect(s) -> Bool:
        """A save that was refused was not applied, and never will be."""
        return forall(s.Save, lambda w: implies(s.stage[w] == "refused", ~s.applied[w]))

    @invariant(source="hazard 43; facts 2.4")
    def only_the_present_term_adds(s) -> Bool:
        """A value above that at the begin of the term was saved in this term."""
        return forall(
            s.Save,
            lambda w: implies(s.applied[w] & (s.inherited < s.value[w]), s.term[w] == s.fence),
        )

    @invariant(source="property L; property D", frame=True)
    def nothing_is_invented(s) -> Bool:
        """The visible and the durable value were saved, or were there when the term began."""
        return ((s.visible == s.inherited) | s.was_saved(s.visible)) & (
            (s.forced == s.inherited) | s.was_saved(s.forced)
        )

    @transition_invariant(source="property M; property D")
    def the_durable_value_never_goes_back(before, after: Self) -> Bool:
        """The durable value only grows."""
        return before.forced <= after.forced

    # ---- witnesses ----

    @reachable(after="crash", source="property D")
    def a_crash_loses_what_was_not_forced(before, after: Self) -> Bool:
        """A visible value is lost."""
        return after.visible < before.visible

    @reachable(after="crash", source="property D")
    def a_crash_keeps_what_was_not_forced(before, after: Self) -> Bool:
        """A value that was not forced survives all the same."""
        return (before.forced < after.forced) & exists(
            before.Save, lambda w: (before.stage[w] == "open") & before.applied[w]
        )

    @reachable(after="apply", source="facts 2.4; hazard 43")
    def a_save_arrives_late(before, after: Self, w: StoreActions.Save) -> Bool:
        """A save is applied after its caller has given up."""
        return (before.stage[w] == "failed") & (after.visible > before.visible)

    @reachable(after="refuse", source="hazard 43")
    def an_old_term_is_refused(before, after: Self, w: StoreActions.Save) -> Bool:
        """A save was sent in a term that ended before it arrived."""
        return before.term[w] < before.fence

    @reachable(after="answer", source="property M")
    def a_smaller_value_is_answered(before, after: Self, w: StoreActions.Save) -> Bool:
        """A save is answered though a greater value is kept."""
        return before.value[w] < before.visible

    @reachable(after="answer_read", source="property L")
    def a_read_overtakes_an_answer(before, after: Self, r: StoreActions.Read) -> Bool:
        """A read answers with a value whose save is not answered yet."""
        return exists(
            before.Save,
            lambda w: (before.stage[w] == "open") & before.applied[w] & (before.value[w] == before.got[r]),
        ) & one_of(before.look[r], "seen")
