"""Lemmas and ranks: why the claims hold for any number of clients, writes, replicas and reads."""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    each,
    forall,
    helpful,
    implies,
    lemma,
    one_of,
    rank,
)
from tidemark.spec.reads.claims import ReadsClaims


class Reads(ReadsClaims):
    """Writes, ticks, replicas and reads of one channel; any number of clients, keys and replicas."""

    # ---- the service time of a replica reaches a timestamp ----

    def is_behind(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts) -> Bool:
        return all_of(s.issued >= ts, ~s.stopped[r], s.safe[r] < ts)

    def holds_up(s, w: ReadsClaims.Write, ts: ReadsClaims.Ts) -> Bool:
        """The write is on its way, and its timestamp is not above, or need not be."""
        return s.is_begun(w) & ~s.lies_above(w, ts)

    @rank("service_time_follows_the_oracle")
    def what_the_service_time_waits_for(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts) -> Measure:
        """Writes, first those without timestamp; the tick; steps of the service time; the next pack."""
        return (
            each(s.Write, lambda w: s.holds_up(w, ts)),
            each(s.Write, lambda w: s.holds_up(w, ts) & (s.stage[w] == "asked")),
            s.tick < ts,
            ts - s.safe[r],
            s.pack[r] == s.safe[r],
            each(s.Write, lambda w: s.is_in_pack(r, w)),
        )

    @helpful("service_time_follows_the_oracle", action="stamp_write")
    def a_write_is_stamped(
        s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts, w: ReadsClaims.Write
    ) -> HelpfulCase:
        waits = s.is_behind(r, ts) & s.holds_up(w, ts) & (s.stage[w] == "asked")
        return waits, (w, s.floor[w] + 1)

    @helpful("service_time_follows_the_oracle", action="append")
    def a_write_is_logged(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts, w: ReadsClaims.Write) -> HelpfulCase:
        return s.is_behind(r, ts) & s.holds_up(w, ts) & (s.stage[w] == "stamped"), (w,)

    @helpful("service_time_follows_the_oracle", action="send_tick")
    def a_tick_comes(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts) -> HelpfulCase:
        free = forall(s.Write, lambda w: ~s.holds_up(w, ts))
        return s.is_behind(r, ts) & free & (s.tick < ts), (ts,)

    @helpful("service_time_follows_the_oracle", action="take_pack")
    def a_pack_is_taken(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts) -> HelpfulCase:
        return s.is_behind(r, ts) & (s.tick >= ts) & (s.pack[r] == s.safe[r]), (r, ts)

    def has_a_pack(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts) -> Bool:
        return s.is_behind(r, ts) & (s.tick >= ts) & (s.pack[r] > s.safe[r])

    @helpful("service_time_follows_the_oracle", action="apply_insert")
    def a_row_is_applied(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts, w: ReadsClaims.Write) -> HelpfulCase:
        return s.has_a_pack(r, ts) & s.is_in_pack(r, w) & ~s.deletes[w], (r, w)

    @helpful("service_time_follows_the_oracle", action="apply_delete")
    def a_delete_is_applied(
        s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts, w: ReadsClaims.Write
    ) -> HelpfulCase:
        no_rows = forall(s.Write, lambda v: ~s.is_in_pack(r, v) | s.deletes[v])
        return s.has_a_pack(r, ts) & s.is_in_pack(r, w) & no_rows, (r, w)

    @helpful("service_time_follows_the_oracle", action="raise_safe")
    def the_pack_ends(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts) -> HelpfulCase:
        return s.has_a_pack(r, ts) & forall(s.Write, lambda w: ~s.is_in_pack(r, w)), (r,)

    # ---- a waiting read ends ----

    def is_under_way(s, q: ReadsClaims.Read) -> Bool:
        return one_of(s.progress[q], "waiting", "asleep", "reading") & (s.guarantee[q] <= s.issued)

    @rank("a_waiting_read_ends")
    def what_a_read_waits_for(s, q: ReadsClaims.Read) -> Measure:
        """The service time, if the replica runs; its end; the look at the service time."""
        runs = ~s.stopped[s.place(q)]
        return runs & ~s.is_served(q), runs, s.progress[q] != "reading"

    @helpful("a_waiting_read_ends", other="service_time_follows_the_oracle")
    def the_service_time_comes(s, q: ReadsClaims.Read) -> HelpfulCase:
        waits = ~s.stopped[s.place(q)] & ~s.is_served(q) & one_of(s.progress[q], "waiting", "asleep")
        return s.is_under_way(q) & waits, (s.place(q), s.guarantee[q])

    @helpful("a_waiting_read_ends", action="check")
    def it_looks(s, q: ReadsClaims.Read) -> HelpfulCase:
        served = ~s.stopped[s.place(q)] & s.is_served(q) & (s.progress[q] == "waiting")
        return s.is_under_way(q) & served, (q,)

    @helpful("a_waiting_read_ends", action="answer")
    def it_is_answered(s, q: ReadsClaims.Read) -> HelpfulCase:
        return s.is_under_way(q) & (s.progress[q] == "reading"), (q,)

    @helpful("a_waiting_read_ends", action="fail_read")
    def it_fails(s, q: ReadsClaims.Read) -> HelpfulCase:
        return s.is_under_way(q) & s.stopped[s.place(q)] & (s.progress[q] == "waiting"), (q,)

    @lemma(source="seed 002, watermark; property W")
    def writes_under_way_lie_above_the_tick(s) -> Bool:
        """Every write that the log would still take is above every tick."""
        return forall(s.Write, lambda w: implies(s.is_begun(w), s.lies_above(w, s.tick)))

    @lemma(source="facts 2.1")
    def timestamps_were_issued(s) -> Bool:
        """Ticks, and the timestamps of writes, clients and reads, come from the oracle."""
        return all_of(
            s.tick <= s.issued,
            forall(s.Write, lambda w: (s.ts[w] <= s.issued) & (s.floor[w] <= s.issued)),
            forall(s.Client, lambda c: s.carried[c] <= s.issued),
            forall(s.Read, lambda q: s.began[q] <= s.issued),
        )

    @lemma(source="seed 002, service time; facts 6.1")
    def service_times_are_in_order(s) -> Bool:
        """Service time, end of the pack and tick are in order."""
        return forall(s.Replica, lambda r: (s.safe[r] <= s.pack[r]) & (s.pack[r] <= s.tick))

    @lemma(source="facts 6.1")
    def what_is_applied_is_in_the_log(s) -> Bool:
        """A replica holds only writes of the log."""
        return forall(s.Replica, s.Write, lambda r, w: implies(s.applied[r, w], s.stage[w] == "logged"))

    @lemma(source="facts 3.1")
    def clients_know_what_was_acknowledged(s) -> Bool:
        """Acknowledged writes are in the log, and their writers know their timestamps."""
        writes = forall(
            s.Write,
            lambda w: implies(
                s.acknowledged[w], (s.stage[w] == "logged") & (s.ts[w] <= s.carried[s.writer[w]])
            ),
        )
        return writes & forall(s.Read, s.Write, lambda q, w: implies(s.known[q, w], s.acknowledged[w]))

    @lemma(source="facts 6.1")
    def moments_are_served(s) -> Bool:
        """The timestamp of an answer reaches the guarantee, and the replica's service time has reached it."""
        return forall(
            s.Read,
            lambda q: implies(
                one_of(s.progress[q], "reading", "answered"),
                (s.guarantee[q] <= s.moment[q]) & (s.moment[q] <= s.safe[s.place(q)]),
            ),
        )

    @lemma(source="facts 6.1; hazard 33")
    def moments_of_one_replica_are_in_order(s) -> Bool:
        """A read that has looked at the service time has one that is not below any seen before."""
        return forall(
            s.Read,
            s.Read,
            lambda a, b: implies(
                all_of(
                    s.precedes[a, b],
                    one_of(s.progress[b], "reading", "answered"),
                    s.level[b] != "page",
                    s.place(a) == s.place(b),
                ),
                s.moment[a] <= s.moment[b],
            ),
        )

    @lemma(source="facts 6.2")
    def clients_know_their_answers(s) -> Bool:
        """A client that carries the timestamps of its reads knows those of all its answers."""
        return forall(
            s.Read,
            lambda q: implies(s.CARRIES & s.is_answered(q), s.moment[q] <= s.carried[s.reader[q]]),
        )

    def has_guarantee(s, q: ReadsClaims.Read) -> Bool:
        return one_of(s.progress[q], "waiting", "asleep", "reading", "answered")

    @lemma(source="facts 6.2")
    def strong_guarantees_are_new(s) -> Bool:
        """The guarantee of a strong read is above all acknowledged writes and answers before it began."""
        strong = forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                (s.level[q] == "strong") & s.known[q, w],
                (s.ts[w] <= s.began[q]) & implies(s.has_guarantee(q), s.began[q] < s.guarantee[q]),
            ),
        )
        reads = forall(
            s.Read,
            s.Read,
            lambda a, b: implies(
                (s.level[b] == "strong") & s.precedes[a, b],
                (s.moment[a] <= s.began[b]) & implies(s.has_guarantee(b), s.began[b] < s.guarantee[b]),
            ),
        )
        return strong & reads

    @lemma(source="facts 6.2")
    def session_guarantees_are_known(s) -> Bool:
        """The guarantee of a session read is at or above all that its client knew when it began."""
        writes = forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                (s.level[q] == "session") & s.known[q, w] & (s.writer[w] == s.reader[q]),
                s.ts[w] <= s.guarantee[q],
            ),
        )
        reads = forall(
            s.Read,
            s.Read,
            lambda a, b: implies(
                (s.level[b] == "session") & s.precedes[a, b] & (s.reader[a] == s.reader[b]),
                s.moment[a] <= s.guarantee[b],
            ),
        )
        return writes & reads

    @lemma(source="facts 6.2; hazard 35")
    def bounded_guarantees_are_recent(s) -> Bool:
        """The guarantee of a bounded read is not further back than the grace and the clocks' error."""
        return forall(
            s.Read,
            lambda q: implies(s.level[q] == "bounded", s.guarantee[q] + s.graceful + s.skew >= s.began[q]),
        )

    @lemma(source="facts 6.2; B40")
    def pages_name_the_first(s) -> Bool:
        """A further page has the timestamp of the first, which is answered."""
        return forall(
            s.Read,
            lambda q: all_of(
                implies(
                    (s.level[q] == "page") & s.has_guarantee(q),
                    s.is_answered(s.first[q]) & (s.guarantee[q] == s.moment[s.first[q]]),
                ),
                implies(
                    (s.level[q] == "page") & one_of(s.progress[q], "reading", "answered"),
                    s.moment[q] == s.guarantee[q],
                ),
            ),
        )

    @lemma(source="facts 6.1; hazard 34")
    def nobody_sleeps_in_vain(s) -> Bool:
        """A sleeping read is not served yet, and its replica runs: it will be woken."""
        return forall(
            s.Read,
            lambda q: implies(s.progress[q] == "asleep", ~s.is_served(q) & ~s.stopped[s.place(q)]),
        )

    @lemma(source="facts 6.1")
    def what_is_idle_is_empty(s) -> Bool:
        """A read that has not begun has no level and no history; only answered reads precede others."""
        return all_of(
            forall(
                s.Read,
                lambda q: all_of(
                    (s.progress[q] == "new") == (s.level[q] == "none"),
                    implies(s.progress[q] == "new", s.guarantee[q] == 0),
                    implies(s.progress[q] == "asked", (s.level[q] == "strong") & (s.guarantee[q] == 0)),
                ),
            ),
            forall(s.Read, s.Write, lambda q, w: implies(s.progress[q] == "new", ~s.known[q, w])),
            forall(
                s.Read,
                s.Read,
                lambda a, b: implies(s.precedes[a, b], s.is_answered(a) & (s.progress[b] != "new")),
            ),
        )
