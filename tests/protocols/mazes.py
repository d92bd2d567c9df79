"""Protocols for searches: drawn graphs, claims about steps and first states, named elements."""

from tidemark.spec.language import (
    Bool,
    Int,
    Map,
    Nat,
    Protocol,
    Self,
    Set,
    Sort,
    TypeAlias,
    action,
    anything,
    constant,
    everywhere,
    invariant,
    ite,
    leads_to,
    minimum,
    plain,
    removed,
    require,
    transition_invariant,
)


class Maze(Protocol):
    """Somebody walks; each door leads from each spot to the spot that the instance says."""

    Spot: TypeAlias = Sort

    left: Map[Spot, Spot] = constant()
    right: Map[Spot, Spot] = constant()
    down: Map[Spot, Spot] = constant()
    calls: Set[Spot] = constant()
    comes: Set[Spot] = constant()

    at: Spot = anything

    @action(fairness="weak")
    def go_left(s) -> None:
        """Through the left door; from some spots it leads nowhere."""
        s.at = s.left[s.at]

    @action(fairness="strong")
    def go_right(s) -> None:
        """Through the right door."""
        s.at = s.right[s.at]

    @action(fairness="none")
    def go_down(s) -> None:
        """Through the trap door."""
        s.at = s.down[s.at]

    @leads_to()
    def calls_are_heard(s) -> tuple[Bool, Bool]:
        """Whoever calls comes to where that is heard."""
        return s.calls[s.at], s.comes[s.at]

    @leads_to(without=("go_right",))
    def calls_are_heard_on_the_left(s) -> tuple[Bool, Bool]:
        """The same, if nothing is known of the right door."""
        return s.calls[s.at], s.comes[s.at]


class Wraps(Protocol):
    """Steps that break a claim about steps: one leads to a state that is known, one may leave the bounds."""

    Hour: TypeAlias = Nat
    Slot: TypeAlias = Nat
    hour: Hour = 0
    slot: Slot = 0

    @action
    def tick(s) -> None:
        """From the last hour to the first one, which was seen before."""
        s.hour = ite(s.hour == 3, 0, s.hour + 1)

    @action
    def jump(s, slot: Slot) -> None:
        """Twice as far, perhaps beyond the bounds."""
        require(s.slot == slot)
        s.slot = 2 * slot + 1

    @transition_invariant()
    def hours_never_go_back(before, after: Self) -> Bool:
        """False at midnight."""
        return after.hour >= before.hour

    @transition_invariant()
    def slots_are_taken_in_order(before, after: Self) -> Bool:
        """False from the second slot on."""
        return after.slot <= before.slot + 1

    @leads_to()
    def a_negative_hour_is_repaired(s) -> tuple[Bool, Bool]:
        """Says nothing: there is no such hour."""
        return s.hour > 8, s.hour == 0


class BornBroken(Protocol):
    """A claim is false at the start, and after a step it is not."""

    Hour: TypeAlias = Nat
    hour: Hour = 0

    @action
    def tick(s) -> None:
        """Time goes on."""
        s.hour = s.hour + 1

    @invariant()
    def begun(s) -> Bool:
        """False at the start only."""
        return s.hour > 0


class Relation(Protocol):
    """Any relation of nodes, one of them, and a colour."""

    Node: TypeAlias = Sort
    Colour: TypeAlias = Sort
    related: Map[Node, Node, Bool] = everywhere(False)
    chosen: Node = anything
    colour: Colour = anything

    @action
    def change(s, a: Node, b: Node) -> None:
        """Two nodes are related, or are not any more."""
        s.related[a, b] = ~s.related[a, b]

    @action
    def choose(s, n: Node, c: Colour) -> None:
        """Another node is chosen, and a colour."""
        s.chosen = n
        s.colour = c


class Named(Protocol):
    """A token that only one node may take."""

    Node: TypeAlias = Sort
    first: Node = constant()
    holder: Node = anything
    taken: Bool = False

    @action
    def take(s) -> None:
        """The node that comes first takes the token."""
        s.holder = s.first
        s.taken = True

    @invariant()
    def held(s) -> Bool:
        """Who has taken it is the first one."""
        return ~s.taken | (s.holder == s.first)


class Log(Protocol):
    """Who has written each place of a log: beyond the bounds, always the first node."""

    Node: TypeAlias = Sort
    Place: TypeAlias = Nat
    writer: Map[Place, Node] = anything
    place: Place = 0

    @action
    def write(s, node: Node) -> None:
        """At the next place."""
        s.writer[s.place] = node
        s.place = s.place + 1

    @invariant()
    def the_first_two_agree(s) -> Bool:
        """Wrong: somebody else may write the next one."""
        return (s.place != 2) | (s.writer[0] == s.writer[1])


