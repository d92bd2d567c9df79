"""Protocols that use the pieces of the library, and one that says the same by hand."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Self,
    Set,
    Sort,
    TypeAlias,
    action,
    each,
    everywhere,
    exists,
    forall,
    implies,
    invariant,
    ite,
    lemma,
    reachable,
    removed,
    require,
)
from tidemark.spec.library import Bag, Queue, Quorums, Subsets


class Courier(Protocol):
    """Letters and parcels wait in a queue, travel in a bag, and arrive in any order or not at all."""

    Node: TypeAlias = Sort
    Place: TypeAlias = Nat
    Kind: TypeAlias = Enum["letter", "parcel"]

    queue = Queue(Kind, Node, place=Place)
    road = Bag(Kind, Node)

    @action
    def post(s, kind: Kind, node: Node) -> None:
        """Something is posted."""
        s.queue.put(kind, node)

    @action
    def leave(s, kind: Kind, node: Node) -> None:
        """The first one leaves."""
        s.queue.take(kind, node)
        s.road.put(kind, node)

    @action
    def arrive(s, kind: Kind, node: Node) -> None:
        """One arrives, or is lost."""
        s.road.take(kind, node)

    @action
    def hurry(s, kind: Kind, node: Node) -> None:
        """What waits is posted again if nothing travels."""
        require(s.queue.has(kind, node) & s.road.empty & ~s.queue.empty)
        s.queue.put(kind, node)

    @action
    def publish(s, kind: Kind) -> None:
        """One of a kind travels to each node."""
        s.road.put_all(lambda k, n: k == kind)

    @invariant()
    def one_first(s) -> Bool:
        """Nothing but the first one can leave."""
        return forall(
            s.Kind,
            s.Kind,
            s.Node,
            s.Node,
            lambda k, o, n, m: implies(s.queue.first(k, n) & s.queue.first(o, m), (k == o) & (n == m)),
        )

    @reachable(after="leave")
    def full_road(s, node: Node) -> Bool:
        """Both kinds are on the way to a node."""
        return s.road.has("letter", node) & s.road.has("parcel", node)


class Counted(Protocol):
    """A bag that knows how often."""

    Kind: TypeAlias = Enum["letter", "parcel"]
    Count: TypeAlias = Nat

    road = Bag(Kind, copies=Count)

    @action
    def send(s, kind: Kind) -> None:
        """One more."""
        s.road.put(kind)

    @action
    def arrive(s, kind: Kind) -> None:
        """One less."""
        s.road.take(kind)

    @action
    def both(s) -> None:
        """One more of each."""
        s.road.put_all(lambda kind: s.road.has("letter") | (kind == "parcel"))


class CourierByHand(Protocol):
    """A queue of one field without the library: what is beyond its end is reset by hand."""

    Place: TypeAlias = Nat
    Kind: TypeAlias = Enum["none", "letter", "parcel"]

    item: Map[Place, Kind] = everywhere("none")
    length: Place = 0

    @action
    def post(s, kind: Kind) -> None:
        """Something is posted."""
        require(kind != "none")
        s.item[s.length] = kind
        s.length = s.length + 1

    @action
    def leave(s) -> None:
        """The first one leaves."""
        require(s.length > 0)
        s.item = each(s.Place, lambda p: ite(p + 1 < s.length, s.item[p + 1], "none"))
        s.length = s.length - 1


class CourierByPiece(Protocol):
    """The same with the library."""

    Place: TypeAlias = Nat
    Kind: TypeAlias = Enum["letter", "parcel"]

    queue = Queue(Kind, place=Place)

    @action
    def post(s, kind: Kind) -> None:
        """Something is posted."""
        s.queue.put(kind)

    @action
    def leave(s, kind: Kind) -> None:
        """The first one leaves."""
        s.queue.take(kind)


class Polls(Protocol):
    """A set of nodes is asked at once; what a quorum says is decided."""

    Node: TypeAlias = Sort
    Group: TypeAlias = Sort
    Quorum: TypeAlias = Sort
    Answer: TypeAlias = Enum["yes", "no"]

    groups = Subsets(Group, Node)
    quorums = Quorums(Quorum, Node)

    asked: Set[Node] = everywhere(False)
    said: Set[Node, Answer] = everywhere(False)
    decided: Set[Answer] = everywhere(False)

    @action
    def ask(s, group: Group) -> None:
        """The nodes of a group are asked."""
        require(s.groups.some(group, lambda n: ~s.asked[n]))
        s.asked = each(s.Node, lambda n: s.asked[n] | s.groups.has(group, n))

    @action
    def answer(s, node: Node, answer: Answer) -> None:
        """A node that was asked answers, once."""
        require(s.asked[node])
        require(forall(s.Answer, lambda a: ~s.said[node, a]))
        s.said[node, answer] = True

    @action
    def decide(s, quorum: Quorum, answer: Answer) -> None:
        """A quorum says the same."""
        require(s.quorums.every(quorum, lambda n: s.said[n, answer]))
        s.decided[answer] = True

    @invariant()
    def one_decision(s) -> Bool:
        """Only one answer is decided."""
        return ~(s.decided["yes"] & s.decided["no"])

    @lemma()
    def decided_by_a_quorum(s) -> Bool:
        """What is decided was said by a quorum."""
        return forall(
            s.Answer,
            lambda a: implies(
                s.decided[a], exists(s.Quorum, lambda q: s.quorums.every(q, lambda n: s.said[n, a]))
            ),
        )

    @lemma()
    def one_answer(s) -> Bool:
        """A node says one thing."""
        return forall(s.Node, lambda n: ~(s.said[n, "yes"] & s.said[n, "no"]))

    @reachable(after="decide")
    def a_decision(before, after: Self, answer: Answer) -> Bool:
        """Something is decided."""
        return after.decided[answer] & ~before.decided[answer]


class AnyPolls(Polls):
    """Quorums that need not meet."""

    quorums_meet = removed


def clashing():
    """Declare a protocol with a name that its piece takes."""

    class Clash(Protocol):
        """Two of the same name."""

        Node = Sort()
        Count = Nat()
        road_held: Count = 0
        road = Bag(Node)

    return Clash


def map_of_kinds():
    """A type that no message can have."""
    return Map[Enum("a", "b"), Enum("c")]
