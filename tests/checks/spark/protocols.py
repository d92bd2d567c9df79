"""Small protocols with every kind of answer: what holds, what fails at a known depth, steps out of the
bounds, dead ends.
"""

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
    exists,
    forall,
    invariant,
    reachable,
    require,
    transition_invariant,
)


class Grid(Protocol):
    """A token on a grid that goes up and right, with a jump; every answer is known by hand."""

    Place: TypeAlias = Nat
    x: Place = 0
    y: Place = 0
    jumped: Bool = False

    @action
    def right(s) -> None:
        """One to the right; leaves every bound in the end."""
        s.x = s.x + 1

    @action
    def up(s) -> None:
        """One up."""
        require(s.y < 5)
        s.y = s.y + 1

    @action
    def jump(s) -> None:
        """Back to the left border, once."""
        require(s.x >= 3)
        require(~s.jumped)
        s.x = 0
        s.jumped = True

    @action
    def never(s) -> None:
        """Never enabled."""
        require(s.y > 5)
        s.y = 0

    @invariant()
    def low(s) -> Bool:
        """The token stays low."""
        return s.y <= 5

    @invariant()
    def not_far(s) -> Bool:
        """The token never gets to (2, 3): false at depth 5."""
        return (s.x != 2) | (s.y != 3)

    @transition_invariant()
    def never_left(before, after: Self) -> Bool:
        """The token never goes left: false first from depth 3, by the jump."""
        return before.x <= after.x

    @transition_invariant()
    def never_down(before, after: Self) -> Bool:
        """The token never goes down."""
        return before.y <= after.y

    @reachable(after="jump")
    def jumps_from_the_top(before, after: Self) -> Bool:
        """A jump from the top row."""
        return before.y == 5

    @reachable(after="up")
    def climbs_above(before, after: Self) -> Bool:
        """A climb above the top row: impossible."""
        return after.y > 5


class Lamps(Protocol):
    """Lamps that are switched one by one, in any order: 2**n states, and states of several words for many
    lamps.
    """

    Lamp: TypeAlias = Sort
    Colour: TypeAlias = Nat
    lit: Map[Lamp, Bool] = everywhere(False)
    colour: Map[Lamp, Colour] = everywhere(0)

    @action
    def switch(s, a: Lamp) -> None:
        """Switch a lamp on or off."""
        s.lit[a] = ~s.lit[a]

    @action
    def paint(s, a: Lamp) -> None:
        """Paint a lamp that is lit, once."""
        require(s.lit[a])
        require(s.colour[a] == 0)
        s.colour[a] = 200

    @invariant()
    def painted_or_not(s) -> Bool:
        """A colour is one of two."""
        return forall(s.Lamp, lambda a: (s.colour[a] == 0) | (s.colour[a] == 200))

    @invariant()
    def one_is_dark(s) -> Bool:
        """Some lamp is dark or without paint: false when all are lit and painted."""
        return exists(s.Lamp, lambda a: (~s.lit[a]) | (s.colour[a] == 0))
