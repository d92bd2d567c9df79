"""Claims about service time and reads: the promises of each level; safety, liveness and witnesses.

Of other protocols they use the order of the oracle and the watermark promise, not that timestamps are unique.
"""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    assumption,
    exists,
    forall,
    implies,
    invariant,
    ite,
    leads_to,
    one_of,
    reachable,
    transition_invariant,
)
from tidemark.spec.reads.actions import ReadsActions


class ReadsClaims(ReadsActions):
    """Writes, ticks, replicas and reads of one channel; any number of clients, keys and replicas."""

    # ---- facts about the constants ----

    @assumption(source="facts 6.2: gracefulTime; hazard 35")
    def clocks_are_better_than_the_grace(s) -> Bool:
        """The clocks' error is not larger than the time that a bounded read may miss."""
        return s.skew <= s.graceful

    # ---- helpers ----

    def is_answered(s, q: ReadsActions.Read) -> Bool:
        return s.progress[q] == "answered"

    def is_visible(s, w: ReadsActions.Write, value: ReadsActions.Ts) -> Bool:
        """The row is inserted at or below the timestamp, and no delete is between."""
        return all_of(
            s.stage[w] == "logged",
            ~s.deletes[w],
            s.ts[w] <= value,
            ~exists(s.Write, lambda d: (s.stage[d] == "logged") & s.removes(d, w, value)),
        )

    def accounts_for(s, q: ReadsActions.Read, w: ReadsActions.Write) -> Bool:
        """The answer shows the write: a row, unless deleted since; of a delete, no older row of its key."""
        no_older_row = forall(
            s.Write, lambda v: implies(s.seen[q, v] & (s.key[v] == s.key[w]), s.ts[v] >= s.ts[w])
        )
        is_there = s.seen[q, w] | exists(s.Write, lambda d: s.removes(d, w, s.moment[q]))
        return ite(s.deletes[w], no_older_row, is_there)

    # ---- service time ----

    @invariant(source="seed 002, service time; facts 6.1; property R")
    def service_time_is_applied(s) -> Bool:
        """Every write at or below a service time that is or comes in the log is applied by that replica."""
        in_log = forall(
            s.Replica,
            s.Write,
            lambda r, w: implies((s.stage[w] == "logged") & (s.ts[w] <= s.safe[r]), s.applied[r, w]),
        )
        to_come = forall(s.Replica, s.Write, lambda r, w: implies(s.is_begun(w), s.lies_above(w, s.safe[r])))
        return in_log & to_come

    @invariant(source="seed 002, service time; facts 6.1")
    def nothing_above_the_pack_is_applied(s) -> Bool:
        """A replica holds nothing of the log above the end of its current pack."""
        return forall(s.Replica, s.Write, lambda r, w: implies(s.applied[r, w], s.ts[w] <= s.pack[r]))

    @invariant(source="seed 002, insert before delete; facts 6.1")
    def deletes_find_the_rows_of_their_pack(s) -> Bool:
        """A replica that has applied a delete of the pack has all rows of the pack."""
        return forall(
            s.Replica,
            s.Write,
            s.Write,
            lambda r, d, w: implies(
                all_of(
                    s.applied[r, d],
                    s.deletes[d],
                    s.ts[d] > s.safe[r],
                    s.stage[w] == "logged",
                    ~s.deletes[w],
                    s.ts[w] <= s.pack[r],
                ),
                s.applied[r, w],
            ),
        )

    @transition_invariant(source="facts 6.1; hazard 34", frame=True)
    def a_stopped_replica_rests(before, after: Self) -> Bool:
        """A stopped replica takes no pack, applies nothing, and its service time stays."""
        return forall(
            after.Replica,
            after.Write,
            lambda r, w: implies(
                before.stopped[r],
                all_of(
                    after.pack[r] == before.pack[r],
                    after.safe[r] == before.safe[r],
                    after.applied[r, w] == before.applied[r, w],
                ),
            ),
        )

    @transition_invariant(source="facts 6.1; hazard 33", frame=True)
    def service_time_never_goes_back(before, after: Self) -> Bool:
        """The service time of a replica never goes back."""
        return forall(after.Replica, lambda r: after.safe[r] >= before.safe[r])

    # ---- every read ----

    @invariant(source="seed 002, guarantee; facts 6.1; property R")
    def answers_reach_their_guarantee(s) -> Bool:
        """The timestamp of an answer is at or above the guarantee."""
        return forall(s.Read, lambda q: implies(s.is_answered(q), s.moment[q] >= s.guarantee[q]))

    @invariant(source="seed 002, insert before delete; facts 6.1; property R")
    def answers_are_exact(s) -> Bool:
        """An answer at t has exactly the rows inserted at or below t without a delete between them and t."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(s.is_answered(q), s.seen[q, w] == s.is_visible(w, s.moment[q])),
        )

    @transition_invariant(source="facts 6.1", frame=True)
    def answers_are_final(before, after: Self) -> Bool:
        """Answers do not change."""
        return forall(
            after.Read,
            after.Write,
            lambda q, w: implies(
                before.is_answered(q),
                all_of(
                    after.is_answered(q),
                    after.moment[q] == before.moment[q],
                    after.seen[q, w] == before.seen[q, w],
                ),
            ),
        )

    @invariant(source="facts 6.1; hazard 33")
    def one_replica_never_goes_back(s) -> Bool:
        """Successive reads at one replica do not go back, at any level, except further pages."""
        return forall(
            s.Read,
            s.Read,
            lambda a, b: implies(
                all_of(
                    s.precedes[a, b],
                    s.is_answered(b),
                    s.level[b] != "page",
                    s.place(a) == s.place(b),
                ),
                s.moment[a] <= s.moment[b],
            ),
        )

    # ---- the levels ----

    @invariant(source="seed 002, consistency; facts 6.2: Strong; property R")
    def strong_sees_what_was_acknowledged(s) -> Bool:
        """A strong read shows every write that was acknowledged before it began, of any client."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                s.is_answered(q) & (s.level[q] == "strong") & s.known[q, w], s.accounts_for(q, w)
            ),
        )

    @invariant(source="seed 002, consistency; facts 6.2: Strong")
    def strong_never_goes_back(s) -> Bool:
        """A strong read is not older than any answer, of any client, before it began."""
        return forall(
            s.Read,
            s.Read,
            lambda a, b: implies(
                s.precedes[a, b] & s.is_answered(b) & (s.level[b] == "strong"), s.moment[a] <= s.moment[b]
            ),
        )

    @invariant(source="seed 002, consistency; facts 6.2: Session; property R")
    def session_sees_its_own_writes(s) -> Bool:
        """A session read shows every write of its own client that was acknowledged before it began."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                all_of(
                    s.is_answered(q),
                    s.level[q] == "session",
                    s.known[q, w],
                    s.writer[w] == s.reader[q],
                ),
                s.accounts_for(q, w),
            ),
        )

    @invariant(source="seed 002, consistency; facts 6.2: Session")
    def session_never_goes_back(s) -> Bool:
        """A session read is not older than any answer that its client got before it began."""
        return forall(
            s.Read,
            s.Read,
            lambda a, b: implies(
                all_of(
                    s.precedes[a, b],
                    s.is_answered(b),
                    s.level[b] == "session",
                    s.reader[a] == s.reader[b],
                ),
                s.moment[a] <= s.moment[b],
            ),
        )

    @invariant(source="seed 002, consistency; facts 6.2: Bounded; hazard 35")
    def bounded_misses_only_what_is_recent(s) -> Bool:
        """A bounded read shows every earlier acknowledged write that is older than grace and clock error."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                all_of(
                    s.is_answered(q),
                    s.level[q] == "bounded",
                    s.known[q, w],
                    s.ts[w] + s.graceful + s.skew <= s.began[q],
                ),
                s.accounts_for(q, w),
            ),
        )

    @invariant(source="facts 6.2; hazard 35")
    def guarantees_were_issued(s) -> Bool:
        """Unless the client names it, no read waits for a timestamp that the oracle has not issued."""
        return forall(
            s.Read,
            lambda q: implies(s.level[q] != "customized", s.guarantee[q] <= s.issued),
        )

    @invariant(source="facts 6.2; B40")
    def pages_are_of_one_moment(s) -> Bool:
        """All pages of an iterator, and all parts of a request, show the same moment."""
        return forall(
            s.Read,
            lambda q: implies(s.is_answered(q) & (s.level[q] == "page"), s.moment[q] == s.moment[s.first[q]]),
        )

    # ---- liveness ----

    @leads_to(source="seed 002, waitTSafe; facts 6.1; hazard 34; property WL")
    def a_waiting_read_ends(s, q: ReadsActions.Read) -> tuple[Bool, Bool]:
        """A read whose guarantee was issued gets its answer, or an error."""
        waits = one_of(s.progress[q], "waiting", "asleep", "reading") & (s.guarantee[q] <= s.issued)
        return waits, one_of(s.progress[q], "answered", "failed")

    @leads_to(source="seed 002, service time; facts 6.1")
    def service_time_follows_the_oracle(s, r: ReadsActions.Replica, ts: ReadsActions.Ts) -> tuple[Bool, Bool]:
        """The service time of a running replica reaches every issued timestamp, with or without writes."""
        return (s.issued >= ts) & ~s.stopped[r], (s.safe[r] >= ts) | s.stopped[r]

    # ---- witnesses ----

    @reachable(after="raise_safe", source="seed 002, waitTSafe")
    def a_read_is_woken(before, after: Self, r: ReadsActions.Replica) -> Bool:
        """A read that slept can proceed."""
        return exists(
            after.Read,
            lambda q: (before.progress[q] == "asleep") & after.is_served(q) & (after.guarantee[q] > 0),
        )

    @reachable(after="apply_delete", source="seed 002, insert before delete")
    def a_delete_follows_a_younger_row(
        before, after: Self, r: ReadsActions.Replica, w: ReadsActions.Write
    ) -> Bool:
        """A delete is applied after a row of its key that is younger."""
        return exists(
            before.Write,
            lambda v: all_of(
                before.applied[r, v], before.key[v] == before.key[w], before.ts[v] > before.ts[w]
            ),
        )

    @reachable(after="answer", source="seed 002, consistency")
    def an_answer_misses_an_acknowledged_write(before, after: Self, q: ReadsActions.Read) -> Bool:
        """A write was acknowledged before the read began, and the answer is older."""
        return exists(after.Write, lambda w: after.known[q, w] & (after.ts[w] > after.moment[q]))

    @reachable(after="answer", source="facts 6.1")
    def an_answer_lags_behind_the_replica(before, after: Self, q: ReadsActions.Read) -> Bool:
        """The replica has applied more than the answer shows."""
        return exists(
            after.Write, lambda w: after.applied[after.place(q), w] & (after.ts[w] > after.moment[q])
        )

    @reachable(after="answer", source="facts 6.1")
    def an_answer_shows_a_row(before, after: Self, q: ReadsActions.Read) -> Bool:
        """A strong read shows a row that was acknowledged before the read began."""
        return (after.level[q] == "strong") & exists(
            after.Write, lambda w: after.seen[q, w] & after.known[q, w]
        )

    @reachable(after="stamp_write", source="facts 2.3")
    def calls_overlap(before, after: Self, w: ReadsActions.Write, ts: ReadsActions.Ts) -> Bool:
        """A write gets a timestamp below one that was given before."""
        return ts < before.issued

    @reachable(after="fail_read", source="facts 6.1; hazard 34")
    def a_read_fails_with_its_replica(before, after: Self, q: ReadsActions.Read) -> Bool:
        """The replica stops while the read collects its rows."""
        return before.progress[q] == "reading"

    @reachable(after="answer", source="facts 6.2: Session")
    def a_session_shows_its_own_row(before, after: Self, q: ReadsActions.Read) -> Bool:
        """A session read shows a row whose write was acknowledged to its own client before."""
        return (after.level[q] == "session") & exists(
            after.Write,
            lambda w: all_of(after.seen[q, w], after.known[q, w], after.writer[w] == after.reader[q]),
        )

    @reachable(after="answer", source="facts 6.2: Bounded; hazard 35")
    def a_bounded_read_shows_an_old_row(before, after: Self, q: ReadsActions.Read) -> Bool:
        """A bounded read shows a row that it must not miss."""
        return (after.level[q] == "bounded") & exists(
            after.Write,
            lambda w: all_of(
                after.seen[q, w],
                after.known[q, w],
                after.ts[w] + after.graceful + after.skew <= after.began[q],
            ),
        )

    @reachable(after="answer", source="facts 6.2: Customized")
    def a_named_guarantee_is_reached(before, after: Self, q: ReadsActions.Read) -> Bool:
        """A read is answered whose client has named a guarantee above 0."""
        return (after.level[q] == "customized") & (after.guarantee[q] > 0)

    @reachable(after="answer", source="facts 6.1, 6.2")
    def a_read_follows_an_answer(before, after: Self, q: ReadsActions.Read) -> Bool:
        """A read that is no further page is answered, and began after an answer of a moment above 0."""
        return (after.level[q] != "page") & exists(
            after.Read, lambda a: after.precedes[a, q] & (after.moment[a] > 0)
        )
