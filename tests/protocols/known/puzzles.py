"""Missionaries and cannibals, the prisoners and the switches, the coffee can."""

from tests.protocols.known.reasons import holds
from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    action,
    any_of,
    anything,
    constant,
    count,
    exists,
    forall,
    implies,
    initially,
    invariant,
    ite,
    require,
    transition_invariant,
    when,
)


class MissionariesAndCannibals(Protocol):
    """People cross a river in a boat for two. On neither bank may cannibals outnumber missionaries."""

    Person = Nat()
    Bank = Enum("east", "west")

    cannibal: Set[Person] = constant()

    boat: Bank = "east"
    bank: Map[Person, Bank] = "east"

    def cannibals(s, bank):
        """How many cannibals are on a bank."""
        return count(s.Person, lambda p: (s.bank[p] == bank) & s.cannibal[p])

    def missionaries(s, bank):
        """How many missionaries are on a bank."""
        return count(s.Person, lambda p: (s.bank[p] == bank) & ~s.cannibal[p])

    def safety(s, bank):
        """Reasons why nobody is eaten on a bank."""
        return [s.missionaries(bank) == 0, s.cannibals(bank) <= s.missionaries(bank)]

    @action
    def cross(s, one: Person, two: Person):
        """Two cross together, or one alone if both are the same."""
        require(one <= two)
        require((s.bank[one] == s.boat) & (s.bank[two] == s.boat))
        s.boat = ite(s.boat == "east", "west", "east")
        s.bank[one] = s.boat
        s.bank[two] = s.boat
        require(any_of(*s.safety("east")))
        require(any_of(*s.safety("west")))

    @invariant()
    def somebody_is_left(s):
        """Somebody is on the east bank: false, and the counterexample is the solution."""
        return exists(s.Person, lambda p: s.bank[p] == "east")


class MissionariesByReason(MissionariesAndCannibals):
    """Every reason for a step is a step of its own, as it is for TLC."""

    Reason = Nat()

    @action
    def cross(s, one, two, east: Reason, west: Reason):
        super().cross(one, two)
        require(holds(s.safety("east"), east))
        require(holds(s.safety("west"), west))


class Prisoners(Protocol):
    """Each visitor must flip one of two switches. One prisoner counts how often he finds the first one up;
    the others put it up twice each.
    """

    Prisoner = Sort()
    Number = Nat()

    counter: Prisoner = constant()
    others: Number = constant()

    a_is_up: Bool = anything
    b_is_up: Bool = anything
    flipped: Map[Prisoner, Number] = 0
    counted: Number = 0

    @action
    def count_visit(s):
        """The counter puts the first switch down and counts, or flips the second."""
        up = s.a_is_up
        with when(up):
            s.a_is_up = False
            s.counted = s.counted + 1
        with when(~up):
            s.b_is_up = ~s.b_is_up

    @action
    def visit(s, p: Prisoner):
        """Another one puts the first switch up if he may, or flips the second."""
        require(p != s.counter)
        puts_up = ~s.a_is_up & (s.flipped[p] < 2)
        with when(puts_up):
            s.a_is_up = True
            s.flipped[p] = s.flipped[p] + 1
        with when(~puts_up):
            s.b_is_up = ~s.b_is_up

    @invariant()
    def all_have_been_there(s):
        """When the counter has counted twice per prisoner, everybody has been there."""
        return implies(
            s.counted == 2 * s.others,
            forall(s.Prisoner, lambda p: (p == s.counter) | (s.flipped[p] > 0)),
        )


class CoffeeCan(Protocol):
    """Two beans are taken; two of a kind are replaced by a black one, else the white one is put back."""

    Bean = Nat()

    most: Bean = constant()

    black: Bean = anything
    white: Bean = anything

    @initially
    def some_beans(s):
        return (s.black + s.white >= 1) & (s.black + s.white <= s.most)

    @action
    def take_two_white(s):
        """Two white beans become a black one."""
        require(s.white >= 2)
        s.white = s.white - 2
        s.black = s.black + 1

    @action
    def take_two_black(s):
        """Two black beans become one."""
        require(s.black >= 2)
        s.black = s.black - 1

    @action
    def take_both(s):
        """The black bean of a mixed pair is thrown away."""
        require((s.black >= 1) & (s.white >= 1))
        s.black = s.black - 1

    @action
    def rest(s):
        """One bean is left, and stays."""
        require(s.black + s.white == 1)
        s.black = 1 - s.white

    @transition_invariant()
    def white_stays_even(before, after):
        """The number of white beans stays even, or odd."""
        return before.white % 2 == after.white % 2

    @transition_invariant()
    def fewer_each_time(before, after):
        """There are fewer beans after each step but the last."""
        return (after.black + after.white < before.black + before.white) | (before.black + before.white == 1)
