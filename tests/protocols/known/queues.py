"""Public models with messages: a bounded queue, Paxos."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    all_of,
    anything,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    initially,
    invariant,
    require,
)


class InnerFifo(Protocol):
    """A buffer takes values from one channel and gives them to another; each channel is a handshake."""

    Slot: TypeAlias = Nat
    Value: TypeAlias = Nat
    Side: TypeAlias = Enum["inner", "outer"]

    value: Map[Side, Value] = anything
    ready: Map[Side, Bool] = anything
    acknowledged: Map[Side, Bool] = anything
    length: Slot = 0
    queue: Map[Slot, Value] = everywhere(0)

    @initially
    def nothing_is_under_way(s) -> Bool:
        return forall(s.Side, lambda side: s.ready[side] == s.acknowledged[side])

    def put(s, side: Side, v: Value) -> None:
        """Put a value on a channel."""
        require(s.ready[side] == s.acknowledged[side])
        s.value[side] = v
        s.ready[side] = ~s.ready[side]

    def take(s, side: Side) -> None:
        """Acknowledge the value of a channel."""
        require(s.ready[side] != s.acknowledged[side])
        s.acknowledged[side] = ~s.acknowledged[side]

    @action
    def send(s, v: Value) -> None:
        """The sender puts a value on the inner channel."""
        s.put("inner", v)

    @action
    def enqueue(s) -> None:
        """The buffer takes it."""
        s.take("inner")
        s.queue[s.length] = s.value["inner"]
        s.length = s.length + 1

    @action
    def dequeue(s) -> None:
        """The buffer puts its first value on the outer channel."""
        require(s.length > 0)
        s.put("outer", s.queue[0])
        s.queue = each(s.Slot, lambda i: s.queue[i + 1])
        s.length = s.length - 1

    @action
    def receive(s) -> None:
        """The receiver takes it."""
        s.take("outer")

    @invariant()
    def beyond_the_end_is_nothing(s) -> Bool:
        """Places beyond the length hold what they held at first."""
        return forall(s.Slot, lambda i: implies(i >= s.length, s.queue[i] == 0))


class Paxos(Protocol):
    """Acceptors choose one value in ballots. Messages stay for ever; a set of messages is a map to Bool.

    Ballot 0 is none, and its value is nothing.
    """

    Acceptor: TypeAlias = Sort
    Quorum: TypeAlias = Sort
    Ballot: TypeAlias = Nat
    Value: TypeAlias = Enum["nothing", "one", "two"]

    member: Map[Quorum, Acceptor, Bool] = constant()

    promised: Map[Acceptor, Ballot] = everywhere(0)
    voted: Map[Acceptor, Ballot] = everywhere(0)
    vote: Map[Acceptor, Value] = everywhere("nothing")

    begun: Set[Ballot] = everywhere(False)
    promises: Map[Acceptor, Ballot, Ballot, Value, Bool] = everywhere(False)
    """Who has promised which ballot, and in which ballot he had voted for what."""
    proposals: Map[Ballot, Value, Bool] = everywhere(False)
    votes: Map[Acceptor, Ballot, Value, Bool] = everywhere(False)

    @action
    def begin(s, b: Ballot) -> None:
        """Ask for promises."""
        require(b > 0)
        s.begun[b] = True

    @action
    def promise(s, a: Acceptor, b: Ballot) -> None:
        """Promise to take no part in earlier ballots, and report one's last vote."""
        require(s.begun[b] & (b > s.promised[a]))
        s.promised[a] = b
        s.promises[a, b, s.voted[a], s.vote[a]] = True

    def has_promised(s, a: Acceptor, b: Ballot) -> Bool:
        """The acceptor has promised the ballot."""
        return exists(s.Ballot, s.Value, lambda earlier, v: s.promises[a, b, earlier, v])

    def has_reported(s, q: Quorum, b: Ballot, earlier: Ballot) -> Bool:
        """Somebody in the quorum has reported a vote in this ballot."""
        return (earlier > 0) & exists(
            s.Acceptor, s.Value, lambda a, v: s.member[q, a] & s.promises[a, b, earlier, v]
        )

    def may_propose(s, q: Quorum, b: Ballot, v: Value) -> Bool:
        """Nothing was proposed yet, and a quorum has promised."""
        return all_of(
            (b > 0) & (v != "nothing"),
            ~exists(s.Value, lambda other: s.proposals[b, other]),
            forall(s.Acceptor, lambda a: implies(s.member[q, a], s.has_promised(a, b))),
        )

    @action
    def propose_any(s, b: Ballot, v: Value, q: Quorum) -> None:
        """Propose any value if nobody in a quorum has voted."""
        require(s.may_propose(q, b, v))
        require(~exists(s.Ballot, lambda earlier: s.has_reported(q, b, earlier)))
        s.proposals[b, v] = True

    @action
    def propose_latest(s, b: Ballot, q: Quorum, a: Acceptor, v: Value, latest: Ballot) -> None:
        """Propose the value of the latest vote that somebody in a quorum has reported."""
        require(s.may_propose(q, b, v))
        require(s.member[q, a] & s.promises[a, b, latest, v])
        require(forall(s.Ballot, lambda other: implies(s.has_reported(q, b, other), other <= latest)))
        s.proposals[b, v] = True

    @action
    def accept(s, a: Acceptor, b: Ballot, v: Value) -> None:
        """Vote for a proposal, unless a later ballot was promised."""
        require(s.proposals[b, v] & (b >= s.promised[a]))
        s.promised[a] = b
        s.voted[a] = b
        s.vote[a] = v
        s.votes[a, b, v] = True

    def chosen(s, v: Value) -> Bool:
        """A quorum has voted for the value in one ballot."""
        return exists(
            s.Quorum,
            s.Ballot,
            lambda q, b: forall(s.Acceptor, lambda a: implies(s.member[q, a], s.votes[a, b, v])),
        )

    @invariant()
    def one_value(s) -> Bool:
        """At most one value is chosen."""
        return ~(s.chosen("one") & s.chosen("two"))
