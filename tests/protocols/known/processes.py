"""Processes that share memory: a reusable barrier, philosophers, a lesson about concurrency."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
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
    invariant,
    ite,
    one_of,
    option,
    require,
    when,
)


class Barriers(Protocol):
    """A barrier of semaphores that can be used again: all meet in a first chamber, then in a second one."""

    Process = Sort()
    Number = Nat()
    Chamber = Enum("first", "second")
    Place = Enum("outside", "at_lock", "counting", "comparing", "opening", "unlocking", "at_gate")

    everybody: Number = constant()

    chamber: Map[Process, Chamber] = "first"
    place: Map[Process, Place] = "outside"
    locked: Bool = False
    gate: Map[Chamber, Number] = 0
    meeting: Number = 0

    def go(s, p, start, end):
        """From one place to another."""
        require(s.place[p] == start)
        s.place[p] = end

    @action
    def arrive(s, p: Process):
        """Leave one's own work."""
        s.go(p, "outside", "at_lock")

    @action
    def lock(s, p: Process):
        """Take the lock."""
        require(~s.locked)
        s.go(p, "at_lock", "counting")
        s.locked = True

    @action
    def count_oneself(s, p: Process):
        """Count oneself in, or out in the second chamber."""
        s.go(p, "counting", "comparing")
        s.meeting = s.meeting + ite(s.chamber[p] == "first", 1, -1)

    @action
    def compare(s, p: Process):
        """See whether one is the last."""
        last = s.meeting == ite(s.chamber[p] == "first", s.everybody, 0)
        s.go(p, "comparing", ite(last, "opening", "unlocking"))

    @action
    def open_gate(s, p: Process):
        """The last one opens the gate for all."""
        s.go(p, "opening", "unlocking")
        s.gate[s.chamber[p]] = s.gate[s.chamber[p]] + s.everybody

    @action
    def unlock(s, p: Process):
        """Give the lock back."""
        s.go(p, "unlocking", "at_gate")
        s.locked = False

    @action
    def go_through(s, p: Process):
        """Through the gate: into the second chamber, or out of it."""
        s.go(p, "at_gate", ite(s.chamber[p] == "first", "at_lock", "outside"))
        require(s.gate[s.chamber[p]] > 0)
        s.gate[s.chamber[p]] = s.gate[s.chamber[p]] - 1
        s.chamber[p] = ite(s.chamber[p] == "first", "second", "first")

    def holds_lock(s, p):
        """The process is between lock and unlock."""
        return one_of(s.place[p], "counting", "comparing", "opening", "unlocking")

    @invariant()
    def one_holds_the_lock(s):
        """The lock is held by one process, if at all."""
        return count(s.Process, s.holds_lock) == ite(s.locked, 1, 0)

    @invariant()
    def one_gate_is_closed(s):
        """Never are both gates open."""
        return (s.gate["first"] == 0) | (s.gate["second"] == 0)

    def before_gate(s, p, chamber):
        """The process has not passed the lock of this chamber for good."""
        return (s.chamber[p] == chamber) & ~one_of(s.place[p], "unlocking", "at_gate")

    @invariant()
    def nobody_overtakes(s):
        """While somebody is on the way to one gate, nobody is on the way to the other."""
        return ~exists(
            s.Process, s.Process, lambda p, q: s.before_gate(p, "first") & s.before_gate(q, "second")
        )


