"""Voting with any quorums: what is chosen once stays the only one chosen."""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Sort,
    action,
    all_of,
    assumption,
    constant,
    exists,
    forall,
    implies,
    invariant,
    lemma,
    require,
)


class Voting(Protocol):
    """Acceptors vote in ballots; any two quorums have somebody in common."""

    Acceptor = Sort()
    Quorum = Sort()
    Value = Sort()
    Ballot = Nat()

    member: Map[Quorum, Acceptor, Bool] = constant()

    votes: Map[Acceptor, Ballot, Value, Bool] = False
    closed: Map[Acceptor, Ballot] = 0
    """Below this ballot the acceptor votes no more."""

    @assumption()
    def quorums_meet(s):
        """Any two quorums have a member in common."""
        return forall(
            s.Quorum,
            s.Quorum,
            lambda p, q: exists(s.Acceptor, lambda a: s.member[p, a] & s.member[q, a]),
        )

    def did_not_vote(s, a, b):
        """The acceptor has not voted in the ballot."""
        return forall(s.Value, lambda v: ~s.votes[a, b, v])

    def safe_at(s, b, v):
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
                            s.member[q, a],
                            s.votes[a, c, v] | ((s.closed[a] > c) & s.did_not_vote(a, c)),
                        ),
                    ),
                ),
            ),
        )

    @action
    def close(s, a: Acceptor, b: Ballot):
        """Vote no more below a ballot."""
        require(b > s.closed[a])
        s.closed[a] = b

    @action
    def vote(s, a: Acceptor, b: Ballot, v: Value):
        """Vote for a value that is safe, and for which nobody has voted otherwise."""
        require((s.closed[a] <= b) & s.did_not_vote(a, b))
        require(forall(s.Acceptor, s.Value, lambda c, w: implies(s.votes[c, b, w], w == v)))
        require(s.safe_at(b, v))
        s.votes[a, b, v] = True
        s.closed[a] = b

    def chosen_in(s, b, v):
        """A quorum has voted for the value in the ballot."""
        return exists(
            s.Quorum, lambda q: forall(s.Acceptor, lambda a: implies(s.member[q, a], s.votes[a, b, v]))
        )

    @invariant()
    def one_value(s):
        """Two values are chosen in no two ballots."""
        return forall(
            s.Ballot,
            s.Ballot,
            s.Value,
            s.Value,
            lambda b, c, v, w: implies(s.chosen_in(b, v) & s.chosen_in(c, w), v == w),
        )

    @lemma()
    def votes_are_safe(s):
        """Whatever was voted for was safe, and still is."""
        return forall(
            s.Acceptor, s.Ballot, s.Value, lambda a, b, v: implies(s.votes[a, b, v], s.safe_at(b, v))
        )

    @lemma()
    def one_value_a_ballot(s):
        """In one ballot all vote for the same."""
        return forall(
            s.Acceptor,
            s.Acceptor,
            s.Ballot,
            s.Value,
            s.Value,
            lambda a, c, b, v, w: implies(all_of(s.votes[a, b, v], s.votes[c, b, w]), v == w),
        )
