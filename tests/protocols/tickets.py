"""A counter with one ticket: some of its steps may be torn in two, others not."""

from tidemark.spec.language import (
    Enum,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    action,
    each,
    forall,
    implies,
    invariant,
    ite,
    reachable,
    require,
    transition_invariant,
)


class Tickets(Protocol):
    """Guests take a ticket, enter with it, and leave; the house may shut."""

    Guest = Sort()
    Left = Nat()
    Where = Enum("outside", "inside", "gone")

    left: Left = 1
    sold: Left = 0
    has: Set[Guest] = False
    where: Map[Guest, Where] = "outside"
    entries: Left = 0

    @action()
    def take(s, g: Guest):
        """It needs one step: of two guests who both see the last ticket both take it."""
        require((s.left > s.sold) & ~s.has[g])
        s.sold = s.sold + 1
        s.has[g] = True

    @action()
    def give_back(s, g: Guest):
        """The number of sold tickets falls: below zero, if the same ticket comes back twice."""
        require(s.has[g] & (s.where[g] == "outside"))
        s.sold = s.sold - 1
        s.has[g] = False

    @action()
    def enter(s, g: Guest):
        """It needs its own place: a guest who was shut out does not enter."""
        require(s.where[g] == "outside")
        s.where[g] = "inside"
        s.entries = s.entries + 1

    @action()
    def shut(s):
        """Who is outside goes; it ends what a guest has begun."""
        require(s.left > 0)
        s.left = 0
        s.has = each(s.Guest, lambda g: s.has[g] & (s.where[g] == "inside"))
        s.where = each(s.Guest, lambda g: ite(s.where[g] == "outside", "gone", s.where[g]))

    @invariant()
    def one_ticket(s):
        """One ticket is sold at most."""
        return s.sold <= 1

    @transition_invariant()
    def gone_is_gone(before, after):
        """Who is gone does not come back."""
        return forall(before.Guest, lambda g: implies(before.where[g] == "gone", after.where[g] == "gone"))

    @reachable(after="enter")
    def somebody_enters(after):
        """The house is not always empty."""
        return after.entries > 0
