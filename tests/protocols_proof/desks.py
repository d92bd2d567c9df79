"""Guests at desks: a protocol whose claims speak of a least number for which somebody exists."""

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
    require,
)


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
