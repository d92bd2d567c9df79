"""Ports of small public models, whose counts several independent tools agree on."""

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
    anything,
    count,
    each,
    everywhere,
    exists,
    forall,
    implies,
    initially,
    invariant,
    ite,
    leads_to,
    minimum,
    one_of,
    option,
    reachable,
    require,
    transition_invariant,
)


class HourClock(Protocol):
    """A clock that shows 1 to 12."""

    Hour: TypeAlias = Nat
    hour: Hour = anything

    @initially
    def from_one(s) -> Bool:
        return s.hour >= 1

    @action
    def tick(s) -> None:
        """The hour passes."""
        s.hour = ite(s.hour == 12, 1, s.hour + 1)

    @invariant()
    def shows_an_hour(s) -> Bool:
        """The clock shows 1 to 12."""
        return s.hour >= 1


class AsynchInterface(Protocol):
    """A sender and a receiver of one value, in turns."""

    Data: TypeAlias = Sort
    value: Data = anything
    ready: Bool = anything
    acknowledged: Bool = anything

    @initially
    def nothing_sent(s) -> Bool:
        return s.ready == s.acknowledged

    @action
    def send(s, d: Data) -> None:
        """Send a value."""
        require(s.ready == s.acknowledged)
        s.value = d
        s.ready = ~s.ready

    @action
    def receive(s) -> None:
        """Take it."""
        require(s.ready != s.acknowledged)
        s.acknowledged = ~s.acknowledged


class CigaretteSmokers(Protocol):
    """A dealer lays out two of three ingredients; whoever has the third one smokes."""

    Ingredient: TypeAlias = Sort
    smoking: Map[Ingredient, Bool] = everywhere(False)
    offered: Bool = True
    missing: Ingredient = anything

    @action
    def start_smoking(s) -> None:
        """The one with the missing ingredient smokes."""
        require(s.offered)
        s.smoking = each(s.Ingredient, lambda i: i == s.missing)
        s.offered = False

    @action
    def stop_smoking(s, following: Ingredient) -> None:
        """The smoker is done, and the dealer makes an offer."""
        require(~s.offered)
        s.smoking = each(s.Ingredient, lambda i: False)
        s.offered = True
        s.missing = following

    @invariant()
    def one_at_a_time(s) -> Bool:
        """At most one smokes."""
        return count(s.Ingredient, lambda i: s.smoking[i]) <= 1


class DieHard(Protocol):
    """Two jugs of 3 and 5 litres; is it possible to measure 4?"""

    Litre: TypeAlias = Nat
    small: Litre = 0
    big: Litre = 0

    @action
    def fill_small(s) -> None:
        """Fill the small jug."""
        s.small = 3

    @action
    def fill_big(s) -> None:
        """Fill the big jug."""
        s.big = 5

    @action
    def empty_small(s) -> None:
        """Empty the small jug."""
        s.small = 0

    @action
    def empty_big(s) -> None:
        """Empty the big jug."""
        s.big = 0

    @action
    def small_to_big(s) -> None:
        """Pour the small jug into the big one."""
        poured = minimum(s.small, 5 - s.big)
        s.small = s.small - poured
        s.big = s.big + poured

    @action
    def big_to_small(s) -> None:
        """Pour the big jug into the small one."""
        poured = minimum(s.big, 3 - s.small)
        s.big = s.big - poured
        s.small = s.small + poured

    @invariant()
    def never_four(s) -> Bool:
        """The big jug never holds 4 litres: false, and the counterexample is the solution."""
        return s.big != 4


