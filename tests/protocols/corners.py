"""Protocols about the edges of an instance, the order of assignment, and initial conditions of every form."""

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
    implies,
    initially,
    invariant,
    ite,
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


class Openings(Protocol):
    """Conditions on one entry, on several, on whole maps, on entries outside the instance."""

    Node: TypeAlias = Sort
    Place: TypeAlias = Nat

    home: Place = constant()

    at: Map[Node, Place] = anything
    seen: Set[Place] = anything
    twin: Set[Place] = anything
    goal: Place = anything
    open: Bool = False

    @initially
    def places_differ(s) -> Bool:
        return forall(s.Node, s.Node, lambda a, b: (a == b) | (s.at[a] != s.at[b])) & ~s.open

    @initially
    def somebody_is_at_home(s) -> Bool:
        return exists(s.Node, lambda n: s.at[n] == s.home) & (count(s.Place, lambda p: s.seen[p]) <= 1)

    @initially
    def twins(s) -> Bool:
        return (s.twin == each(s.Place, lambda p: s.seen[p])) & implies(s.seen[s.goal], s.seen[0])

    @initially
    def beyond_is_unseen(s) -> Bool:
        return ~s.seen[7] & (s.goal != 1) & s.twin[s.goal]

    @action
    def close(s) -> None:
        """Change something."""
        s.open = ~s.open


class Impossible(Openings):
    """No state satisfies this."""

    @initially
    def contradiction(s) -> Bool:
        return s.seen[9] | (s.home == 0)


class Given(Protocol):
    """Initial maps that conditions give, entry by entry or whole, and some that they do not."""

    Node: TypeAlias = Sort
    Place: TypeAlias = Nat

    home: Map[Node, Place] = constant()

    at: Map[Node, Place] = anything
    same: Map[Node, Place] = anything
    seen: Map[Node, Place, Bool] = anything
    goal: Place = anything
    near: Map[Node, Place] = anything
    far: Map[Node, Place] = anything
    later: Place = anything
    early: Place = anything

    @initially
    def entries(s) -> Bool:
        return forall(s.Node, lambda n: s.at[n] == s.home[n]) & (s.same == s.home)

    @initially
    def of_two_keys(s) -> Bool:
        return forall(s.Node, s.Place, lambda n, p: s.seen[n, p] == (s.at[n] >= p)) & (s.goal == 1)

    @initially
    def whole(s) -> Bool:
        return s.near == each(s.Node, lambda n: ite(s.at[n] < s.goal, s.at[n], s.goal))

    @initially
    def may_leave_the_bounds(s) -> Bool:
        return forall(s.Node, lambda n: s.far[n] == s.at[n] + 1)

    @initially
    def of_one_that_comes_later(s) -> Bool:
        return (s.later == s.early) & (s.early <= 1)

    @action
    def move(s, node: Node) -> None:
        """Change something."""
        require(s.at[node] > 0)
        s.at[node] = s.at[node] - 1
