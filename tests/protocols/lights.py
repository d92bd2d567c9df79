"""A tiny protocol for tests of the gate."""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Self,
    Sort,
    TypeAlias,
    action,
    everywhere,
    forall,
    implies,
    invariant,
    option,
    reachable,
    require,
    transition_invariant,
)


class Lights(Protocol):
    """Lamps that are switched; no more than one at a time."""

    Lamp: TypeAlias = Sort
    Turn: TypeAlias = Nat

    CAREFUL: Bool = option(True)
    lit: Map[Lamp, Bool] = everywhere(False)
    any_lit: Bool = False
    turns: Turn = 0

    @action
    def switch_on(s, lamp: Lamp) -> None:
        """Light a lamp."""
        require(~s.lit[lamp] & (~s.any_lit | ~s.CAREFUL))
        s.lit[lamp] = True
        s.any_lit = True
        s.turns = s.turns + 1

    @action
    def switch_off(s, lamp: Lamp) -> None:
        """Put a lamp out."""
        require(s.lit[lamp])
        s.lit[lamp] = False
        s.any_lit = False

    @invariant()
    def never_both(s) -> Bool:
        """At most one lamp is lit."""
        return forall(s.Lamp, s.Lamp, lambda a, b: implies(s.lit[a] & s.lit[b], a == b))

    @transition_invariant()
    def count_grows(before, after: Self) -> Bool:
        """The number of turns never falls."""
        return before.turns <= after.turns

    @reachable(after="switch_on")
    def second_turn(s) -> Bool:
        """A lamp is lit for the second time."""
        return s.turns == 2


class Darker(Lights):
    """A variant that renames nothing."""


class Brighter(Lights):
    """A variant with a property of its own."""

    @invariant()
    def few_turns(s) -> Bool:
        """Switching wears the lamps out."""
        return s.turns <= 3