class Lock(Protocol):
    """Processes and one lock, with a step before the critical part and one after it."""

    Process: TypeAlias = Sort
    Place: TypeAlias = Enum["resting", "waiting", "critical", "leaving"]
    place: Map[Process, Place] = everywhere("resting")
    taken: Bool = False

    @action(fairness="weak")
    def ask(s, p: Process) -> None:
        """Ask for the lock."""
        require(s.place[p] == "resting")
        s.place[p] = "waiting"

    @action(fairness="strong")
    def enter(s, p: Process) -> None:
        """Take the lock."""
        require(s.place[p] == "waiting")
        require(~s.taken)
        s.taken = True
        s.place[p] = "critical"

    @action(fairness="weak")
    def work(s, p: Process) -> None:
        """Do what the lock is for."""
        require(s.place[p] == "critical")
        s.place[p] = "leaving"

    @action(fairness="weak")
    def leave(s, p: Process) -> None:
        """Give the lock back."""
        require(s.place[p] == "leaving")
        s.taken = False
        s.place[p] = "resting"

    @invariant()
    def exclusion(s) -> Bool:
        """No two processes are inside."""
        return forall(
            s.Process,
            s.Process,
            lambda p, q: (p == q) | (s.place[p] != "critical") | (s.place[q] != "critical"),
        )

    @leads_to()
    def served(s, p: Process) -> tuple[Bool, Bool]:
        """Whoever asks gets the lock."""
        return s.place[p] == "waiting", s.place[p] == "critical"

    @leads_to()
    def asked(s, p: Process) -> tuple[Bool, Bool]:
        """Everybody asks now and then."""
        return s.place[p] == "resting", s.place[p] == "waiting"


class Robbed(Lock):
    """Once a process is driven out of the critical part."""

    Left: TypeAlias = Nat
    left: Left = 1

    @action
    def rob(s, p: Lock.Process) -> None:
        """The process loses the lock."""
        require((s.left > 0) & (s.place[p] == "critical"))
        s.left = s.left - 1
        s.taken = False
        s.place[p] = "resting"


class UnfairLock(Lock):
    """Entering is only weakly fair: a process may starve while others come and go."""

    @action(fairness="weak")
    def enter(s, p: Lock.Process) -> None:
        super().enter(p)


class LostLock(Lock):
    """The lock is never given back: everything stops."""

    def leave(s, p: Lock.Process) -> None:
        require(s.place[p] == "leaving")
        s.place[p] = "resting"


class Peterson(Protocol):
    """Mutual exclusion of two processes without a lock."""

    Process: TypeAlias = Nat
    Place: TypeAlias = Enum["start", "flag", "turn", "wait", "critical", "leave"]
    place: Map[Process, Place] = everywhere("start")
    wants: Map[Process, Bool] = everywhere(False)
    turn: Process = 0

    @action(fairness="weak")
    def begin(s, p: Process) -> None:
        """Leave the part without interest."""
        require(s.place[p] == "start")
        s.place[p] = "flag"

    @action(fairness="weak")
    def raise_flag(s, p: Process) -> None:
        """Say that one wants to enter."""
        require(s.place[p] == "flag")
        s.wants[p] = True
        s.place[p] = "turn"

    @action(fairness="weak")
    def give_turn(s, p: Process) -> None:
        """Let the other one go first."""
        require(s.place[p] == "turn")
        s.turn = 1 - p
        s.place[p] = "wait"

    @action(fairness="weak")
    def enter(s, p: Process) -> None:
        """Enter if the other one does not want to, or has given the turn."""
        require(s.place[p] == "wait")
        require(~s.wants[1 - p] | (s.turn == p))
        s.place[p] = "critical"

    @action(fairness="weak")
    def work(s, p: Process) -> None:
        """The critical part."""
        require(s.place[p] == "critical")
        s.place[p] = "leave"

    @action(fairness="weak")
    def lower_flag(s, p: Process) -> None:
        """Leave."""
        require(s.place[p] == "leave")
        s.wants[p] = False
        s.place[p] = "start"

    @invariant()
    def exclusion(s) -> Bool:
        """Never both."""
        return ~((s.place[0] == "critical") & (s.place[1] == "critical"))

    @leads_to()
    def served(s, p: Process) -> tuple[Bool, Bool]:
        """Whoever raises the flag gets in."""
        return s.place[p] == "turn", s.place[p] == "critical"


