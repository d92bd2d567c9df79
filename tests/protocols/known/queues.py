"""Public models with messages: the alternating bit, a bounded queue, Paxos."""

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
    ite,
    require,
)


class AlternatingBit(Protocol):
    """Values reach a receiver over a channel that loses messages, by repeating them with an alternating bit.

    A queue is a map from its places and a length; places beyond the length hold what they held at first.
    """

    Slot: TypeAlias = Nat
    Value: TypeAlias = Nat

    sent: Value = anything
    sent_bit: Bool = anything
    confirmed_bit: Bool = anything
    received: Value = anything
    received_bit: Bool = anything

    messages: Slot = 0
    message: Map[Slot, Value] = everywhere(0)
    message_bit: Map[Slot, Bool] = everywhere(False)
    answers: Slot = 0
    answer: Map[Slot, Bool] = everywhere(False)

    @initially
    def nothing_is_under_way(s) -> Bool:
        return (s.sent_bit == s.confirmed_bit) & (s.sent_bit == s.received_bit)

    def send(s) -> None:
        """Put the present value and bit into the queue."""
        s.message[s.messages] = s.sent
        s.message_bit[s.messages] = s.sent_bit
        s.messages = s.messages + 1

    def take_message(s, i: Slot) -> None:
        """Take a message out of the queue."""
        require(i < s.messages)
        s.message = each(s.Slot, lambda j: s.message[ite(j < i, j, j + 1)])
        s.message_bit = each(s.Slot, lambda j: s.message_bit[ite(j < i, j, j + 1)])
        s.messages = s.messages - 1

    def take_answer(s, i: Slot) -> None:
        """Take an answer out of the queue."""
        require(i < s.answers)
        s.answer = each(s.Slot, lambda j: s.answer[ite(j < i, j, j + 1)])
        s.answers = s.answers - 1

    @action
    def send_new(s, v: Value) -> None:
        """The value before was confirmed: send another one."""
        require(s.confirmed_bit == s.sent_bit)
        s.sent = v
        s.sent_bit = ~s.sent_bit
        s.send()

    @action(fairness="weak")
    def send_again(s) -> None:
        """Repeat what is not confirmed."""
        require(s.confirmed_bit != s.sent_bit)
        s.send()

    @action(fairness="strong")
    def receive(s) -> None:
        """Take the first message."""
        s.received = s.message[0]
        s.received_bit = s.message_bit[0]
        s.take_message(0)

    @action(fairness="weak")
    def answer_with_bit(s) -> None:
        """Answer with the bit received last, again and again."""
        s.answer[s.answers] = s.received_bit
        s.answers = s.answers + 1

    @action(fairness="strong")
    def receive_answer(s) -> None:
        """Take the first answer."""
        s.confirmed_bit = s.answer[0]
        s.take_answer(0)

    @action
    def lose_message(s, i: Slot) -> None:
        """A message is lost."""
        s.take_message(i)

    @action
    def lose_answer(s, i: Slot) -> None:
        """An answer is lost."""
        s.take_answer(i)

    @invariant()
    def confirmed_is_received(s) -> Bool:
        """What is confirmed has been received."""
        return implies(s.sent_bit == s.confirmed_bit, s.sent_bit == s.received_bit) & implies(
            s.sent_bit == s.received_bit, (s.sent == s.received) | (s.sent_bit == s.confirmed_bit)
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
