"""Two protocols, the second of which takes for granted what the first guarantees."""

from tidemark.spec.language import (
    Bool,
    Nat,
    Protocol,
    action,
    invariant,
    option,
    require,
    transition_invariant,
)


class Below(Protocol):
    """A counter that only grows."""

    Level = Nat()

    top: Level = 0

    @action()
    def grow(s):
        """One more."""
        s.top = s.top + 1

    @transition_invariant()
    def never_falls(before, after):
        """It never falls."""
        return after.top >= before.top


class Above(Protocol):
    """Reads the counter from afar, and remembers what it saw."""

    Level = Nat()

    FRESH: Bool = option(True, assumes="an answer is not older than the one before it")

    seen: Level = 0
    past: Level = 0

    @action(relies_on=("below.never_falls",))
    def read(s, level: Level):
        """An answer arrives."""
        require(~s.FRESH | (level >= s.seen))
        s.past = s.seen
        s.seen = level

    @invariant()
    def in_order(s):
        """What was seen first is not greater."""
        return s.past <= s.seen


class Stale(Above):
    """Without the assumption."""

    FRESH = False


class Circular(Below):
    """Relies on those who rely on it."""

    @action(relies_on=("above.in_order",))
    def grow(s):
        s.top = s.top + 1
