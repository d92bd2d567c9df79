"""Textbook protocols with their claims alone: the lemmas that their proofs need are for `suggest` to find."""

from tests.protocols.small import TwoPhase
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
    assumption,
    constant,
    everywhere,
    exists,
    forall,
    implies,
    invariant,
    lemma,
    require,
)


class Unlikely(TwoPhase):
    """With an action that no small instance can take."""

    @action
    def never(s) -> None:
        """The manager decides twice."""
        require(s.decision == "init")
        require(exists(s.Manager, lambda r: s.phase[r] == "committed"))
        s.decision = "aborted"


class Promises(Protocol):
    """The first phase of Paxos: acceptors promise not to take part in smaller ballots."""

    Acceptor: TypeAlias = Sort
    Ballot: TypeAlias = Nat

    begun: Set[Ballot] = everywhere(False)
    promised: Map[Acceptor, Ballot] = everywhere(0)
    answer: Map[Acceptor, Ballot, Bool] = everywhere(False)
    led: Set[Ballot] = everywhere(False)

    @action
    def begin(s, ballot: Ballot) -> None:
        """A proposer asks all acceptors for a promise."""
        require(ballot > 0)
        s.begun[ballot] = True

    @action
    def promise(s, acceptor: Acceptor, ballot: Ballot) -> None:
        """An acceptor promises, if it did not promise a later ballot."""
        require(s.begun[ballot])
        require(ballot > s.promised[acceptor])
        s.promised[acceptor] = ballot
        s.answer[acceptor, ballot] = True

    @action
    def lead(s, ballot: Ballot) -> None:
        """All acceptors have answered: the second phase may begin (a quorum of all, to keep it small)."""
        require(forall(s.Acceptor, lambda a: s.answer[a, ballot]))
        s.led[ballot] = True

    @invariant(source="Lamport, Paxos made simple, P2c")
    def a_leader_is_promised(s) -> Bool:
        """No acceptor of a leader's quorum is still free to answer a smaller ballot."""
        return forall(s.Ballot, s.Acceptor, lambda b, a: implies(s.led[b], s.promised[a] >= b))


class Coherence(Protocol):
    """The caches of several processors: modified, shared, invalid, with messages from the directory."""

    Cpu: TypeAlias = Sort
    Line: TypeAlias = Enum["invalid", "shared", "modified"]
    Entry: TypeAlias = Enum["nobody", "readers", "writer"]

    line: Map[Cpu, Line] = everywhere("invalid")
    entry: Entry = "nobody"
    sharer: Set[Cpu] = everywhere(False)
    invalidate: Set[Cpu] = everywhere(False)

    @action
    def read(s, cpu: Cpu) -> None:
        """The directory lets a processor read."""
        require(s.entry != "writer")
        require(~s.invalidate[cpu])
        s.entry = "readers"
        s.sharer[cpu] = True
        s.line[cpu] = "shared"

    @action
    def ask(s, cpu: Cpu) -> None:
        """The directory asks a sharer to drop its copy."""
        require(s.sharer[cpu])
        s.invalidate[cpu] = True

    @action
    def drop(s, cpu: Cpu) -> None:
        """A processor drops its copy, and says so."""
        require(s.invalidate[cpu])
        s.line[cpu] = "invalid"
        s.invalidate[cpu] = False
        s.sharer[cpu] = False

    @action
    def write(s, cpu: Cpu) -> None:
        """Nobody has a copy: a processor may write."""
        require(forall(s.Cpu, lambda c: ~s.sharer[c]))
        s.entry = "writer"
        s.sharer[cpu] = True
        s.line[cpu] = "modified"

    @invariant(source="a textbook")
    def one_writer(s) -> Bool:
        """While one processor writes no other one has a copy."""
        return forall(
            s.Cpu, s.Cpu, lambda a, b: implies((s.line[a] == "modified") & (a != b), s.line[b] == "invalid")
        )


