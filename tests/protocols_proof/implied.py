"""Claims that follow from others in the same state, and a circle of two that are false."""

from tidemark.spec.language import Bool, Nat, Protocol, TypeAlias, action, invariant, lemma, require


class Counter(Protocol):
    """Counts to three, and says so in two ways."""

    N: TypeAlias = Nat
    count: N = 0

    @action
    def step(s) -> None:
        """One more, up to three."""
        require(s.count < 3)
        s.count = s.count + 1

    @invariant()
    def at_most_three(s) -> Bool:
        """It does not pass three."""
        return s.count <= 3

    @invariant()
    def at_most_five(s) -> Bool:
        """Nor five: by the claim above."""
        return s.count <= 5

    @lemma()
    def below_seven(s) -> Bool:
        """Nor six: by the claim above."""
        return s.count < 7


class Endless(Counter):
    """Counts on: all claims are false, and each but the first follows from the one before."""

    def step(s) -> None:
        s.count = s.count + 1


class Circle(Endless):
    """Two false claims that say the same."""

    @invariant()
    def below_six(s) -> Bool:
        """It does not reach six."""
        return s.count < 6
