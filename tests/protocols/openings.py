"""Protocols whose initial conditions have every form."""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    anything,
    constant,
    count,
    each,
    exists,
    forall,
    implies,
    initially,
    ite,
    require,
)


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
