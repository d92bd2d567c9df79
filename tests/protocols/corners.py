"""Protocols about the edges of an instance and the order of assignment."""

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
    each,
    everywhere,
    initially,
    invariant,
    leads_to,
    reachable,
    require,
)


class Corners(Protocol):
    """What happens at the edges of an instance."""

    Node: TypeAlias = Sort
    Place: TypeAlias = Nat
    Depth: TypeAlias = Int
    Mode: TypeAlias = Enum["off", "on", "lost"]

    weights: Map[Node, Place, Depth] = constant()

    at: Place = 0
    deep: Depth = 0
    row: Map[Place, Mode] = everywhere("on")
    free: Set[Node] = anything
    maybe: Map[Place, Mode] = anything
    seen: Mode = "off"

    @initially
    def maybe_is_mostly_off(s) -> Bool:
        return (s.maybe[0] == "off") & (s.maybe[1] != "lost")

    @action
    def read_beyond(s) -> None:
        """Read a place that no instance below 9 has."""
        s.seen = s.row[9]

    @action
    def read_beyond_open(s) -> None:
        """The same of a map that starts with anything."""
        s.seen = s.maybe[9]

    @action
    def write_beyond(s) -> None:
        """Write a new value there."""
        s.row[9] = "lost"

    @action
    def write_the_same_beyond(s) -> None:
        """Write what is there anyway."""
        s.row[9] = "on"
        s.seen = "on"

    @action
    def write_and_read(s) -> None:
        """A later read sees an earlier write, even outside."""
        s.row[9] = "lost"
        s.seen = s.row[9]

    @action
    def climb(s) -> None:
        """Grow by one."""
        s.at = s.at + 1

    @action
    def fall(s) -> None:
        """Shrink by one."""
        s.deep = s.deep - 1

    @action
    def weigh(s, node: Node) -> None:
        """Read a constant."""
        s.deep = s.weights[node, s.at]

    @action
    def swap(s) -> None:
        """Both sides are of the state before."""
        s.row[0], s.row[1] = s.row[1], "lost"

    @action
    def clear(s) -> None:
        """A whole map at once."""
        require(s.seen == "on")
        s.row = each(s.Place, lambda p: "off")

    @invariant()
    def not_lost(s) -> Bool:
        """Nothing is lost."""
        return s.seen != "lost"

    @reachable(after="weigh")
    def weighs_negative(before, after: Self, node: Node) -> Bool:
        """A negative weight is read."""
        return after.deep < 0

    @leads_to()
    def ends(s) -> tuple[Bool, Bool]:
        """It ends."""
        return s.at > 0, s.seen == "on"


class Flags(Protocol):
    """Two flags, for the order of evaluation."""

    one: Bool = True
    two: Bool = False

    @action
    def swap(s) -> None:
        """Both at once."""
        s.one, s.two = s.two, s.one

    @action
    def copy(s) -> None:
        """One after the other."""
        require(s.one)
        s.one = s.two
        s.two = s.one
