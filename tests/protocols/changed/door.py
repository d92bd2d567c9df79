"""A door that counts, and other texts of its actions."""

from tidemark.spec.language import (
    Bool,
    Nat,
    Protocol,
    Self,
    TypeAlias,
    action,
    invariant,
    leads_to,
    lemma,
    reachable,
    require,
    transition_invariant,
)


class Door(Protocol):
    """A door that counts."""

    Count: TypeAlias = Nat
    open: Bool = False
    count: Count = 0

    @action
    def pull(s) -> None:
        """Open it."""
        require(~s.open)
        s.open = True
        s.count = s.count + 1

    @action
    def push(s) -> None:
        """Close it."""
        require(s.open)
        s.open = False

    @action
    def reset(s) -> None:
        """Begin again."""
        require(s.count == 3)
        s.count = 0

    @invariant()
    def few(s) -> Bool:
        """It is not opened often."""
        return s.count <= 9

    @lemma()
    def opened_at_first(s) -> Bool:
        """Whoever finds it open has opened it."""
        return ~s.open | (s.count >= 1)

    @transition_invariant()
    def one_by_one(before, after: Self) -> Bool:
        """It counts by one."""
        return after.count <= before.count + 1

    @reachable(after="push")
    def closed_again(before, after: Self) -> Bool:
        """It was closed."""
        return after.count == 1

    @leads_to()
    def is_closed(s) -> tuple[Bool, Bool]:
        """It does not stay open."""
        return s.open, ~s.open


PRESENT = Door
"""What the name stands for: a test puts another text there."""


def twice(s):
    require(s.open)
    require(s.open)
    s.open = False


def only_once(s):
    require(s.open & (s.count == 0))
    s.open = False


def counting(s):
    require(s.open)
    s.open = False
    s.count = s.count + 1


def from_four_on(s):
    require(s.count == 4)
    s.count = 0


def at_once(s):
    require(s.open | (s.count == 0))
    s.open = True
    s.count = 1


def by_two(s):
    require(~s.open)
    s.open = True
    s.count = s.count + 2
