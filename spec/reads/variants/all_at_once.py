"""A read that asks all replicas at once (``ChannelReads`` in ``impl/queries/reads.py``), and wrong variants.

The first answer counts, and the replicas do not know of one another.
"""

from tidemark.spec.language import (
    Bool,
    Map,
    Self,
    Set,
    action,
    all_of,
    anything,
    each,
    everywhere,
    exists,
    forall,
    implies,
    initially,
    ite,
    leads_to,
    lemma,
    one_of,
    reachable,
    removed,
    require,
)
from tidemark.spec.reads import Reads
from tidemark.spec.reads.variants.other_rules import Strong


class AsksAll(Reads):
    """Each replica lets the read wait for its guarantee. It ends without an answer when all have stopped."""

    at: Map[Reads.Read, Reads.Replica] = anything  # whose answer it is
    looked: Set[Reads.Read, Reads.Replica] = everywhere(False)  # the replica has reached the guarantee
    shows: Map[Reads.Read, Reads.Replica, Reads.Ts] = everywhere(0)  # at which moment its answer is

    check = removed

    @initially
    def a_read_begins_at_its_replica(s) -> Bool:
        """It is of no meaning before the first answer."""
        return forall(s.Read, lambda q: s.at[q] == s.replica[q])

    def place(s, q: Reads.Read) -> Reads.Replica:
        return s.at[q]

    def may_look(s, q: Reads.Read, r: Reads.Replica) -> Bool:
        """The replica runs, and has reached the guarantee."""
        return ~s.stopped[r] & (s.safe[r] >= s.guarantee[q])

    @action(fairness="weak", source="seed 002, waitTSafe; facts 6.1")
    def look(s, q: Reads.Read, r: Reads.Replica) -> None:
        """A replica has reached the guarantee, and begins to collect rows."""
        require((s.progress[q] == "waiting") & ~s.looked[q, r])
        require(s.may_look(q, r))
        s.looked[q, r] = True
        s.shows[q, r] = ite(s.level[q] == "page", s.guarantee[q], s.safe[r])

    @action(fairness="weak", source="seed 004, 6.2; seed 004, 6.6.1")
    def choose(s, q: Reads.Read, r: Reads.Replica) -> None:
        """This answer comes first."""
        require((s.progress[q] == "waiting") & s.looked[q, r])
        s.progress[q] = "reading"
        s.at[q] = r
        s.moment[q] = s.shows[q, r]

    def fail_read(s, q: Reads.Read) -> None:
        require(forall(s.Replica, lambda r: s.stopped[r]))
        super().fail_read(q)

    def end_without_answer(s, q: Reads.Read) -> None:
        super().end_without_answer(q)
        s.at[q] = s.replica[q]
        s.looked = each(s.Read, s.Replica, lambda p, r: (p != q) & s.looked[p, r])
        s.shows = each(s.Read, s.Replica, lambda p, r: ite(p == q, 0, s.shows[p, r]))

    @lemma(source="facts 6.1")
    def what_a_replica_shows_is_served(s) -> Bool:
        """A replica that has looked shows a moment that it has served, and that reaches the guarantee; a page
        that of the first.
        """
        return forall(
            s.Read,
            s.Replica,
            lambda q, r: implies(
                s.looked[q, r],
                all_of(
                    one_of(s.progress[q], "waiting", "reading", "answered"),
                    (s.guarantee[q] <= s.shows[q, r]) & (s.shows[q, r] <= s.safe[r]),
                    implies(s.level[q] == "page", s.shows[q, r] == s.guarantee[q]),
                ),
            ),
        )

    @lemma(source="facts 6.1; hazard 33")
    def what_one_replica_shows_is_in_order(s) -> Bool:
        """A replica does not show less than it has answered before the read began."""
        return forall(
            s.Read,
            s.Read,
            lambda a, b: implies(
                all_of(s.precedes[a, b], s.looked[b, s.at[a]], s.level[b] != "page"),
                s.moment[a] <= s.shows[b, s.at[a]],
            ),
        )

    def a_read_is_woken(before, after: Self, r: Reads.Replica) -> Bool:
        return exists(
            after.Read,
            lambda q: all_of(
                before.progress[q] == "waiting",
                before.safe[r] < before.guarantee[q],
                after.safe[r] >= after.guarantee[q],
            ),
        )

    @reachable(after="answer", source="facts 6.3")
    def a_read_is_answered_elsewhere(before, after: Self, q: Reads.Read) -> Bool:
        """A replica has stopped, and another one shows a strong read an acknowledged row."""
        return all_of(
            after.stopped[after.replica[q]],
            after.level[q] == "strong",
            exists(after.Write, lambda w: after.known[q, w] & after.seen[q, w]),
        )

    @reachable(after="choose", source="facts 6.1")
    def two_replicas_show_different_moments(before, after: Self, q: Reads.Read, r: Reads.Replica) -> Bool:
        """Another replica would have answered at another moment."""
        return exists(after.Replica, lambda o: after.looked[q, o] & (after.shows[q, o] != after.shows[q, r]))


class StrongAsksAll(Strong, AsksAll):
    """Strong reads that nobody cancels."""

    cancel = removed

    @leads_to(source="facts 6.3; hazard 34")
    def a_replica_that_runs_is_enough(s, q: Reads.Read) -> tuple[Bool, Bool]:
        """Every strong read that is not cancelled is answered, as long as one replica runs."""
        waits = one_of(s.progress[q], "waiting", "reading") & (s.guarantee[q] <= s.issued)
        return waits, (s.progress[q] == "answered") | forall(s.Replica, lambda r: s.stopped[r])
