"""A ferry with every kind of place that a mutation operator knows, and claims of every kind."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Self,
    Sort,
    TypeAlias,
    action,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    invariant,
    ite,
    leads_to,
    least,
    lemma,
    maximum,
    minimum,
    reachable,
    require,
    transition_invariant,
)


class Ferry(Protocol):
    """Guests board a ferry at this side and leave it at the other."""

    Guest: TypeAlias = Sort
    Trip: TypeAlias = Nat
    Place: TypeAlias = Enum["here", "aboard", "there"]

    room: Trip = constant()

    place: Map[Guest, Place] = everywhere("here")
    boat: Place = "here"
    loaded: Trip = 0
    trips: Trip = 0
    highest: Trip = 0
    noted: Bool = False
    colour: Place = "here"

    @action(fairness="weak")
    def board(s, guest: Guest) -> None:
        """A guest goes aboard."""
        require((s.boat == "here") & (s.place[guest] == "here"))
        require(s.loaded < s.room)
        s.place[guest] = "aboard"
        s.loaded = s.loaded + 1
        s.highest = maximum(s.highest, s.loaded)

    @action(fairness="weak")
    def cross(s) -> None:
        """The ferry crosses with somebody aboard."""
        require(s.boat == "here")
        require(exists(s.Guest, lambda g: s.place[g] == "aboard"))
        require(s.boat != "there")
        s.boat = "there"
        s.noted = True

    @action(fairness="weak")
    def leave(s) -> None:
        """All leave at once, and the empty ferry goes back."""
        require(s.boat == "there")
        s.place = each(s.Guest, lambda g: ite(s.place[g] == "aboard", "there", s.place[g]))
        s.loaded = 0
        s.boat = "here"
        s.trips = minimum(s.trips + 1, 2)

    @action
    def paint(s) -> None:
        """Nobody cares about the colour."""
        require(s.trips == least(s.Trip, lambda t: t > 0, default=0))
        s.colour = "aboard"

    @invariant()
    def not_overloaded(s) -> Bool:
        """No more than there is room for."""
        return s.loaded <= s.room

    @invariant()
    def empty_boat(s) -> Bool:
        """Whoever is aboard is counted."""
        return implies(s.loaded == 0, forall(s.Guest, lambda g: s.place[g] != "aboard"))

    @transition_invariant()
    def nobody_returns(before, after: Self) -> Bool:
        """Who is there stays there."""
        return forall(after.Guest, lambda g: implies(before.place[g] == "there", after.place[g] == "there"))

    @lemma()
    def record_is_kept(s) -> Bool:
        """The record is at least the present load."""
        return s.loaded <= s.highest

    @leads_to()
    def arrives(s, guest: Guest) -> tuple[Bool, Bool]:
        """Every guest arrives."""
        return s.place[guest] == "here", s.place[guest] == "there"

    @reachable(after="cross")
    def crosses_full(before, after: Self) -> Bool:
        """The ferry crosses with no room left."""
        return before.loaded == before.room

    @reachable(after="leave")
    def second_trip(before, after: Self) -> Bool:
        """There is a second trip."""
        return after.trips == 2


class Leaky(Ferry):
    """A ferry that takes one too many: refuted before any mutant is looked at."""

    def board(s, guest: Ferry.Guest) -> None:
        require((s.boat == "here") & (s.place[guest] == "here"))
        require(s.loaded <= s.room)
        s.place[guest] = "aboard"
        s.loaded = s.loaded + 1
        s.highest = maximum(s.highest, s.loaded)
