"""A read that moves from one replica to another: because its replica has stopped, or is too slow.

In ``spec/reads`` a read asks one replica, and ends with it. Proxies ask a second one: one after the other
(``Reader`` in ``impl/proxy/reads.py``, as in Milvus), or all of them at once (``all_at_once``).
"""

from collections.abc import Callable

from tidemark.spec.language import (
    Bool,
    Map,
    Self,
    Set,
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
    leads_to,
    lemma,
    one_of,
    reachable,
    removed,
    require,
)
from tidemark.spec.reads import Reads
from tidemark.spec.reads.variants.other_rules import Eventual, Session, Strong


class HandOver(Reads):
    """A read asks replicas one by one with the same guarantee, none twice, and takes no rows along."""

    at: Map[Reads.Read, Reads.Replica] = anything  # whom it asks now; ``replica`` is whom it asks first
    left: Set[Reads.Read, Reads.Replica] = everywhere(False)  # whom it has asked in vain

    @initially
    def a_read_begins_at_its_replica(s) -> Bool:
        """At first a read asks its own replica."""
        return forall(s.Read, lambda q: s.at[q] == s.replica[q])

    def place(s, q: Reads.Read) -> Reads.Replica:
        return s.at[q]

    def is_at_a_replica(s, q: Reads.Read) -> Bool:
        """The read waits, or its rows are collected."""
        return one_of(s.progress[q], "waiting", "asleep", "reading")

    def may_ask(s, q: Reads.Read, r: Reads.Replica) -> Bool:
        return (s.at[q] != r) & ~s.left[q, r]

    @action(fairness="weak", source="facts 6.1, 6.3")
    def follow(s, q: Reads.Read, r: Reads.Replica) -> None:
        """The replica has stopped: the read asks another one."""
        require(s.is_at_a_replica(q) & s.stopped[s.at[q]])
        require(s.may_ask(q, r))
        s.move(q, r)

    @action(source="facts 6.1, 6.3")
    def ask_another(s, q: Reads.Read, r: Reads.Replica) -> None:
        """The replica is too slow, or its answer is lost: the read asks another one."""
        require(s.is_at_a_replica(q) & ~s.stopped[s.at[q]])
        require(s.may_ask(q, r))
        s.move(q, r)

    def move(s, q: Reads.Read, r: Reads.Replica) -> None:
        """Only the guarantee moves along."""
        s.left[q, s.at[q]] = True
        s.at[q] = r
        s.progress[q] = "waiting"
        s.moment[q] = 0

    def fail_read(s, q: Reads.Read) -> None:
        require(~exists(s.Replica, lambda r: s.may_ask(q, r)))
        super().fail_read(q)

    def end_without_answer(s, q: Reads.Read) -> None:
        super().end_without_answer(q)
        s.at[q] = s.replica[q]
        s.left = each(s.Read, s.Replica, lambda p, r: (p != q) & s.left[p, r])

    # ---- witnesses ----

    @reachable(after="answer", source="facts 6.3")
    def a_read_is_answered_elsewhere(before, after: Self, q: Reads.Read) -> Bool:
        """The first replica of a strong read has stopped; another one shows it an acknowledged row."""
        return all_of(
            after.stopped[after.replica[q]],
            ~after.stopped[after.at[q]],
            after.level[q] == "strong",
            exists(after.Write, lambda w: after.known[q, w] & after.seen[q, w]),
        )

    @reachable(after="ask_another", source="facts 6.3")
    def a_served_read_waits_again(before, after: Self, q: Reads.Read, r: Reads.Replica) -> Bool:
        """A read was served, and moves to a replica that has not reached its guarantee."""
        return (before.progress[q] == "reading") & (after.safe[r] < after.guarantee[q])

    @reachable(after="follow", source="facts 6.3; hazard 34")
    def a_sleeper_moves(before, after: Self, q: Reads.Read, r: Reads.Replica) -> Bool:
        """A read that slept at a stopped replica moves to one that serves it."""
        return (before.guarantee[q] > before.safe[before.at[q]]) & after.is_served(q)


class StrongHandOver(Strong, HandOver):
    """Strong reads alone."""


class SessionHandOver(Session, HandOver):
    """Session reads alone."""


class EventualHandOver(Eventual, HandOver):
    """Eventual reads, and further pages of them."""


# ---- what a hand-over does not promise ----


class HopesOfAHandOver(StrongHandOver):
    """What a strong read does not promise during a hand-over, as a claim."""

    cancel = removed

    @leads_to(source="facts 6.3; hazard 34")
    def a_replica_that_runs_is_enough(s, q: Reads.Read) -> tuple[Bool, Bool]:
        """Every strong read that is not cancelled is answered, as long as one replica runs."""
        waits = s.is_at_a_replica(q) & (s.guarantee[q] <= s.issued)
        return waits, (s.progress[q] == "answered") | forall(s.Replica, lambda r: s.stopped[r])


class LeavesTheDeadAlone(HopesOfAHandOver):
    """A read stays at its replica, however slow, until the replica stops."""

    ask_another = removed
    a_served_read_waits_again = removed