class DiningPhilosophers(Protocol):
    """Philosophers hand forks to each other: a dirty one is cleaned and handed over, a clean one is kept."""

    Seat = Nat()
    Place = Enum("asking", "eating", "thinking")

    last: Seat = constant()

    place: Map[Seat, Place] = "asking"
    hungry: Map[Seat, Bool] = True
    holder: Map[Seat, Seat] = anything
    clean: Map[Seat, Bool] = False

    @initially
    def the_first_holds_two_forks(s):
        return forall(s.Seat, lambda fork: s.holder[fork] == ite(fork == 1, 0, fork))

    def right(s, p):
        """The seat to the right, and the fork between."""
        return ite(p == s.last, 0, p + 1)

    def left(s, p):
        """The seat to the left; the fork between has one's own number."""
        return ite(p == 0, s.last, p - 1)

    def can_eat(s, p):
        """Both forks are here and clean."""
        return forall(
            s.Seat, lambda f: implies((f == p) | (f == s.right(p)), (s.holder[f] == p) & s.clean[f])
        )

    def is_dirty(s, p, fork):
        """The fork is here and dirty."""
        return (s.holder[fork] == p) & ~s.clean[fork]

    def hand_over(s, fork, neighbour):
        """Clean a fork and give it away."""
        s.holder[fork] = neighbour
        s.clean[fork] = True

    @action
    def ask(s, p: Seat):
        """Hand over a dirty fork, the left one first; then eat, think, or ask again."""
        require(s.place[p] == "asking")
        s.place[p] = ite(~s.hungry[p], "thinking", ite(s.can_eat(p), "eating", "asking"))
        left, right = s.is_dirty(p, p), s.is_dirty(p, s.right(p))
        with when(left):
            s.hand_over(p, s.left(p))
        with when(right & ~left):
            s.hand_over(s.right(p), s.right(p))

    @action
    def think(s, p: Seat):
        """Become hungry."""
        require(s.place[p] == "thinking")
        s.hungry[p] = True
        s.place[p] = "asking"

    @action
    def eat(s, p: Seat):
        """Eat, and make both forks dirty."""
        require(s.place[p] == "eating")
        s.hungry[p] = False
        s.clean[p] = False
        s.clean[s.right(p)] = False
        s.place[p] = "asking"

    @invariant()
    def neighbours_do_not_eat_together(s):
        """Two that share a fork never eat at the same time."""
        return forall(s.Seat, lambda p: ~((s.place[p] == "eating") & (s.place[s.right(p)] == "eating")))


class Simple(Protocol):
    """Each process says that it was here, then looks at its left neighbour. Somebody sees somebody."""

    Process = Nat()
    Place = Enum("saying", "looking", "done")

    last: Process = constant()

    said: Map[Process, Bool] = False
    saw: Map[Process, Bool] = False
    place: Map[Process, Place] = "saying"

    @action
    def say(s, p: Process):
        """Say that one was here."""
        require(s.place[p] == "saying")
        s.said[p] = True
        s.place[p] = "looking"

    @action
    def look(s, p: Process):
        """Look at the neighbour."""
        require(s.place[p] == "looking")
        s.saw[p] = s.said[ite(p == 0, s.last, p - 1)]
        s.place[p] = "done"

    def all_are_done(s):
        """Everybody has looked."""
        return forall(s.Process, lambda p: s.place[p] == "done")

    @action
    def rest(s):
        """All stay as they are."""
        require(s.all_are_done())
        s.place = each(s.Process, lambda p: "done")

    @invariant()
    def somebody_saw(s):
        """When all are done, somebody saw somebody."""
        return implies(s.all_are_done(), exists(s.Process, lambda p: s.saw[p]))


class SpanningTree(Protocol):
    """Nodes of a graph come nearer to the root, by way of a neighbour, until the distances are right."""

    Node = Sort()
    Distance = Nat()

    root: Node = constant()
    edge: Map[Node, Node, Bool] = constant()
    far: Distance = option(6)

    parent: Map[Node, Node] = anything
    distance: Map[Node, Distance] = anything

    @initially
    def everybody_is_alone(s):
        return forall(
            s.Node,
            lambda n: (s.parent[n] == n) & (s.distance[n] == ite(n == s.root, 0, s.far)),
        )

    @action
    def come_nearer(s, n: Node, m: Node, d: Distance):
        """A node takes a neighbour as its parent, with any distance between the neighbour's and its own."""
        require(s.edge[n, m])
        require((s.distance[m] < d) & (d < s.distance[n]))
        s.distance[n] = d
        s.parent[n] = m

    @invariant()
    def no_parent_is_farther(s):
        """Whoever has a parent is farther away than it."""
        return forall(s.Node, lambda n: (s.parent[n] == n) | (s.distance[s.parent[n]] < s.distance[n]))
