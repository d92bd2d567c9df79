"""Agreement among several: two-phase commit with a backup manager, Paxos."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    action,
    all_of,
    constant,
    each,
    exists,
    forall,
    implies,
    invariant,
    ite,
    one_of,
    require,
    when,
)


class TwoPhaseWithBackup(Protocol):
    """Two-phase commit whose transaction manager disappears after its decision; a backup takes over."""

    Manager = Sort()
    Phase = Enum("working", "prepared", "committed", "aborted", "failed")
    Decision = Enum("init", "commit", "abort", "hidden")
    Place = Enum("deciding", "commits", "aborts", "committed", "aborted", "done")

    phase: Map[Manager, Phase] = "working"
    stopped: Map[Manager, Bool] = False
    decision: Decision = "init"
    main: Place = "deciding"
    backup: Place = "deciding"

    def acts(s, r):
        """The manager is not through."""
        return ~s.stopped[r] & one_of(s.phase[r], "working", "prepared")

    @action
    def prepare(s, r: Manager):
        """Prepare."""
        require(s.acts(r) & (s.phase[r] == "working"))
        s.phase[r] = "prepared"

    @action
    def obey_commit(s, r: Manager):
        """Commit as decided."""
        require(s.acts(r) & (s.decision == "commit"))
        s.phase[r] = "committed"

    @action
    def give_up(s, r: Manager):
        """Abort by oneself while working."""
        require(s.acts(r) & (s.phase[r] == "working"))
        s.phase[r] = "aborted"

    @action
    def obey_abort(s, r: Manager):
        """Abort as decided."""
        require(s.acts(r) & (s.decision == "abort"))
        s.phase[r] = "aborted"

    @action
    def fail(s, r: Manager):
        """Fail, if no other has failed."""
        require(s.acts(r))
        with when(~exists(s.Manager, lambda q: s.phase[q] == "failed")):
            s.phase[r] = "failed"

    @action
    def stop(s, r: Manager):
        """Stop when one is through."""
        require(~s.stopped[r] & ~s.acts(r))
        s.stopped[r] = True

    def all_prepared(s):
        """Everybody is prepared."""
        return forall(s.Manager, lambda r: s.phase[r] == "prepared")

    def has_committed(s, r):
        """This one has committed, so that the decision was to commit."""
        return s.phase[r] == "committed"

    def has_not_prepared(s, r):
        """This one has aborted or failed, and nobody has committed."""
        return one_of(s.phase[r], "aborted", "failed") & ~exists(s.Manager, s.has_committed)

    @action
    def main_sees_all_prepared(s):
        """The manager decides to commit because everybody is prepared."""
        require((s.main == "deciding") & s.all_prepared())
        s.main = "commits"

    @action
    def main_sees_commit(s, r: Manager):
        """The manager decides to commit because somebody has."""
        require((s.main == "deciding") & s.has_committed(r))
        s.main = "commits"

    @action
    def main_sees_abort(s, r: Manager):
        """The manager decides to abort because somebody has."""
        require((s.main == "deciding") & s.has_not_prepared(r))
        s.main = "aborts"

    @action
    def main_decides(s):
        """The decision is published."""
        require(one_of(s.main, "commits", "aborts"))
        s.decision = ite(s.main == "commits", "commit", "abort")
        s.main = ite(s.main == "commits", "committed", "aborted")

    @action
    def main_disappears(s):
        """The manager fails, and its decision with it."""
        require(one_of(s.main, "committed", "aborted"))
        s.decision = "hidden"
        s.main = "done"

    def backup_may_decide(s):
        """The decision has disappeared, and the backup has not taken over."""
        return (s.backup == "deciding") & (s.decision == "hidden")

    @action
    def backup_sees_all_prepared(s):
        """The backup decides to commit because everybody is prepared."""
        require(s.backup_may_decide() & s.all_prepared())
        s.backup = "commits"

    @action
    def backup_sees_commit(s, r: Manager):
        """The backup decides to commit because somebody has."""
        require(s.backup_may_decide() & s.has_committed(r))
        s.backup = "commits"

    @action
    def backup_sees_abort(s, r: Manager):
        """The backup decides to abort because somebody has."""
        require(s.backup_may_decide() & s.has_not_prepared(r))
        s.backup = "aborts"

    @action
    def backup_decides(s):
        """The backup's decision is published."""
        require(one_of(s.backup, "commits", "aborts"))
        s.decision = ite(s.backup == "commits", "commit", "abort")
        s.backup = "done"

    @action
    def rest(s):
        """All have stopped, and stay so."""
        require((s.main == "done") & (s.backup == "done") & forall(s.Manager, lambda r: s.stopped[r]))
        s.stopped = each(s.Manager, lambda r: True)

    @invariant()
    def consistent(s):
        """Nobody commits while another has aborted."""
        return ~exists(
            s.Manager, s.Manager, lambda p, q: (s.phase[p] == "aborted") & (s.phase[q] == "committed")
        )


