"""A protocol whose only purpose is to use every feature of the language, with values that leave the
bounds.
"""

from tidemark.spec.language import (
    Bool,
    Enum,
    Int,
    Map,
    Nat,
    Protocol,
    Self,
    Set,
    Sort,
    TypeAlias,
    action,
    anything,
    constant,
    count,
    each,
    everywhere,
    exists,
    forall,
    greatest,
    implies,
    initially,
    invariant,
    ite,
    least,
    maximum,
    minimum,
    option,
    reachable,
    require,
    transition_invariant,
)


class Features(Protocol):
    """Every type, every operator, reads and writes outside the bounds, several initial states."""

    Node: TypeAlias = Sort
    Place: TypeAlias = Nat
    Level: TypeAlias = Int
    Colour: TypeAlias = Enum["red", "green", "blue"]

    STRICT: Bool = option(True)
    owner: Map[Place, Node] = constant()
    weight: Map[Colour, Bool, Level] = constant()

    here: Place = 0
    level: Level = anything
    colour: Colour = "green"
    lit: Bool = anything
    at: Map[Node, Place] = everywhere(1)
    paint: Map[Place, Colour] = everywhere("red")
    flag: Map[Bool, Node, Bool] = everywhere(False)
    height: Map[Colour, Level] = everywhere(-1)
    other: Map[Colour, Level] = everywhere(-1)

    @initially
    def start(s) -> Bool:
        return implies(s.lit, s.level <= 0)

    @action
    def walk(s, n: Node) -> None:
        """Write at a place that may lie outside; the later read sees the earlier write."""
        s.at[n] = s.at[n] + 1
        s.paint[s.at[n]] = ite(s.colour == "red", "blue", "green")
        s.here = maximum(s.here, s.at[n] - 1)

    @action
    def back(s, n: Node, p: Place) -> None:
        """Parameters of two kinds, a constant map, an outside read."""
        require((s.at[n] > p) & (s.paint[p + 1] != "red"))
        require(s.owner[p] == n)
        s.at[n] = p
        s.paint[s.at[n] + 2] = "red"

    @action
    def turn(s, c: Colour, b: Bool) -> None:
        """Enumeration and Boolean parameters, signed arithmetic."""
        require(s.colour != c)
        s.colour = c
        s.level = (s.level * 3 - s.weight[c, b]) // 2 % 4 - 1
        s.flag[b, ite(s.lit, s.owner[s.here], s.owner[s.here - 1])] = ~s.flag[~b, s.owner[0]]

    @action
    def repaint(s) -> None:
        """Whole-map updates and a choice between maps."""
        require(s.STRICT | (s.here == 0))
        s.paint = each(s.Place, lambda p: ite((p <= s.here) & (s.paint[p] == s.colour), "blue", s.paint[p]))
        s.height = ite(s.lit, s.other, s.height)
        s.lit = ~s.lit

    @action
    def climb(s, c: Colour) -> None:
        """Extremes, counts, two binders; may leave the range of Level."""
        top = greatest(s.Place, lambda p: s.paint[p] == c, upto=s.here + 1, default=0)
        low = least(s.Place, lambda p: s.paint[p] != c, default=s.here)
        require(exists(s.Place, s.Node, lambda p, n: (s.at[n] == p) & (s.paint[p] != "blue")))
        s.height[c] = ite(top > low, 2, s.height[c] + 1)
        s.other = each(s.Colour, lambda k: ite(k == c, s.height[k], s.other[k]))
        s.level = minimum(s.level + count(s.Node, lambda n: s.at[n] == 0), 1)

    @action
    def compare(s) -> None:
        """Equality of maps."""
        require(s.height == s.other)
        s.other[s.colour] = -1
        s.colour = "red"

    @invariant()
    def never_all_blue(s) -> Bool:
        """Some place is not blue."""
        return exists(s.Place, lambda p: s.paint[p] != "blue")

    @invariant()
    def low(s) -> Bool:
        """No height reaches 2."""
        return forall(s.Colour, lambda c: s.height[c] < 2)

    @transition_invariant()
    def here_grows(before, after: Self) -> Bool:
        """The place never goes back."""
        return before.here <= after.here

    @transition_invariant()
    def levels_move_slowly(before, after: Self) -> Bool:
        """The level changes by one at most."""
        return (after.level - before.level <= 1) & (before.level - after.level <= 1)

    @reachable(after="turn")
    def turned_blue(before, after: Self, c: Colour) -> Bool:
        """Blue is chosen from red."""
        return (c == "blue") & (before.colour == "red")

    @reachable(after="climb")
    def never_happens(before, after: Self, c: Colour) -> Bool:
        """A witness that is not reached."""
        return (after.level == 1) & (before.level == 1) & (after.here > before.here)


class Lab(Protocol):
    """A bench for expressions. Its one action is replaced by generated ones."""

    Node: TypeAlias = Sort
    Place: TypeAlias = Nat
    Level: TypeAlias = Int
    Wide: TypeAlias = Int
    Colour: TypeAlias = Enum["red", "green", "blue"]

    owner: Map[Place, Node] = constant()
    weight: Map[Colour, Bool, Level] = constant()

    lit: Bool = False
    here: Place = 1
    level: Level = -1
    colour: Colour = "green"
    node: Node = anything
    wide: Wide = 0
    heights: Map[Place, Level] = everywhere(-1)
    other: Map[Place, Level] = everywhere(0)
    flags: Map[Colour, Bool, Bool] = everywhere(True)
    members: Set[Node] = everywhere(False)
    paint: Map[Node, Place, Colour] = everywhere("blue")

    @action
    def wait(s) -> None:
        """Stand for a generated action."""
        s.lit = ~s.lit
