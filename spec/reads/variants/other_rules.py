"""The levels one by one; deviations of the real system; what was never promised."""

from tidemark.spec.language import (
    Bool,
    Map,
    Set,
    Sort,
    TypeAlias,
    action,
    all_of,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    invariant,
    ite,
    leads_to,
    lemma,
    one_of,
    removed,
    require,
    when,
)
from tidemark.spec.reads import Reads


class Strong:
    """Strong reads alone."""

    begin_session = removed
    begin_bounded = removed
    begin_eventually = removed
    begin_customized = removed
    begin_page = removed


class StrongReads(Strong, Reads):
    """Strong reads alone."""


class Session:
    """Session reads alone."""

    begin_strong = removed
    stamp_read = removed
    begin_bounded = removed
    begin_eventually = removed
    begin_customized = removed
    begin_page = removed


class SessionReads(Session, Reads):
    """Session reads alone."""


class BoundedReads(Reads):
    """Bounded reads alone."""

    begin_strong = removed
    stamp_read = removed
    begin_session = removed
    begin_eventually = removed
    begin_customized = removed
    begin_page = removed


class Eventual:
    """Eventual reads, and further pages of them."""

    begin_strong = removed
    stamp_read = removed
    begin_session = removed
    begin_bounded = removed
    begin_customized = removed


class EventualReads(Eventual, Reads):
    """Eventual reads, and further pages of them."""


class CustomizedReads(Reads):
    """Customized reads alone."""

    begin_strong = removed
    stamp_read = removed
    begin_session = removed
    begin_bounded = removed
    begin_eventually = removed
    begin_page = removed


class WritesAlone(SessionReads):
    """A client carries the timestamps of its writes, and not those of its answers."""

    CARRIES = False


class KeptByTheProxy(SessionReads):
    """The proxy of a write keeps the session's timestamp, and not the client."""

    Proxy: TypeAlias = Sort

    write_via: Map[Reads.Write, Proxy] = constant()
    read_via: Map[Reads.Read, Proxy] = constant()
    at_proxy: Map[Reads.Client, Proxy, Reads.Ts] = everywhere(0)

    def acknowledge(s, w: SessionReads.Write) -> None:
        super().acknowledge(w)
        s.at_proxy = each(
            s.Client,
            s.Proxy,
            lambda c, p: ite(
                all_of(c == s.writer[w], p == s.write_via[w], s.at_proxy[c, p] < s.ts[w]),
                s.ts[w],
                s.at_proxy[c, p],
            ),
        )

    def begin_session(s, q: SessionReads.Read) -> None:
        s.begin(q, "session")
        s.wait_for(q, s.at_proxy[s.reader[q], s.read_via[q]])


class DeletesTellNoTimestamp(SessionReads):
    """The answer to a delete has no timestamp, as in 2.3.5: the client keeps that of its last insert."""

    def acknowledge(s, w: SessionReads.Write) -> None:
        known = s.carried[s.writer[w]]
        super().acknowledge(w)
        with when(s.deletes[w]):
            s.carried[s.writer[w]] = known


def do_not_go_back(s: Reads, level: str) -> Bool:
    """A read of the level is not older than an answer that its client had before."""
    return forall(
        s.Read,
        s.Read,
        lambda a, b: implies(
            all_of(s.precedes[a, b], s.is_answered(b), s.level[b] == level, s.reader[a] == s.reader[b]),
            s.moment[a] <= s.moment[b],
        ),
    )


class HopesOfEventualReads(EventualReads):
    """What an eventual read does not promise, as a claim."""

    @invariant(source="seed 002, consistency; facts 6.2: Eventually")
    def eventual_reads_do_not_go_back(s) -> Bool:
        """An eventual read is not older than an answer that its client had before."""
        return do_not_go_back(s, "eventually")


class HopesOfBoundedReads(BoundedReads):
    """What a bounded read does not promise, as claims."""

    @invariant(source="seed 002, consistency; facts 6.2: Bounded")
    def bounded_reads_do_not_go_back(s) -> Bool:
        """A bounded read is not older than an answer that its client had before."""
        return do_not_go_back(s, "bounded")

    @invariant(source="seed 002, consistency; facts 6.2: Bounded")
    def bounded_reads_show_own_writes(s) -> Bool:
        """A bounded read shows its client's own acknowledged writes."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                all_of(s.is_answered(q), s.level[q] == "bounded", s.known[q, w], s.writer[w] == s.reader[q]),
                s.accounts_for(q, w),
            ),
        )


class HopesOfSessionReads(SessionReads):
    """What a session read does not promise, as a claim."""

    @invariant(source="seed 002, consistency; facts 6.2: Session")
    def session_reads_show_all_writes(s) -> Bool:
        """A session read shows the acknowledged writes of other clients."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                s.is_answered(q) & (s.level[q] == "session") & s.known[q, w], s.accounts_for(q, w)
            ),
        )


class HopesOfStrongReads(StrongReads):
    """What a strong read does not promise, as a claim."""

    cancel = removed

    @leads_to(source="facts 6.1; hazard 34")
    def strong_reads_are_answered(s, q: Reads.Read) -> tuple[Bool, Bool]:
        """Every strong read that is not cancelled is answered, and not ended by an error."""
        waits = one_of(s.progress[q], "waiting", "asleep", "reading") & (s.guarantee[q] <= s.issued)
        return waits, s.progress[q] == "answered"


