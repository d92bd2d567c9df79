"""Inductive lemmas: why the claims about a store are true for any size."""

from tidemark.spec.language import Bool, forall, implies, lemma, one_of
from tidemark.spec.store.claims import StoreClaims


class Store(StoreClaims):
    """One value that grows, saves and reads that overlap, a fence, power failures."""

    @lemma(source="property D")
    def what_is_forced_can_be_seen(s) -> Bool:
        """The durable value is not above the visible one."""
        return (s.forced <= s.visible) & (s.inherited <= s.forced)

    @lemma(source="property L")
    def a_read_sees_what_was_there(s) -> Bool:
        """A value that a read has seen was there at some time since it began."""
        return forall(
            s.Read, lambda r: implies(one_of(s.look[r], "seen", "answered"), s.least[r] <= s.got[r])
        )

    @lemma(source="facts 2.4")
    def terms_have_begun(s) -> Bool:
        """No save is tied to a term to come."""
        return forall(s.Save, lambda w: s.term[w] <= s.fence)

    @lemma(source="facts 2.4")
    def what_was_applied_was_sent(s) -> Bool:
        """Only saves that were sent are applied."""
        return forall(s.Save, lambda w: implies(s.applied[w], s.stage[w] != "new"))

    @lemma(source="property D")
    def what_was_applied_can_be_seen(s) -> Bool:
        """The value of an applied save is visible, unless a power failure has lost it."""
        return forall(s.Save, lambda w: implies(s.applied[w], s.value[w] <= s.visible))