class Shop(Protocol):
    """Goods are taken off shelves: how many, and how many must be there, says the instance."""

    Shelf: TypeAlias = Sort
    Amount: TypeAlias = Nat
    Balance: TypeAlias = Int

    takes: Map[Shelf, Amount] = constant()
    needs: Map[Shelf, Amount] = constant()
    brings: Map[Shelf, Amount] = constant()
    next: Map[Shelf, Shelf] = constant()

    stock: Map[Shelf, Amount] = everywhere(1)
    spare: Amount = 2
    balance: Balance = 0
    marked: Set[Amount] = everywhere(False)

    @action
    def move(s, shelf: Shelf) -> None:
        """From a shelf to the next one; what lies between is in nobody's way."""
        require(s.stock[shelf] >= s.needs[shelf])
        left = s.stock[shelf] - s.takes[shelf]
        s.stock[shelf] = left
        other = s.next[shelf]
        s.stock[other] = s.stock[other] + s.brings[other]

    @action
    def spend(s, shelf: Shelf, amount: Amount) -> None:
        """Of the spare goods; the balance may be negative."""
        require((amount == s.takes[shelf]) & (amount > 0) & (s.spare + s.brings[shelf] >= amount))
        s.spare = s.spare - amount
        s.balance = s.balance - 1

    @action
    def mark(s, shelf: Shelf) -> None:
        """The place below the spare goods."""
        require(s.balance <= plain(s.needs[shelf]) - 2)
        s.marked[s.spare - s.brings[shelf]] = True

    @action
    def look(s, amount: Amount) -> None:
        """What is only looked at may be negative."""
        require((amount - s.spare < 2) & ~s.marked[s.spare - 4])
        s.balance = minimum(s.balance + 1, 0)

    @invariant()
    def little_is_spare(s) -> Bool:
        """The spare goods become fewer."""
        return s.spare <= 2


class Till(Protocol):
    """One coin too many is given: the fault is five steps away, and only with the second key."""

    Key: TypeAlias = Nat
    Coins: TypeAlias = Nat
    coins: Coins = 2
    paid: Map[Key, Coins] = everywhere(0)
    turns: Coins = 0

    @action
    def turn(s) -> None:
        """Nothing is given."""
        require(s.turns < 2)
        s.turns = s.turns + 1

    @action
    def give(s, key: Key) -> None:
        """The second key does not look whether there is a coin."""
        require((s.turns == 2) & ((key == 1) | (s.coins > 0)))
        s.coins = s.coins - 1
        s.paid[key] = s.paid[key] + 1

    @invariant()
    def at_most_two(s) -> Bool:
        """There are two coins."""
        return s.coins <= 2


class Bells(Protocol):
    """All bells ring; only those are answered that somebody hears."""

    Bell: TypeAlias = Sort
    heard: Set[Bell] = constant()
    rings: Set[Bell] = everywhere(True)

    @action(fairness="weak")
    def answer(s, bell: Bell) -> None:
        """It stops."""
        require(s.rings[bell] & s.heard[bell])
        s.rings[bell] = False

    @leads_to()
    def bells_are_answered(s, bell: Bell) -> tuple[Bool, Bool]:
        """A bell stops."""
        return s.rings[bell], ~s.rings[bell]


class Lights(Protocol):
    """A light goes on if the next one is off, which may lie beyond the last one."""

    Place: TypeAlias = Nat
    lit: Set[Place] = everywhere(False)

    @action
    def light(s, place: Place) -> None:
        """One goes on."""
        require(~s.lit[place] & ~s.lit[place + 1])
        s.lit[place] = True

    @invariant()
    def the_last_is_dark(s) -> Bool:
        """False of three lights: what comes after the last one is off."""
        return ~s.lit[2]


class Desk(Protocol):
    """Whoever comes gets the next ticket; the last ticket is the bound's."""

    Ticket: TypeAlias = Nat
    ticket: Ticket = 0
    waiting: Bool = False

    @action
    def come(s) -> None:
        """Somebody comes."""
        require(~s.waiting)
        s.waiting = True

    @action(fairness="weak")
    def serve(s, ticket: Ticket) -> None:
        """The next ticket is given as an argument."""
        require(s.waiting & (ticket == s.ticket + 1))
        s.ticket = ticket
        s.waiting = False

    @leads_to()
    def everybody_is_served(s) -> tuple[Bool, Bool]:
        """Whoever waits is served."""
        return s.waiting, ~s.waiting


class PlainDesk(Desk):
    """The same, but the number is computed: the step leaves the bounds."""

    serve = removed

    @action(fairness="weak")
    def call(s) -> None:
        """The next ticket is given."""
        require(s.waiting)
        s.ticket = s.ticket + 1
        s.waiting = False


class IdleDesk(Desk):
    """Nobody has to serve: no bound is to blame."""

    serve = removed

    @action
    def close(s) -> None:
        """Nobody waits any more."""
        s.waiting = False