class TicksStop(StrongReads):
    """Ticks need not come, and a read waits for them (up to 2.5, without a deadline of the caller)."""

    @leads_to(source="facts 6.1; hazard 34", without=("send_tick",))
    def a_sleeping_read_ends(s, q: Reads.Read) -> tuple[Bool, Bool]:
        """A sleeping read ends, even if no tick comes."""
        return s.progress[q] == "asleep", one_of(s.progress[q], "answered", "failed")


class StallIsAnError(TicksStop):
    """A read ends with an error if the service time has not moved for some time."""

    @action(fairness="weak", source="facts 6.1; hazard 34")
    def stall(s, q: Reads.Read) -> None:
        """The service time has not moved for too long."""
        require(s.progress[q] == "asleep")
        s.end_without_answer(q)


class WaitersOutliveTheirCallers(Reads):
    """2.5: a caller that gives up broadcasts without the lock, and its waiter may miss that. It sleeps until
    the next raise, or the end of the replica.
    """

    left: Set[Reads.Read] = everywhere(False)

    def cancel(s, q: Reads.Read) -> None:
        s.left[q] = s.progress[q] == "asleep"
        super().cancel(q)

    def wake(s, r: Reads.Replica) -> None:
        super().wake(r)
        s.left = each(s.Read, lambda q: s.left[q] & (s.place(q) != r))

    @leads_to(source="facts 6.1; hazard 34")
    def a_left_waiter_ends(s, q: Reads.Read) -> tuple[Bool, Bool]:
        """A waiter without a caller ends, if the client has not named the guarantee itself."""
        return s.left[q] & (s.level[q] != "customized"), ~s.left[q]

    @leads_to(source="facts 6.1, 6.2; hazard 34")
    def a_left_waiter_of_any_level_ends(s, q: Reads.Read) -> tuple[Bool, Bool]:
        """A waiter without a caller ends, whatever its guarantee was."""
        return s.left[q], ~s.left[q]


class WithoutTimestamps(Reads):
    """Deletes remove the rows that are present when they are applied, whatever their timestamp."""

    gone: Set[Reads.Replica, Reads.Write] = everywhere(False)

    def apply_delete(s, r: Reads.Replica, w: Reads.Write) -> None:
        super().apply_delete(r, w)
        s.gone = each(
            s.Replica,
            s.Write,
            lambda t, v: s.gone[t, v] | all_of(t == r, s.applied[t, v], s.key[v] == s.key[w]),
        )

    def finds(s, r: Reads.Replica, w: Reads.Write, value: Reads.Ts) -> Bool:
        return all_of(s.applied[r, w], ~s.deletes[w], ~s.gone[r, w], s.ts[w] <= value)


class DeletesMarkRows(Reads):
    """A delete marks the older rows of its key that the replica has when the delete is applied, and an answer
    looks at the marks. In ``Reads`` an answer looks at all applied deletes, also at one that was applied
    before its row.
    """

    marked: Set[Reads.Replica, Reads.Write, Reads.Write] = everywhere(False)

    def apply_delete(s, r: Reads.Replica, w: Reads.Write) -> None:
        super().apply_delete(r, w)
        s.mark_rows(r, w)

    def mark_rows(s, r: Reads.Replica, d: Reads.Write) -> None:
        """The present rows have the delete from now on."""
        s.marked = each(
            s.Replica,
            s.Write,
            s.Write,
            lambda t, e, w: (
                s.marked[t, e, w] | all_of((t == r) & (e == d), s.applied[t, w], s.is_older(w, e))
            ),
        )

    def is_older(s, w: Reads.Write, d: Reads.Write) -> Bool:
        return all_of(~s.deletes[w], s.deletes[d], s.key[d] == s.key[w], s.ts[w] < s.ts[d])

    def finds(s, r: Reads.Replica, w: Reads.Write, value: Reads.Ts) -> Bool:
        is_deleted = exists(s.Write, lambda d: s.marked[r, d, w] & (s.ts[d] <= value))
        return all_of(s.applied[r, w], ~s.deletes[w], s.ts[w] <= value, ~is_deleted)

    @invariant(source="seed 002, insert before delete; facts 6.1")
    def marks_hide_what_all_deletes_hide(s) -> Bool:
        """A replica shows what it would show if an answer looked at all applied deletes: the answers of every
        level are those of ``Reads``.
        """
        return forall(s.Replica, s.Write, s.Ts, lambda r, w, t: s.finds(r, w, t) == Reads.finds(s, r, w, t))

    @lemma(source="seed 002, insert before delete; facts 6.1")
    def rows_have_the_deletes_that_are_applied(s) -> Bool:
        """Rows come before deletes, pack by pack: a row has exactly the applied deletes that remove it."""
        return forall(
            s.Replica,
            s.Write,
            s.Write,
            lambda r, d, w: s.marked[r, d, w] == all_of(s.applied[r, d], s.applied[r, w], s.is_older(w, d)),
        )
