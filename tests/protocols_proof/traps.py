"""Protocols about which a careless prover is wrong: each has one claim that is false."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Sort,
    action,
    anything,
    exists,
    forall,
    implies,
    invariant,
    lemma,
    require,
)


class SecondPart(Protocol):
    """Only the second part of the claim is broken."""

    Room = Sort()
    lit: Map[Room, Bool] = False
    known: Map[Room, Bool] = False
    spoilt: Map[Room, Bool] = False

    @action
    def light(s, r: Room):
        """A light that is known of."""
        require(~s.spoilt[r])
        s.lit[r] = True
        s.known[r] = True

    @action
    def spoil(s, r: Room):
        """Of this the claim says that it does not happen."""
        require(s.lit[r])
        s.spoilt[r] = True

    @invariant()
    def known_and_sound(s):
        """False: a room that is lit may be spoilt."""
        return forall(s.Room, lambda r: implies(s.lit[r], s.known[r] & ~s.spoilt[r]))


class EmptyShelves(Protocol):
    """A number in a map leaves its type: nothing that assumes the type is proved."""

    Shelf = Sort()
    Amount = Nat()
    stock: Map[Shelf, Amount] = 1
    sold: Bool = False

    @action
    def sell(s, shelf: Shelf):
        """Also what is not there."""
        s.stock[shelf] = s.stock[shelf] - 1
        s.sold = True

    @invariant()
    def sold_means_less(s):
        """Its obligations are decided by their form; what is wrong is seen at the type only."""
        return implies(~s.sold, forall(s.Shelf, lambda shelf: s.stock[shelf] == 1))


class AnyBeginning(Protocol):
    """The claim is kept by each step, and need not hold at the start."""

    lit: Bool = anything
    turns: Bool = False

    @action
    def turn(s):
        """Touches nothing that matters."""
        s.turns = ~s.turns

    @invariant()
    def dark(s):
        """False: it may be lit at the start."""
        return ~s.lit


class Copies(Protocol):
    """After a step, one claim says what another one says before it; and that one is false."""

    one: Bool = False
    two: Bool = False

    @action
    def copy(s):
        """The second one into the first one."""
        s.one = s.two

    @action
    def set(s):
        """The second one."""
        s.two = True

    @invariant()
    def one_is_not_set(s):
        """False, since the second one is set."""
        return ~s.one

    @lemma()
    def two_is_not_set(s):
        """False."""
        return ~s.two


class ThirdState(Protocol):
    """A run of two steps breaks the claim, and no three states in a row satisfy it."""

    Place = Enum("first", "second", "third")
    at: Place = "first"

    @action
    def leave(s):
        """From the first place."""
        require(s.at == "first")
        s.at = "second"

    @action
    def arrive(s):
        """At the third one."""
        require(s.at == "second")
        s.at = "third"

    @invariant()
    def never_arrives(s):
        """False."""
        return s.at != "third"


class BelowZero(Protocol):
    """A number that leaves its type is copied; that it is not negative is taken for its type's word."""

    Amount = Nat()
    spare: Amount = 0
    low: Amount = 0
    high: Amount = 0

    @action
    def drop(s):
        """Also below zero."""
        s.spare = s.spare - 1

    @action
    def copy(s):
        """The lower one begins anew."""
        s.high = s.spare
        s.low = 0

    @invariant()
    def in_order(s):
        """False of numbers below zero."""
        return s.low <= s.high


class Switches(Protocol):
    """One switch is never on: a step sets it to what both are."""

    one: Bool = False
    two: Bool = False

    @action
    def toggle(s):
        """The second one."""
        s.two = ~s.two

    @action
    def move(s):
        """Needs a proof: the claim of the state before."""
        s.one = s.one & s.two

    @invariant()
    def one_is_off(s):
        """True."""
        return ~s.one


class OtherSwitches(Switches):
    """The same guards, claims and variables; the step sets it to what either is."""

    @action
    def move(s):
        """Nothing but the effect is another one."""
        s.one = s.one | s.two


class Less(Protocol):
    """A number is counted down to zero; the claim is true of the integers."""

    Amount = Nat()
    left: Amount = 1

    @action
    def take(s):
        """One less."""
        require(s.left > 0)
        s.left = s.left - 1

    @invariant()
    def one_is_lower(s):
        """False at zero."""
        return exists(s.Amount, lambda n: n < s.left)
