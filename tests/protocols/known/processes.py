"""Public models of processes: philosophers, trees, beans, the end of work on a ring."""

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
    everywhere,
    forall,
    implies,
    initially,
    invariant,
    ite,
    option,
    plain,
    require,
    transition_invariant,
    when,
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


class Ewd998(Protocol):
    """Nodes on a ring wake each other by messages. Each counts what it sent less what it received, and a
    token that goes round adds up the counts. Each reason for a new round makes a step of its own, as for TLC.
    """

    Node: TypeAlias = Nat
    Reason: TypeAlias = Nat
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

    @action
    def begin_round(s, why: Reason) -> None:
        """Node 0 sends a white token round, if the last round has shown nothing."""
        open_sum = plain(s.balance[0]) + plain(s.sum) > 0
        reasons = enumerate([s.token == "black", s.colour[0] == "black", open_sum])
        require((s.token_at == 0) & any_of(*((why == number) & reason for number, reason in reasons)))
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
