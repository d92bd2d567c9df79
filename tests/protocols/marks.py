"""Marks of frame conditions, right and wrong."""

from tests.protocols.ship import Base
from tidemark.spec.language import Bool, Self, exists, forall, invariant, lemma, transition_invariant


class Right(Base):
    @invariant(frame=True)
    def never_too_much(s) -> Bool:
        return super().never_too_much()

    @transition_invariant(frame="not_above_the_limit")
    def nothing_falls(before, after: Self) -> Bool:
        """Loads grow, where they are not above the limit."""
        return super().nothing_falls(after) & forall(after.Place, lambda p: before.load[p] <= before.LIMIT)

    @lemma()
    def not_above_the_limit(s) -> Bool:
        """There is a limit."""
        return forall(s.Place, lambda p: s.load[p] <= s.LIMIT)


class Wrong(Right):
    @invariant()
    def never_too_much(s) -> Bool:
        return super().never_too_much()

    @transition_invariant(frame=True)
    def nothing_falls(before, after: Self) -> Bool:
        return super().nothing_falls(after)


class WrongHelp(Right):
    @lemma()
    def not_above_the_limit(s) -> Bool:
        return forall(s.Place, lambda p: s.load[p] <= s.LIMIT) & exists(s.Place, lambda p: s.load[p] == 0)
