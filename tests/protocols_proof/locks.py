"""A ticket lock for any number of processes, and what goes wrong with it."""

from tidemark.spec.language import (
    Enum,
    Map,
    Nat,
    Protocol,
    Sort,
    action,
    exists,
    forall,
    implies,
    invariant,
    least,
    lemma,
    reachable,
    require,
    transition_invariant,
)


class TicketLock(Protocol):
    """Processes draw a number and wait until it is called."""

    Process = Sort()
    Ticket = Nat()
    Place = Enum("away", "waiting", "inside")

    place: Map[Process, Place] = "away"
    ticket: Map[Process, Ticket] = 0
    following: Ticket = 0
    called: Ticket = 0

    @action
    def draw(s, p: Process):
        """Draw a number."""
        require(s.place[p] == "away")
        s.place[p] = "waiting"
        s.ticket[p] = s.following
        s.following = s.following + 1

    @action
    def enter(s, p: Process):
        """Go in when the number is called."""
        require((s.place[p] == "waiting") & (s.ticket[p] == s.called))
        s.place[p] = "inside"

    @action
    def leave(s, p: Process):
        """Go out and call the next number."""
        require(s.place[p] == "inside")
        s.place[p] = "away"
        s.called = s.called + 1

    @invariant()
    def one_inside(s):
        """No two processes are inside."""
        return forall(
            s.Process,
            s.Process,
            lambda p, q: implies((s.place[p] == "inside") & (s.place[q] == "inside"), p == q),
        )

    @lemma()
    def inside_is_called(s):
        """Whoever is inside holds the number that was called."""
        return forall(s.Process, lambda p: implies(s.place[p] == "inside", s.ticket[p] == s.called))

    @lemma()
    def numbers_differ(s):
        """No number is held twice."""
        return forall(
            s.Process,
            s.Process,
            lambda p, q: implies(
                (s.place[p] != "away") & (s.place[q] != "away") & (s.ticket[p] == s.ticket[q]), p == q
            ),
        )

    @lemma()
    def numbers_were_drawn(s):
        """A number that is held was drawn."""
        return forall(s.Process, lambda p: implies(s.place[p] != "away", s.ticket[p] < s.following))

    @transition_invariant()
    def called_in_order(before, after):
        """Numbers are called one after the other."""
        return (after.called == before.called) | (after.called == before.called + 1)

    @reachable(after="draw")
    def two_wait(before, after, p):
        """One process draws while another waits."""
        return exists(before.Process, lambda q: before.place[q] == "waiting")


class WithoutLemma(TicketLock):
    """True, but not inductive: nothing says that numbers differ."""

    numbers_differ = None


class SameNumber(TicketLock):
    """Broken: everybody draws the same number."""

    def draw(s, p):
        require(s.place[p] == "away")
        s.place[p] = "waiting"
        s.ticket[p] = s.following


class SkipsNumbers(TicketLock):
    """Broken in a step: two numbers are called at once."""

    def leave(s, p):
        require(s.place[p] == "inside")
        s.place[p] = "away"
        s.called = s.called + 2


class Talkative(TicketLock):
    """Two lemmas that nobody needs, the second one weaker than another."""

    @lemma()
    def some_number(s):
        """Whoever is inside holds a number that was drawn."""
        return forall(s.Process, lambda p: implies(s.place[p] == "inside", s.ticket[p] < s.following))

    @lemma()
    def numbers_were_drawn_again(s):
        """A number that waits was drawn."""
        return forall(s.Process, lambda p: implies(s.place[p] == "waiting", s.ticket[p] <= s.following))


class RushedLock(TicketLock):
    """A process may go in before its number is called."""

    @action
    def enter(s, p: TicketLock.Process):
        """Go in too early."""
        require((s.place[p] == "waiting") & (s.ticket[p] >= s.called))
        s.place[p] = "inside"


class CountingLock(TicketLock):
    """Counts who went in: a variable that no claim speaks about."""

    entries: TicketLock.Ticket = 0

    def enter(s, p):
        super().enter(p)
        s.entries = s.entries + 1


class LooselyNumbered(TicketLock):
    """The same steps; a lemma says less."""

    @lemma()
    def numbers_were_drawn(s):
        """A number that is held was drawn, or is the next."""
        return forall(s.Process, lambda p: implies(s.place[p] != "away", s.ticket[p] <= s.following))


class Desks(Protocol):
    """Guests wait at three desks, each with a number."""

    Guest = Sort()
    Number = Nat()
    Desk = Enum("left", "middle", "right")
    Place = Enum("outside", "hall", "queue", "desk")

    desk: Map[Guest, Desk] = "left"
    place: Map[Guest, Place] = "outside"
    number: Map[Guest, Number] = 0

    def stands(s, other, guest, number):
        """The other waits at the guest's desk, with this number."""
        return (s.desk[other] == s.desk[guest]) & (s.place[other] == "queue") & (s.number[other] == number)

    def first(s, guest):
        """The least number at the guest's desk."""
        return least(s.Number, lambda n: exists(s.Guest, lambda g: s.stands(g, guest, n)), default=0)

    @action
    def come(s, guest: Guest, desk: Desk, number: Number):
        """A guest comes to a desk."""
        require(s.place[guest] == "outside")
        s.place[guest] = "queue"
        s.desk[guest] = desk
        s.number[guest] = number

    @action
    def leave(s, guest: Guest):
        """A guest leaves."""
        s.place[guest] = "outside"

    @invariant(source="tests")
    def a_desk_has_a_first(s):
        """Where a guest waits, one has the least number."""
        return forall(
            s.Guest,
            lambda g: implies(
                s.place[g] == "queue",
                (s.first(g) <= s.number[g]) & exists(s.Guest, lambda f: s.stands(f, g, s.first(g))),
            ),
        )

    @invariant(source="tests")
    def nobody_is_the_first(s):
        """What is false: each guest has a greater number than the first."""
        return forall(s.Guest, lambda g: implies(s.place[g] == "queue", s.first(g) < s.number[g]))