class Paxos(Protocol):
    """Acceptors choose one value in ballots. Messages stay for ever; a set of messages is a map to Bool.

    Ballot 0 is none, and its value is nothing.
    """

    Acceptor = Sort()
    Quorum = Sort()
    Ballot = Nat()
    Value = Enum("nothing", "one", "two")

    member: Map[Quorum, Acceptor, Bool] = constant()

    promised: Map[Acceptor, Ballot] = 0
    voted: Map[Acceptor, Ballot] = 0
    vote: Map[Acceptor, Value] = "nothing"

    begun: Set[Ballot] = False
    promises: Map[Acceptor, Ballot, Ballot, Value, Bool] = False
    """Who has promised which ballot, and in which ballot he had voted for what."""
    proposals: Map[Ballot, Value, Bool] = False
    votes: Map[Acceptor, Ballot, Value, Bool] = False

    @action
    def begin(s, b: Ballot):
        """Ask for promises."""
        require(b > 0)
        s.begun[b] = True

    @action
    def promise(s, a: Acceptor, b: Ballot):
        """Promise to take no part in earlier ballots, and report one's last vote."""
        require(s.begun[b] & (b > s.promised[a]))
        s.promised[a] = b
        s.promises[a, b, s.voted[a], s.vote[a]] = True

    def has_promised(s, a, b):
        """The acceptor has promised the ballot."""
        return exists(s.Ballot, s.Value, lambda earlier, v: s.promises[a, b, earlier, v])

    def has_reported(s, q, b, earlier):
        """Somebody in the quorum has reported a vote in this ballot."""
        return (earlier > 0) & exists(
            s.Acceptor, s.Value, lambda a, v: s.member[q, a] & s.promises[a, b, earlier, v]
        )

    def may_propose(s, q, b, v):
        """Nothing was proposed yet, and a quorum has promised."""
        return all_of(
            (b > 0) & (v != "nothing"),
            ~exists(s.Value, lambda other: s.proposals[b, other]),
            forall(s.Acceptor, lambda a: implies(s.member[q, a], s.has_promised(a, b))),
        )

    @action
    def propose_any(s, b: Ballot, v: Value, q: Quorum):
        """Propose any value if nobody in a quorum has voted."""
        require(s.may_propose(q, b, v))
        require(~exists(s.Ballot, lambda earlier: s.has_reported(q, b, earlier)))
        s.proposals[b, v] = True

    @action
    def propose_latest(s, b: Ballot, q: Quorum, a: Acceptor, v: Value, latest: Ballot):
        """Propose the value of the latest vote that somebody in a quorum has reported."""
        require(s.may_propose(q, b, v))
        require(s.member[q, a] & s.promises[a, b, latest, v])
        require(forall(s.Ballot, lambda other: implies(s.has_reported(q, b, other), other <= latest)))
        s.proposals[b, v] = True

    @action
    def accept(s, a: Acceptor, b: Ballot, v: Value):
        """Vote for a proposal, unless a later ballot was promised."""
        require(s.proposals[b, v] & (b >= s.promised[a]))
        s.promised[a] = b
        s.voted[a] = b
        s.vote[a] = v
        s.votes[a, b, v] = True

    def chosen(s, v):
        """A quorum has voted for the value in one ballot."""
        return exists(
            s.Quorum,
            s.Ballot,
            lambda q, b: forall(s.Acceptor, lambda a: implies(s.member[q, a], s.votes[a, b, v])),
        )

    @invariant()
    def one_value(s):
        """At most one value is chosen."""
        return ~(s.chosen("one") & s.chosen("two"))