class TCommit(Protocol):
    """Transaction commit among resource managers."""

    Manager: TypeAlias = Sort
    Phase: TypeAlias = Enum["working", "prepared", "committed", "aborted"]
    phase: Map[Manager, Phase] = everywhere("working")

    @action
    def prepare(s, r: Manager) -> None:
        """Prepare."""
        require(s.phase[r] == "working")
        s.phase[r] = "prepared"

    @action
    def commit(s, r: Manager) -> None:
        """Commit where all are prepared or committed."""
        require(s.phase[r] == "prepared")
        require(forall(s.Manager, lambda q: one_of(s.phase[q], "prepared", "committed")))
        s.phase[r] = "committed"

    @action
    def abort(s, r: Manager) -> None:
        """Abort where nobody has committed."""
        require(one_of(s.phase[r], "working", "prepared"))
        require(~exists(s.Manager, lambda q: s.phase[q] == "committed"))
        s.phase[r] = "aborted"

    @invariant()
    def consistent(s) -> Bool:
        """Nobody commits while another has aborted."""
        return forall(
            s.Manager, s.Manager, lambda p, q: ~((s.phase[p] == "aborted") & (s.phase[q] == "committed"))
        )


class TwoPhase(TCommit):
    """Two-phase commit with a transaction manager and messages that stay for ever."""

    Decision: TypeAlias = Enum["init", "committed", "aborted"]
    decision: Decision = "init"
    heard: Map[TCommit.Manager, Bool] = everywhere(False)
    sent: Map[TCommit.Manager, Bool] = everywhere(False)
    commit_sent: Bool = False
    abort_sent: Bool = False

    @action
    def prepare(s, r: TCommit.Manager) -> None:
        """Prepare and say so."""
        require(s.phase[r] == "working")
        s.phase[r] = "prepared"
        s.sent[r] = True

    @action
    def commit(s, r: TCommit.Manager) -> None:
        """Obey a commit."""
        require(s.commit_sent)
        s.phase[r] = "committed"

    @action
    def abort(s, r: TCommit.Manager) -> None:
        """Obey an abort."""
        require(s.abort_sent)
        s.phase[r] = "aborted"

    @action
    def give_up(s, r: TCommit.Manager) -> None:
        """Abort by oneself while working."""
        require(s.phase[r] == "working")
        s.phase[r] = "aborted"

    @action
    def hear(s, r: TCommit.Manager) -> None:
        """The transaction manager hears that one is prepared."""
        require(s.decision == "init")
        require(s.sent[r])
        s.heard[r] = True

    @action
    def decide_commit(s) -> None:
        """All are prepared: commit."""
        require(s.decision == "init")
        require(forall(s.Manager, lambda r: s.heard[r]))
        s.decision = "committed"
        s.commit_sent = True

    @action
    def decide_abort(s) -> None:
        """Abort at will."""
        require(s.decision == "init")
        s.decision = "aborted"
        s.abort_sent = True

    @transition_invariant()
    def decision_is_final(before, after: Self) -> Bool:
        """A decision is never changed."""
        return (before.decision == "init") | (before.decision == after.decision)

    @reachable(after="commit")
    def commits(before, after: Self, r: TCommit.Manager) -> Bool:
        """A manager commits for the first time."""
        return (before.phase[r] == "prepared") & (after.phase[r] == "committed")


class Handover(Protocol):
    """Servers of which one holds a lease and may offer it: refuted in three steps."""

    Server: TypeAlias = Sort
    Time: TypeAlias = Nat

    LETS_GO: Bool = option(False)
    holder: Set[Server] = everywhere(False)
    offered: Map[Server, Server, Bool] = everywhere(False)
    now: Time = 0

    @action
    def take(s, server: Server) -> None:
        """A server takes the lease when it is free."""
        require(~exists(s.Server, lambda o: s.holder[o]))
        s.holder[server] = True

    @action
    def offer(s, server: Server, other: Server) -> None:
        """The holder offers the lease to another server."""
        require(s.holder[server])
        require(server != other)
        s.offered[server, other] = True

    @action
    def accept(s, server: Server, other: Server) -> None:
        """The other server takes the lease that it was offered."""
        require(s.offered[server, other])
        s.offered[server, other] = False
        s.holder[server] = s.holder[server] & ~s.LETS_GO
        s.holder[other] = True

    @action
    def tick(s) -> None:
        """Time passes."""
        s.now = s.now + 1

    @invariant()
    def one_holder(s) -> Bool:
        """At most one server holds the lease."""
        return forall(s.Server, s.Server, lambda a, b: implies(s.holder[a] & s.holder[b], a == b))
