"""Public models of processes: barriers, philosophers, trees, prisoners, beans, the end of work on a ring."""

from collections.abc import Sequence

from tidemark.spec.language import (
    Bool,
    Enum,
    Int,
    Map,
    Nat,
    Protocol,
    Self,
    Sort,
    TypeAlias,
    action,
    all_of,
    any_of,
    anything,
    constant,
    count,
    each,
    everywhere,
    exists,
    forall,
    implies,
    initially,
    invariant,
    ite,
    one_of,
    option,
    other_parameters,
    plain,
    require,
    transition_invariant,
    when,
)


class Barriers(Protocol):
    """A barrier of semaphores that can be used again: all meet in a first chamber, then in a second one."""

    Process: TypeAlias = Sort
    Number: TypeAlias = Nat
    Chamber: TypeAlias = Enum["first", "second"]
    Place: TypeAlias = Enum["outside", "at_lock", "counting", "comparing", "opening", "unlocking", "at_gate"]

    everybody: Number = constant()

    chamber: Map[Process, Chamber] = everywhere("first")
    place: Map[Process, Place] = everywhere("outside")
    locked: Bool = False
    gate: Map[Chamber, Number] = everywhere(0)
    meeting: Number = 0

    def go(s, p: Process, start: Place, end) -> None:
        """From one place to another."""
        require(s.place[p] == start)
        s.place[p] = end

    @action
    def arrive(s, p: Process) -> None:
        """Leave one's own work."""
        s.go(p, "outside", "at_lock")

    @action
    def lock(s, p: Process) -> None:
        """Take the lock."""
        require(~s.locked)
        s.go(p, "at_lock", "counting")
        s.locked = True

    @action
    def count_oneself(s, p: Process) -> None:
        """Count oneself in, or out in the second chamber."""
        s.go(p, "counting", "comparing")
        s.meeting = s.meeting + ite(s.chamber[p] == "first", 1, -1)

    @action
    def compare(s, p: Process) -> None:
        """See whether one is the last."""
        last = s.meeting == ite(s.chamber[p] == "first", s.everybody, 0)
        s.go(p, "comparing", ite(last, "opening", "unlocking"))

    @action
    def open_gate(s, p: Process) -> None:
        """The last one opens the gate for all."""
        s.go(p, "opening", "unlocking")
        s.gate[s.chamber[p]] = s.gate[s.chamber[p]] + s.everybody

    @action
    def unlock(s, p: Process) -> None:
        """Give the lock back."""
        s.go(p, "unlocking", "at_gate")
        s.locked = False

    @action
    def go_through(s, p: Process) -> None:
        """Through the gate: into the second chamber, or out of it."""
        s.go(p, "at_gate", ite(s.chamber[p] == "first", "at_lock", "outside"))
        require(s.gate[s.chamber[p]] > 0)
        s.gate[s.chamber[p]] = s.gate[s.chamber[p]] - 1
        s.chamber[p] = ite(s.chamber[p] == "first", "second", "first")

    def holds_lock(s, p: Process) -> Bool:
        """The process is between lock and unlock."""
        return one_of(s.place[p], "counting", "comparing", "opening", "unlocking")

    @invariant()
    def one_holds_the_lock(s) -> Bool:
        """The lock is held by one process, if at all."""
        return count(s.Process, s.holds_lock) == ite(s.locked, 1, 0)

    @invariant()
    def one_gate_is_closed(s) -> Bool:
        """Never are both gates open."""
        return (s.gate["first"] == 0) | (s.gate["second"] == 0)

    def before_gate(s, p: Process, chamber: Chamber) -> Bool:
        """The process has not passed the lock of this chamber for good."""
        return (s.chamber[p] == chamber) & ~one_of(s.place[p], "unlocking", "at_gate")

    @invariant()
    def nobody_overtakes(s) -> Bool:
        """While somebody is on the way to one gate, nobody is on the way to the other."""
        return ~exists(
            s.Process, s.Process, lambda p, q: s.before_gate(p, "first") & s.before_gate(q, "second")
        )


