"""A small protocol with every feature of the language, and variants of it; the other tests speak about it."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Int,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    action,
    anything,
    assumption,
    constant,
    count,
    each,
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
    require,
    transition_invariant,
)


class Stations(Protocol):
    """Stations take cargo from a line, in order. Nothing real.

    A second paragraph, which is no part of the sentence.
    """

    Station = Sort()
    Place = Nat()
    Balance = Int()
    Mode = Enum("idle", "busy", "broken")

    CAREFUL: Bool = option(True)
    LIMIT: Place = option(2)
    FIRST: Mode = option("idle")
    route: Map[Place, Station] = constant()
    capacity: Place = constant()

    mode: Map[Station, Mode] = "idle"
    taken: Set[Place] = False
    visits: Map[Station, Place, Bool] = False
    head: Place = 0
    balance: Balance = -1
    open: Bool = True
    start: Place = anything

    @assumption(source="none")
    def capacity_is_positive(s):
        """The line has room."""
        return s.capacity >= 1

    @initially
    def starts_early(s):
        return s.start <= 1

    def free(s, place):
        """Helper methods are ordinary Python."""
        return ~s.taken[place]

    @action(fairness="weak", source="section 1")
    def take(s, station: Station, place: Place):
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
    def finish(s, station: Station):
        """The station is ready again."""
        require(s.mode[station] == "busy")
        s.mode[station] = "idle"
        s.balance = s.balance + 1

    @action
    def reset(s):
        """Everything is put back."""
        require(~s.open | exists(s.Place, lambda p: s.taken[p]))
        s.taken = each(s.Place, lambda p: False)
        s.mode = each(s.Station, lambda x: ite(s.mode[x] == "broken", "broken", "idle"))
        s.head = least(s.Place, lambda p: s.taken[p], default=s.start)

    @action
    def twice(s):
        """Assigns in sequence: the second statement sees the first."""
        require(s.head < 1)
        s.head = s.head + 1
        s.start = s.head + 1

    @invariant(source="section 2")
    def head_is_late(s):
        """No place beyond the head is taken."""
        return forall(s.Place, lambda p: implies(s.taken[p], p <= s.head))

    @lemma()
    def few_busy(s):
        """Not all stations are busy."""
        return count(s.Station, lambda x: s.mode[x] == "busy") <= minimum(s.capacity, 3)

    @transition_invariant()
    def balance_grows(before, after):
        """The balance never falls."""
        return after.balance >= before.balance

    @leads_to(source="section 3", without=("reset",))
    def becomes_idle(s, station: Station):
        """A busy station becomes idle."""
        return s.mode[station] == "busy", s.mode[station] == "idle"

    @reachable(after="take")
    def first_place(before, after, station, place):
        """The first place is taken by somebody."""
        return (place == 0) & after.visits[station, place] & ~before.visits[station, place]

    @reachable(after="finish")
    def somebody_finishes(s):
        """A witness may speak about the state after the step only."""
        return greatest(s.Place, lambda p: s.taken[p], upto=s.LIMIT, default=0) >= 0


class Careless(Stations):
    """Flips an option."""

    CAREFUL = False


class Overrides(Stations):
    """Overrides an action without a decorator, a helper, a start value; leaves annotations out."""

    head = 1

    def finish(s, station):
        super().finish(station)
        s.open = False

    def free(s, place):
        return super().free(place) & (place > 0)


class WithoutReset(Stations):
    """Takes an action out."""

    reset = None


class Extends(Careless):
    """Adds state, an action and a claim."""

    repairs: Stations.Place = 0

    @action
    def repair(s, station: Stations.Station):
        """A broken station is repaired."""
        require(s.mode[station] == "broken")
        s.mode[station] = "idle"
        s.repairs = s.repairs + 1

    @invariant()
    def few_repairs(s):
        """Not too many repairs."""
        return s.repairs <= s.capacity