class HopesOfOneReplica(EventualHandOver):
    """What an eventual read does not promise even if it asks the same replica first, as a claim."""

    @invariant(source="facts 6.1, 6.3")
    def reads_that_begin_at_one_replica_do_not_go_back(s) -> Bool:
        """Of two reads that begin at one replica, the later one is not older than the answer of the first."""
        return forall(
            s.Read,
            s.Read,
            lambda a, b: implies(
                all_of(
                    s.precedes[a, b],
                    s.is_answered(b),
                    s.level[b] != "page",
                    s.replica[a] == s.replica[b],
                ),
                s.moment[a] <= s.moment[b],
            ),
        )


class WritesAloneAreCarried(SessionHandOver):
    """A client carries the timestamps of its writes, and not those of its answers."""

    CARRIES = False


# ---- rows are collected in two steps ----


class InPieces(HandOver):
    """The rows of growing and of sealed segments are collected in two steps, from a running replica: pieces
    of a stopped one are lost. A whole answer may still be on its way.
    """

    sealed: Set[Reads.Write] = constant()  # the row is in a sealed segment

    has_growing: Set[Reads.Read] = everywhere(False)  # the rows of growing segments are collected
    has_sealed: Set[Reads.Read] = everywhere(False)
    found: Set[Reads.Read, Reads.Write] = everywhere(False)  # the rows so far

    def finds(s, r: HandOver.Replica, w: HandOver.Write, value: HandOver.Ts) -> Bool:
        return super().finds(r, w, value) & ~s.stopped[r]

    def is_serviceable(s, q: HandOver.Read) -> Bool:
        """The replica looks again before it collects."""
        return ~s.stopped[s.at[q]]

    @action(fairness="weak", source="facts 6.1")
    def collect_growing(s, q: Reads.Read) -> None:
        """The rows of growing segments that are visible at the timestamp of the answer."""
        require((s.progress[q] == "reading") & ~s.has_growing[q])
        require(s.is_serviceable(q))
        s.has_growing[q] = True
        s.collect(q, lambda w: ~s.sealed[w])

    @action(fairness="weak", source="facts 6.1")
    def collect_sealed(s, q: Reads.Read) -> None:
        """The rows of sealed segments."""
        require((s.progress[q] == "reading") & ~s.has_sealed[q])
        require(s.is_serviceable(q))
        s.has_sealed[q] = True
        s.collect(q, lambda w: s.sealed[w])

    def collect(s, q: HandOver.Read, is_of_it: Callable[[HandOver.Write], Bool]) -> None:
        """The visible rows of one kind of segment are added to the collected ones."""
        s.found = each(
            s.Read,
            s.Write,
            lambda p, w: s.found[p, w] | all_of(p == q, is_of_it(w), s.finds(s.at[q], w, s.moment[q])),
        )

    def answer(s, q: HandOver.Read) -> None:
        require(s.has_growing[q] & s.has_sealed[q])
        found = s.found
        super().answer(q)
        s.seen = each(s.Read, s.Write, lambda p, w: ite(p == q, found[p, w], s.seen[p, w]))
        s.forget(q)

    def forget(s, q: HandOver.Read) -> None:
        """Nothing is collected."""
        s.has_growing[q] = False
        s.has_sealed[q] = False
        s.found = each(s.Read, s.Write, lambda p, w: (p != q) & s.found[p, w])

    def move(s, q: HandOver.Read, r: HandOver.Replica) -> None:
        super().move(q, r)
        s.forget(q)

    def end_without_answer(s, q: HandOver.Read) -> None:
        super().end_without_answer(q)
        s.forget(q)

    @lemma(source="facts 6.1")
    def what_is_collected_is_of_one_moment(s) -> Bool:
        """A piece has exactly the rows visible at the moment of its read; without a read there is none."""
        return forall(
            s.Read,
            lambda q: implies(s.progress[q] != "reading", ~s.has_growing[q] & ~s.has_sealed[q]),
        ) & forall(
            s.Read,
            s.Write,
            lambda q, w: (
                s.found[q, w]
                == (ite(s.sealed[w], s.has_sealed[q], s.has_growing[q]) & s.is_visible(w, s.moment[q]))
            ),
        )

    @reachable(after="collect_sealed", source="facts 6.1")
    def the_service_time_rises_between_two_pieces(before, after: Self, q: HandOver.Read) -> Bool:
        """Between the two steps the replica has applied more than the answer will show."""
        return before.has_growing[q] & (before.safe[before.at[q]] > before.moment[q])

    @reachable(after="follow", source="facts 6.1, 6.3")
    def a_piece_is_left_behind(before, after: Self, q: HandOver.Read, r: HandOver.Replica) -> Bool:
        """A replica stops when it has collected an acknowledged row, but not all."""
        return exists(before.Write, lambda w: before.found[q, w] & before.known[q, w])


class StrongInPieces(Strong, InPieces):
    """Strong reads alone."""
