"""Protocols whose initial conditions have every form."""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    action,
    anything,
    constant,
    count,
    each,
    exists,
    forall,
    implies,
    initially,
)


class Openings(Protocol):
    """Conditions on one entry, on several, on whole maps, on entries outside the instance."""

    Node = Sort()
    Place = Nat()

    home: Place = constant()

    at: Map[Node, Place] = anything
    seen: Set[Place] = anything
    twin: Set[Place] = anything
    goal: Place = anything
    open: Bool = False

    @initially
    def places_differ(s):
        return forall(s.Node, s.Node, lambda a, b: (a == b) | (s.at[a] != s.at[b])) & ~s.open

    @initially
    def somebody_is_at_home(s):
        return exists(s.Node, lambda n: s.at[n] == s.home) & (count(s.Place, lambda p: s.seen[p]) <= 1)

    @initially
    def twins(s):
        return (s.twin == each(s.Place, lambda p: s.seen[p])) & implies(s.seen[s.goal], s.seen[0])

    @initially
    def beyond_is_unseen(s):
        return ~s.seen[7] & (s.goal != 1) & s.twin[s.goal]

    @action
    def close(s):
        """Change something."""
        s.open = ~s.open


class Impossible(Openings):
    """No state satisfies this."""

    @initially
    def contradiction(s):
        return s.seen[9] | (s.home == 0)
