"""A ticket lock for any number of processes, and what goes wrong with it."""

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
    everywhere,
    exists,
    forall,
    implies,
    invariant,
    least,
    lemma,
    reachable,
    removed,
    require,
    transition_invariant,
)


class TicketLock(Protocol):
    """Processes draw a number and wait until it is called."""

    Process: TypeAlias = Sort
    Ticket: TypeAlias = Nat
    Place: TypeAlias = Enum["away", "waiting", "inside"]

    place: Map[Process, Place] = everywhere("away")
    ticket: Map[Process, Ticket] = everywhere(0)
    following: Ticket = 0
    called: Ticket = 0

    @action
    def draw(s, p: Process) -> None:
        """Draw a number."""
        require(s.place[p] == "away")
        s.place[p] = "waiting"
        s.ticket[p] = s.following
        s.following = s.following + 1

    @action
    def enter(s, p: Process) -> None:
        """Go in when the number is called."""
        require((s.place[p] == "waiting") & (s.ticket[p] == s.called))
        s.place[p] = "inside"

    @action
    def leave(s, p: Process) -> None:
        """Go out and call the next number."""
        require(s.place[p] == "inside")
        s.place[p] = "away"
        s.called = s.called + 1

    @invariant()
    def one_inside(s) -> Bool:
        """No two processes are inside."""
        return forall(
            s.Process,
            s.Process,
            lambda p, q: implies((s.place[p] == "inside") & (s.place[q] == "inside"), p == q),
        )

    @lemma()
    def inside_is_called(s) -> Bool:
        """Whoever is inside holds the number that was called."""
        return forall(s.Process, lambda p: implies(s.place[p] == "inside", s.ticket[p] == s.called))

    @lemma()
    def numbers_differ(s) -> Bool:
        """No number is held twice."""
        return forall(
            s.Process,
            s.Process,
            lambda p, q: implies(
                (s.place[p] != "away") & (s.place[q] != "away") & (s.ticket[p] == s.ticket[q]), p == q
            ),
        )

    @lemma()
    def numbers_were_drawn(s) -> Bool:
        """A number that is held was drawn."""
        return forall(s.Process, lambda p: implies(s.place[p] != "away", s.ticket[p] < s.following))

    @transition_invariant()
    def called_in_order(before, after: Self) -> Bool:
        """Numbers are called one after the other."""
        return (after.called == before.called) | (after.called == before.called + 1)

    @reachable(after="draw")
    def two_wait(before, after: Self, p: Process) -> Bool:
        """One process draws while another waits."""
        return exists(before.Process, lambda q: before.place[q] == "waiting")


class WithoutLemma(TicketLock):
    """True, but not inductive: nothing says that numbers differ."""

    numbers_differ = removed


class SameNumber(TicketLock):
    """Broken: everybody draws the same number."""

    def draw(s, p: TicketLock.Process) -> None:
        require(s.place[p] == "away")
        s.place[p] = "waiting"
        s.ticket[p] = s.following


class SkipsNumbers(TicketLock):
    """Broken in a step: two numbers are called at once."""

    def leave(s, p: TicketLock.Process) -> None:
        require(s.place[p] == "inside")
        s.place[p] = "away"
        s.called = s.called + 2


class Talkative(TicketLock):
    """Two lemmas that nobody needs, the second one weaker than another."""

    @lemma()
    def some_number(s) -> Bool:
        """Whoever is inside holds a number that was drawn."""
        return forall(s.Process, lambda p: implies(s.place[p] == "inside", s.ticket[p] < s.following))

    @lemma()
    def numbers_were_drawn_again(s) -> Bool:
        """A number that waits was drawn."""
        return forall(s.Process, lambda p: implies(s.place[p] == "waiting", s.ticket[p] <= s.following))


class RushedLock(TicketLock):
    """A process may go in before its number is called."""

    def enter(s, p: TicketLock.Process) -> None:
        require((s.place[p] == "waiting") & (s.ticket[p] >= s.called))
        s.place[p] = "inside"


class CountingLock(TicketLock):
    """Counts who went in: a variable that no claim speaks about."""

    entries: TicketLock.Ticket = 0

    def enter(s, p: TicketLock.Process) -> None:
        super().enter(p)
        s.entries = s.entries + 1


class LooselyNumbered(TicketLock):
    """The same steps; a lemma says less."""

    @lemma()
    def numbers_were_drawn(s) -> Bool:
        """A number that is held was drawn, or is the next."""
        return forall(s.Process, lambda p: implies(s.place[p] != "away", s.ticket[p] <= s.following))


class Desks(Protocol):
    """Guests wait at three desks, each with a number."""

    Guest: TypeAlias = Sort
    Number: TypeAlias = Nat
    Desk: TypeAlias = Enum["left", "middle", "right"]
    Place: TypeAlias = Enum["outside", "hall", "queue", "desk"]

    desk: Map[Guest, Desk] = everywhere("left")
    place: Map[Guest, Place] = everywhere("outside")
    number: Map[Guest, Number] = everywhere(0)

    def stands(s, other: Guest, guest: Guest, number: Number) -> Bool:
        """The other waits at the guest's desk, with this number."""
        return (s.desk[other] == s.desk[guest]) & (s.place[other] == "queue") & (s.number[other] == number)

    def first(s, guest: Guest) -> Number:
        """The least number at the guest's desk."""
        return least(s.Number, lambda n: exists(s.Guest, lambda g: s.stands(g, guest, n)), default=0)

    @action
    def come(s, guest: Guest, desk: Desk, number: Number) -> None:
        """A guest comes to a desk."""
        require(s.place[guest] == "outside")
        s.place[guest] = "queue"
        s.desk[guest] = desk
        s.number[guest] = number

    @action
    def leave(s, guest: Guest) -> None:
        """A guest leaves."""
        s.place[guest] = "outside"

    @invariant(source="tests")
    def a_desk_has_a_first(s) -> Bool:
        """Where a guest waits, one has the least number."""
        return forall(
            s.Guest,
            lambda g: implies(
                s.place[g] == "queue",
                (s.first(g) <= s.number[g]) & exists(s.Guest, lambda f: s.stands(f, g, s.first(g))),
            ),
        )

    @invariant(source="tests")
    def nobody_is_the_first(s) -> Bool:
        """What is false: each guest has a greater number than the first."""
        return forall(s.Guest, lambda g: implies(s.place[g] == "queue", s.first(g) < s.number[g]))