class Holders(Protocol):
    """Fencing tokens; the lock service knows whose each token is, and the store who wrote last."""

    Node: TypeAlias = Sort
    Token: TypeAlias = Nat

    granted: Token = 0
    holder: Map[Token, Node] = anything
    token: Map[Node, Token] = everywhere(0)
    highest: Token = 0
    writer: Node = anything

    @action
    def grant(s, node: Node) -> None:
        """The lease goes to a node, with the next token."""
        s.granted = s.granted + 1
        s.holder[s.granted] = node
        s.token[node] = s.granted

    @action
    def deliver(s, node: Node) -> None:
        """A write arrives, with a token that is not old."""
        require((s.token[node] > 0) & (s.token[node] >= s.highest))
        s.highest = s.token[node]
        s.writer = node

    @invariant(source="a textbook")
    def written_by_its_holder(s) -> Bool:
        """The last writer is the node to which the newest token in the store was given."""
        return implies(s.highest > 0, s.holder[s.highest] == s.writer)


class Voting(Protocol):
    """Acceptors vote in ballots; any two quorums have somebody in common."""

    Acceptor: TypeAlias = Sort
    Quorum: TypeAlias = Sort
    Value: TypeAlias = Sort
    Ballot: TypeAlias = Nat

    member: Map[Quorum, Acceptor, Bool] = constant()

    votes: Map[Acceptor, Ballot, Value, Bool] = everywhere(False)
    closed: Map[Acceptor, Ballot] = everywhere(0)
    """Below this ballot the acceptor votes no more."""

    @assumption()
    def quorums_meet(s) -> Bool:
        """Any two quorums have a member in common."""
        return forall(
            s.Quorum, s.Quorum, lambda p, q: exists(s.Acceptor, lambda a: s.member[p, a] & s.member[q, a])
        )

    def did_not_vote(s, a: Acceptor, b: Ballot) -> Bool:
        """The acceptor has not voted in the ballot."""
        return forall(s.Value, lambda v: ~s.votes[a, b, v])

    def safe_at(s, b: Ballot, v: Value) -> Bool:
        """No other value was or will be chosen below the ballot."""
        return forall(
            s.Ballot,
            lambda c: implies(
                c < b,
                exists(
                    s.Quorum,
                    lambda q: forall(
                        s.Acceptor,
                        lambda a: implies(
                            s.member[q, a], s.votes[a, c, v] | ((s.closed[a] > c) & s.did_not_vote(a, c))
                        ),
                    ),
                ),
            ),
        )

    @action
    def close(s, a: Acceptor, b: Ballot) -> None:
        """Vote no more below a ballot."""
        require(b > s.closed[a])
        s.closed[a] = b

    @action
    def vote(s, a: Acceptor, b: Ballot, v: Value) -> None:
        """Vote for a value that is safe, and for which nobody has voted otherwise."""
        require((s.closed[a] <= b) & s.did_not_vote(a, b))
        require(forall(s.Acceptor, s.Value, lambda c, w: implies(s.votes[c, b, w], w == v)))
        require(s.safe_at(b, v))
        s.votes[a, b, v] = True
        s.closed[a] = b

    def chosen_in(s, b: Ballot, v: Value) -> Bool:
        """A quorum has voted for the value in the ballot."""
        return exists(
            s.Quorum, lambda q: forall(s.Acceptor, lambda a: implies(s.member[q, a], s.votes[a, b, v]))
        )

    @invariant()
    def one_value(s) -> Bool:
        """Two values are chosen in no two ballots."""
        return forall(
            s.Ballot,
            s.Ballot,
            s.Value,
            s.Value,
            lambda b, c, v, w: implies(s.chosen_in(b, v) & s.chosen_in(c, w), v == w),
        )

    @lemma()
    def votes_are_safe(s) -> Bool:
        """Whatever was voted for was safe, and still is."""
        return forall(
            s.Acceptor, s.Ballot, s.Value, lambda a, b, v: implies(s.votes[a, b, v], s.safe_at(b, v))
        )

    @lemma()
    def one_value_a_ballot(s) -> Bool:
        """In one ballot all vote for the same."""
        return forall(
            s.Acceptor,
            s.Acceptor,
            s.Ballot,
            s.Value,
            s.Value,
            lambda a, c, b, v, w: implies(all_of(s.votes[a, b, v], s.votes[c, b, w]), v == w),
        )
