"""A small protocol with every feature of the language, and variants of it; the other tests speak about it."""

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
    assumption,
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
    leads_to,
    least,
    lemma,
    maximum,
    minimum,
    option,
    reachable,
    removed,
    require,
    transition_invariant,
)


class Stations(Protocol):
    """Stations take cargo from a line, in order. Nothing real.

    A second paragraph, which is no part of the sentence.
    """

    Station: TypeAlias = Sort
    Place: TypeAlias = Nat
    Balance: TypeAlias = Int
    Mode: TypeAlias = Enum["idle", "busy", "broken"]

    CAREFUL: Bool = option(True)
    LIMIT: Place = option(2)
    FIRST: Mode = option("idle")
    route: Map[Place, Station] = constant()
    capacity: Place = constant()

    mode: Map[Station, Mode] = everywhere("idle")
    taken: Set[Place] = everywhere(False)
    visits: Map[Station, Place, Bool] = everywhere(False)
    head: Place = 0
    balance: Balance = -1
    open: Bool = True
    start: Place = anything

    @assumption(source="none")
    def capacity_is_positive(s) -> Bool:
        """The line has room."""
        return s.capacity >= 1

    @initially
    def starts_early(s) -> Bool:
        return s.start <= 1

    def free(s, place: Place) -> Bool:
        """Helper methods are ordinary Python."""
        return ~s.taken[place]

    @action(fairness="weak", source="section 1")
    def take(s, station: Station, place: Place) -> None:
        """A station takes the cargo at a place.

        Nothing of this paragraph counts.
        """
        require(s.open)
        require((s.mode[station] == "idle") & s.free(place) & (place <= s.LIMIT))
        s.taken[place] = True
        s.mode[station] = ite(s.CAREFUL, "busy", "idle")
        s.visits[station, place] = True
        s.head = maximum(s.head, place)

    @action(fairness="strong")
    def finish(s, station: Station) -> None:
        """The station is ready again."""
        require(s.mode[station] == "busy")
        s.mode[station] = "idle"
        s.balance = s.balance + 1

    @action
    def reset(s) -> None:
        """Everything is put back."""
        require(~s.open | exists(s.Place, lambda p: s.taken[p]))
        s.taken = each(s.Place, lambda p: False)
        s.mode = each(s.Station, lambda x: ite(s.mode[x] == "broken", "broken", "idle"))
        s.head = least(s.Place, lambda p: s.taken[p], default=s.start)

    @action
    def twice(s) -> None:
        """Assigns in sequence: the second statement sees the first."""
        require(s.head < 1)
        s.head = s.head + 1
        s.start = s.head + 1

    @invariant(source="section 2")
    def head_is_late(s) -> Bool:
        """No place beyond the head is taken."""
        return forall(s.Place, lambda p: implies(s.taken[p], p <= s.head))

    @lemma()
    def few_busy(s) -> Bool:
        """Not all stations are busy."""
        return count(s.Station, lambda x: s.mode[x] == "busy") <= minimum(s.capacity, 3)

    @transition_invariant()
    def balance_grows(before, after: Self) -> Bool:
        """The balance never falls."""
        return after.balance >= before.balance

    @leads_to(source="section 3", without=("reset",))
    def becomes_idle(s, station: Station) -> tuple[Bool, Bool]:
        """A busy station becomes idle."""
        return s.mode[station] == "busy", s.mode[station] == "idle"

    @reachable(after="take")
    def first_place(before, after: Self, station: Station, place: Place) -> Bool:
        """The first place is taken by somebody."""
        return (place == 0) & after.visits[station, place] & ~before.visits[station, place]

    @reachable(after="finish")
    def somebody_finishes(s) -> Bool:
        """A witness may speak about the state after the step only."""
        return greatest(s.Place, lambda p: s.taken[p], upto=s.LIMIT, default=0) >= 0


class Careless(Stations):
    """Flips an option."""

    CAREFUL = False


class Overrides(Stations):
    """Overrides an action without a decorator, a helper, a start value; leaves annotations out."""

    head = 1

    def finish(s, station: Stations.Station) -> None:
        super().finish(station)
        s.open = False

    def free(s, place: Stations.Place) -> Bool:
        return super().free(place) & (place > 0)


class WithoutReset(Stations):
    """Takes an action out."""

    reset = removed


class Extends(Careless):
    """Adds state, an action and a claim."""

    repairs: Stations.Place = 0

    @action
    def repair(s, station: Stations.Station) -> None:
        """A broken station is repaired."""
        require(s.mode[station] == "broken")
        s.mode[station] = "idle"
        s.repairs = s.repairs + 1

    @invariant()
    def few_repairs(s) -> Bool:
        """Not too many repairs."""
        return s.repairs <= s.capacity