class DiningPhilosophers(Protocol):
    """Philosophers hand forks to each other: a dirty one is cleaned and handed over, a clean one is kept."""

    Seat: TypeAlias = Nat
    Place: TypeAlias = Enum["asking", "eating", "thinking"]

    last: Seat = constant()

    place: Map[Seat, Place] = everywhere("asking")
    hungry: Map[Seat, Bool] = everywhere(True)
    holder: Map[Seat, Seat] = anything
    clean: Map[Seat, Bool] = everywhere(False)

    @initially
    def the_first_holds_two_forks(s) -> Bool:
        return forall(s.Seat, lambda fork: s.holder[fork] == ite(fork == 1, 0, fork))

    def right(s, p: Seat) -> Seat:
        """The seat to the right, and the fork between."""
        return ite(p == s.last, 0, p + 1)

    def left(s, p: Seat) -> Seat:
        """The seat to the left; the fork between has one's own number."""
        return ite(p == 0, s.last, p - 1)

    def can_eat(s, p: Seat) -> Bool:
        """Both forks are here and clean."""
        return forall(
            s.Seat, lambda f: implies((f == p) | (f == s.right(p)), (s.holder[f] == p) & s.clean[f])
        )

    def is_dirty(s, p: Seat, fork: Seat) -> Bool:
        """The fork is here and dirty."""
        return (s.holder[fork] == p) & ~s.clean[fork]

    def hand_over(s, fork: Seat, neighbour: Seat) -> None:
        """Clean a fork and give it away."""
        s.holder[fork] = neighbour
        s.clean[fork] = True

    @action
    def ask(s, p: Seat) -> None:
        """Hand over a dirty fork, the left one first; then eat, think, or ask again."""
        require(s.place[p] == "asking")
        s.place[p] = ite(~s.hungry[p], "thinking", ite(s.can_eat(p), "eating", "asking"))
        left, right = s.is_dirty(p, p), s.is_dirty(p, s.right(p))
        with when(left):
            s.hand_over(p, s.left(p))
        with when(right & ~left):
            s.hand_over(s.right(p), s.right(p))

    @action
    def think(s, p: Seat) -> None:
        """Become hungry."""
        require(s.place[p] == "thinking")
        s.hungry[p] = True
        s.place[p] = "asking"

    @action
    def eat(s, p: Seat) -> None:
        """Eat, and make both forks dirty."""
        require(s.place[p] == "eating")
        s.hungry[p] = False
        s.clean[p] = False
        s.clean[s.right(p)] = False
        s.place[p] = "asking"

    @invariant()
    def neighbours_do_not_eat_together(s) -> Bool:
        """Two that share a fork never eat at the same time."""
        return forall(s.Seat, lambda p: ~((s.place[p] == "eating") & (s.place[s.right(p)] == "eating")))


class Simple(Protocol):
    """Each process says that it was here, then looks at its left neighbour. Somebody sees somebody."""

    Process: TypeAlias = Nat
    Place: TypeAlias = Enum["saying", "looking", "done"]

    last: Process = constant()

    said: Map[Process, Bool] = everywhere(False)
    saw: Map[Process, Bool] = everywhere(False)
    place: Map[Process, Place] = everywhere("saying")

    @action
    def say(s, p: Process) -> None:
        """Say that one was here."""
        require(s.place[p] == "saying")
        s.said[p] = True
        s.place[p] = "looking"

    @action
    def look(s, p: Process) -> None:
        """Look at the neighbour."""
        require(s.place[p] == "looking")
        s.saw[p] = s.said[ite(p == 0, s.last, p - 1)]
        s.place[p] = "done"

    def all_are_done(s) -> Bool:
        """Everybody has looked."""
        return forall(s.Process, lambda p: s.place[p] == "done")

    @action
    def rest(s) -> None:
        """All stay as they are."""
        require(s.all_are_done())
        s.place = each(s.Process, lambda p: "done")

    @invariant()
    def somebody_saw(s) -> Bool:
        """When all are done, somebody saw somebody."""
        return implies(s.all_are_done(), exists(s.Process, lambda p: s.saw[p]))


class SpanningTree(Protocol):
    """Nodes of a graph come nearer to the root, by way of a neighbour, until the distances are right."""

    Node: TypeAlias = Sort
    Distance: TypeAlias = Nat

    root: Node = constant()
    edge: Map[Node, Node, Bool] = constant()
    far: Distance = option(6)

    parent: Map[Node, Node] = anything
    distance: Map[Node, Distance] = anything

    @initially
    def everybody_is_alone(s) -> Bool:
        return forall(s.Node, lambda n: (s.parent[n] == n) & (s.distance[n] == ite(n == s.root, 0, s.far)))

    @action
    def come_nearer(s, n: Node, m: Node, d: Distance) -> None:
        """A node takes a neighbour as its parent, with any distance between the neighbour's and its own."""
        require(s.edge[n, m])
        require((s.distance[m] < d) & (d < s.distance[n]))
        s.distance[n] = d
        s.parent[n] = m

    @invariant()
    def no_parent_is_farther(s) -> Bool:
        """Whoever has a parent is farther away than it."""
        return forall(s.Node, lambda n: (s.parent[n] == n) | (s.distance[s.parent[n]] < s.distance[n]))


class Prisoners(Protocol):
    """Each visitor must flip one of two switches. One prisoner counts how often he finds the first one up;
    the others put it up twice each.
    """

    Prisoner: TypeAlias = Sort
    Number: TypeAlias = Nat

    counter: Prisoner = constant()
    others: Number = constant()

    a_is_up: Bool = anything
    b_is_up: Bool = anything
    flipped: Map[Prisoner, Number] = everywhere(0)
    counted: Number = 0

    @action
    def count_visit(s) -> None:
        """The counter puts the first switch down and counts, or flips the second."""
        up = s.a_is_up
        with when(up):
            s.a_is_up = False
            s.counted = s.counted + 1
        with when(~up):
            s.b_is_up = ~s.b_is_up

    @action
    def visit(s, p: Prisoner) -> None:
        """Another one puts the first switch up if he may, or flips the second."""
        require(p != s.counter)
        puts_up = ~s.a_is_up & (s.flipped[p] < 2)
        with when(puts_up):
            s.a_is_up = True
            s.flipped[p] = s.flipped[p] + 1
        with when(~puts_up):
            s.b_is_up = ~s.b_is_up

    @invariant()
    def all_have_been_there(s) -> Bool:
        """When the counter has counted twice per prisoner, everybody has been there."""
        return implies(
            s.counted == 2 * s.others, forall(s.Prisoner, lambda p: (p == s.counter) | (s.flipped[p] > 0))
        )


