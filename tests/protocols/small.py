"""Ports of small public models, whose counts several independent tools agree on."""

from spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Sort,
    action,
    anything,
    exists,
    forall,
    initially,
    invariant,
    ite,
    leads_to,
    minimum,
    reachable,
    require,
    transition_invariant,
)


class HourClock(Protocol):
    """A clock that shows 1 to 12."""

    Hour = Nat()
    hour: Hour = anything

    @initially
    def from_one(s):
        return s.hour >= 1

    @action
    def tick(s):
        """The hour passes."""
        s.hour = ite(s.hour == 12, 1, s.hour + 1)

    @invariant()
    def shows_an_hour(s):
        """The clock shows 1 to 12."""
        return s.hour >= 1


class DieHard(Protocol):
    """Two jugs of 3 and 5 litres; is it possible to measure 4?"""

    Litre = Nat()
    small: Litre = 0
    big: Litre = 0

    @action
    def fill_small(s):
        """Fill the small jug."""
        s.small = 3

    @action
    def fill_big(s):
        """Fill the big jug."""
        s.big = 5

    @action
    def empty_small(s):
        """Empty the small jug."""
        s.small = 0

    @action
    def empty_big(s):
        """Empty the big jug."""
        s.big = 0

    @action
    def small_to_big(s):
        """Pour the small jug into the big one."""
        poured = minimum(s.small, 5 - s.big)
        s.small = s.small - poured
        s.big = s.big + poured

    @action
    def big_to_small(s):
        """Pour the big jug into the small one."""
        poured = minimum(s.big, 3 - s.small)
        s.big = s.big - poured
        s.small = s.small + poured

    @invariant()
    def never_four(s):
        """The big jug never holds 4 litres: false, and the counterexample is the solution."""
        return s.big != 4


class Lock(Protocol):
    """Processes and one lock."""

    Process = Sort()
    Place = Enum("idle", "wait", "critical", "done")
    place: Map[Process, Place] = "idle"
    taken: Bool = False

    @action(fairness="weak")
    def ask(s, p: Process):
        """Ask for the lock."""
        require(s.place[p] == "idle")
        s.place[p] = "wait"

    @action(fairness="strong")
    def enter(s, p: Process):
        """Take the lock."""
        require(s.place[p] == "wait")
        require(~s.taken)
        s.taken = True
        s.place[p] = "critical"

    @action(fairness="weak")
    def leave(s, p: Process):
        """Give the lock back."""
        require(s.place[p] == "critical")
        s.taken = False
        s.place[p] = "idle"

    @invariant()
    def exclusion(s):
        """No two processes are inside."""
        return forall(
            s.Process,
            s.Process,
            lambda p, q: (p == q) | (s.place[p] != "critical") | (s.place[q] != "critical"),
        )

    @leads_to()
    def served(s, p: Process):
        """Whoever asks gets the lock."""
        return s.place[p] == "wait", s.place[p] == "critical"


class TCommit(Protocol):
    """Transaction commit among resource managers."""

    Manager = Sort()
    Phase = Enum("working", "prepared", "committed", "aborted")
    phase: Map[Manager, Phase] = "working"

    @action
    def prepare(s, r: Manager):
        """Prepare."""
        require(s.phase[r] == "working")
        s.phase[r] = "prepared"

    @action
    def commit(s, r: Manager):
        """Commit where all are prepared or committed."""
        require(s.phase[r] == "prepared")
        require(forall(s.Manager, lambda q: (s.phase[q] == "prepared") | (s.phase[q] == "committed")))
        s.phase[r] = "committed"

    @action
    def abort(s, r: Manager):
        """Abort where nobody has committed."""
        require((s.phase[r] == "working") | (s.phase[r] == "prepared"))
        require(~exists(s.Manager, lambda q: s.phase[q] == "committed"))
        s.phase[r] = "aborted"

    @invariant()
    def consistent(s):
        """Nobody commits while another has aborted."""
        return forall(
            s.Manager, s.Manager, lambda p, q: ~((s.phase[p] == "aborted") & (s.phase[q] == "committed"))
        )


class TwoPhase(TCommit):
    """Two-phase commit with a transaction manager and messages that stay for ever."""

    Decision = Enum("init", "committed", "aborted")
    decision: Decision = "init"
    heard: Map[TCommit.Manager, Bool] = False
    sent: Map[TCommit.Manager, Bool] = False
    commit_sent: Bool = False
    abort_sent: Bool = False

    @action
    def prepare(s, r):
        """Prepare and say so."""
        require(s.phase[r] == "working")
        s.phase[r] = "prepared"
        s.sent[r] = True

    @action
    def commit(s, r):
        """Obey a commit."""
        require(s.commit_sent)
        s.phase[r] = "committed"

    @action
    def abort(s, r):
        """Obey an abort."""
        require(s.abort_sent)
        s.phase[r] = "aborted"

    @action
    def give_up(s, r: TCommit.Manager):
        """Abort by oneself while working."""
        require(s.phase[r] == "working")
        s.phase[r] = "aborted"

    @action
    def hear(s, r: TCommit.Manager):
        """The transaction manager hears that one is prepared."""
        require(s.decision == "init")
        require(s.sent[r])
        s.heard[r] = True

    @action
    def decide_commit(s):
        """All are prepared: commit."""
        require(s.decision == "init")
        require(forall(s.Manager, lambda r: s.heard[r]))
        s.decision = "committed"
        s.commit_sent = True

    @action
    def decide_abort(s):
        """Abort at will."""
        require(s.decision == "init")
        s.decision = "aborted"
        s.abort_sent = True

    @transition_invariant()
    def decision_is_final(before, after):
        """A decision is never changed."""
        return (before.decision == "init") | (before.decision == after.decision)

    @reachable(after="commit")
    def commits(before, after, r):
        """A manager commits for the first time."""
        return (before.phase[r] == "prepared") & (after.phase[r] == "committed")
