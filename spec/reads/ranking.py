"""Why reads end and service times advance, for any size: measures, and the actions that lower them."""

from tidemark.spec.language import all_of, each, forall, helpful, one_of, rank
from tidemark.spec.reads.claims import ReadsClaims


class ReadsRanking(ReadsClaims):
    """Writes, ticks, replicas and reads of one channel; any number of clients, keys and replicas."""

    # ---- the service time of a replica reaches a timestamp ----

    def is_behind(s, r, ts):
        return all_of(s.issued >= ts, ~s.stopped[r], s.safe[r] < ts)

    def holds_up(s, w, ts):
        """The write is on its way, and its timestamp is not above, or need not be."""
        return s.is_begun(w) & ~s.lies_above(w, ts)

    @rank("service_time_follows_the_oracle")
    def what_the_service_time_waits_for(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts):
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
    def a_write_is_stamped(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts, w: ReadsClaims.Write):
        waits = s.is_behind(r, ts) & s.holds_up(w, ts) & (s.stage[w] == "asked")
        return waits, (w, s.floor[w] + 1)

    @helpful("service_time_follows_the_oracle", action="append")
    def a_write_is_logged(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts, w: ReadsClaims.Write):
        return s.is_behind(r, ts) & s.holds_up(w, ts) & (s.stage[w] == "stamped"), (w,)

    @helpful("service_time_follows_the_oracle", action="send_tick")
    def a_tick_comes(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts):
        free = forall(s.Write, lambda w: ~s.holds_up(w, ts))
        return s.is_behind(r, ts) & free & (s.tick < ts), (ts,)

    @helpful("service_time_follows_the_oracle", action="take_pack")
    def a_pack_is_taken(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts):
        return s.is_behind(r, ts) & (s.tick >= ts) & (s.pack[r] == s.safe[r]), (r, ts)

    def has_a_pack(s, r, ts):
        return s.is_behind(r, ts) & (s.tick >= ts) & (s.pack[r] > s.safe[r])

    @helpful("service_time_follows_the_oracle", action="apply_insert")
    def a_row_is_applied(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts, w: ReadsClaims.Write):
        return s.has_a_pack(r, ts) & s.is_in_pack(r, w) & ~s.deletes[w], (r, w)

    @helpful("service_time_follows_the_oracle", action="apply_delete")
    def a_delete_is_applied(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts, w: ReadsClaims.Write):
        no_rows = forall(s.Write, lambda v: ~s.is_in_pack(r, v) | s.deletes[v])
        return s.has_a_pack(r, ts) & s.is_in_pack(r, w) & no_rows, (r, w)

    @helpful("service_time_follows_the_oracle", action="raise_safe")
    def the_pack_ends(s, r: ReadsClaims.Replica, ts: ReadsClaims.Ts):
        return s.has_a_pack(r, ts) & forall(s.Write, lambda w: ~s.is_in_pack(r, w)), (r,)

    # ---- a waiting read ends ----

    def is_under_way(s, q):
        return one_of(s.progress[q], "waiting", "asleep", "reading") & (s.guarantee[q] <= s.issued)

    @rank("a_waiting_read_ends")
    def what_a_read_waits_for(s, q: ReadsClaims.Read):
        """The service time, if the replica runs; its end; the look at the service time."""
        runs = ~s.stopped[s.place(q)]
        return runs & ~s.is_served(q), runs, s.progress[q] != "reading"

    @helpful("a_waiting_read_ends", other="service_time_follows_the_oracle")
    def the_service_time_comes(s, q: ReadsClaims.Read):
        waits = ~s.stopped[s.place(q)] & ~s.is_served(q) & one_of(s.progress[q], "waiting", "asleep")
        return s.is_under_way(q) & waits, (s.place(q), s.guarantee[q])

    @helpful("a_waiting_read_ends", action="check")
    def it_looks(s, q: ReadsClaims.Read):
        served = ~s.stopped[s.place(q)] & s.is_served(q) & (s.progress[q] == "waiting")
        return s.is_under_way(q) & served, (q,)

    @helpful("a_waiting_read_ends", action="answer")
    def it_is_answered(s, q: ReadsClaims.Read):
        return s.is_under_way(q) & (s.progress[q] == "reading"), (q,)

    @helpful("a_waiting_read_ends", action="fail_read")
    def it_fails(s, q: ReadsClaims.Read):
        return s.is_under_way(q) & s.stopped[s.place(q)] & (s.progress[q] == "waiting"), (q,)