class CoffeeCan(Protocol):
    """Two beans are taken; two of a kind are replaced by a black one, else the white one is put back."""

    Bean: TypeAlias = Nat

    most: Bean = constant()

    black: Bean = anything
    white: Bean = anything

    @initially
    def some_beans(s) -> Bool:
        return (s.black + s.white >= 1) & (s.black + s.white <= s.most)

    @action
    def take_two_white(s) -> None:
        """Two white beans become a black one."""
        require(s.white >= 2)
        s.white = s.white - 2
        s.black = s.black + 1

    @action
    def take_two_black(s) -> None:
        """Two black beans become one."""
        require(s.black >= 2)
        s.black = s.black - 1

    @action
    def take_both(s) -> None:
        """The black bean of a mixed pair is thrown away."""
        require((s.black >= 1) & (s.white >= 1))
        s.black = s.black - 1

    @action
    def rest(s) -> None:
        """One bean is left, and stays."""
        require(s.black + s.white == 1)
        s.black = 1 - s.white

    @transition_invariant()
    def white_stays_even(before, after: Self) -> Bool:
        """The number of white beans stays even, or odd."""
        return before.white % 2 == after.white % 2

    @transition_invariant()
    def fewer_each_time(before, after: Self) -> Bool:
        """There are fewer beans after each step but the last."""
        return (after.black + after.white < before.black + before.white) | (before.black + before.white == 1)


def holds(reasons: Sequence[Bool], why: int) -> Bool:
    """The reason with the number ``why`` holds."""
    return any_of(*((why == number) & reason for number, reason in enumerate(reasons)))


class Ewd998(Protocol):
    """Nodes on a ring wake each other by messages. Each counts what it sent less what it received, and a
    token that goes round adds up the counts.
    """

    Node: TypeAlias = Nat
    Message: TypeAlias = Nat
    Balance: TypeAlias = Int
    Sum: TypeAlias = Int
    Colour: TypeAlias = Enum["white", "black"]

    last: Node = constant()

    active: Map[Node, Bool] = anything
    colour: Map[Node, Colour] = anything
    balance: Map[Node, Balance] = everywhere(0)
    travelling: Map[Node, Message] = everywhere(0)
    token_at: Node = anything
    token: Colour = "black"
    sum: Sum = 0

    def probe_failed(s) -> list[Bool]:
        """Reasons to begin a new round."""
        found = plain(s.balance[0]) + plain(s.sum) > 0
        return [s.token == "black", s.colour[0] == "black", found]

    @action
    def begin_round(s) -> None:
        """Node 0 sends a white token round, if the last round has shown nothing."""
        require((s.token_at == 0) & any_of(*s.probe_failed()))
        s.token_at = s.last
        s.token = "white"
        s.sum = 0
        s.colour[0] = "white"

    @action
    def pass_token(s, i: Node) -> None:
        """An inactive node adds its count and passes the token on, stained if the node is black."""
        require((i > 0) & (s.token_at == i) & ~s.active[i])
        s.token_at = i - 1
        with when(s.colour[i] == "black"):
            s.token = "black"
        s.sum = s.sum + plain(s.balance[i])
        s.colour[i] = "white"

    @action
    def send(s, i: Node, j: Node) -> None:
        """An active node sends a message to another one."""
        require(s.active[i] & (i != j))
        s.balance[i] = s.balance[i] + 1
        s.travelling[j] = s.travelling[j] + 1

    @action
    def receive(s, i: Node) -> None:
        """A message wakes and blackens whom it reaches."""
        require(s.travelling[i] > 0)
        s.travelling[i] = s.travelling[i] - 1
        s.balance[i] = s.balance[i] - 1
        s.colour[i] = "black"
        s.active[i] = True

    @action
    def sleep(s, i: Node) -> None:
        """A node becomes inactive."""
        require(s.active[i])
        s.active[i] = False

    @invariant()
    def detection_is_right(s) -> Bool:
        """If node 0 finds that all work has ended, it has, and no message travels."""
        detected = all_of(
            s.token_at == 0,
            s.token == "white",
            s.colour[0] == "white",
            ~s.active[0],
            plain(s.balance[0]) + plain(s.sum) == 0,
        )
        return implies(detected, forall(s.Node, lambda i: ~s.active[i] & (s.travelling[i] == 0)))


class Ewd998ByReason(Ewd998):
    """Every reason for a step is a step of its own, as it is for TLC."""

    Reason: TypeAlias = Nat

    @other_parameters
    @action
    def begin_round(s, why: Reason) -> None:
        require(holds(s.probe_failed(), why))
        super().begin_round()
