"""Inductive lemmas: why the claims about flush and channel checkpoint are true for any size."""

from tidemark.spec.flush.claims import FlushClaims
from tidemark.spec.language import Bool, all_of, any_of, forall, implies, lemma


class Flush(FlushClaims):
    """Flush and channel checkpoint of one virtual channel: one node, one coordinator, a lossy network."""

    @lemma(source="facts 7.2")
    def held_rows_are_consumed(s) -> Bool:
        """Only rows of the log up to the last pack are in memory."""
        return forall(s.Position, lambda p: implies(s.held[p] != "none", s.carries[p] & (p <= s.consumed)))

    @lemma(source="facts 7.4")
    def tasks_end_within_the_consumed(s) -> Bool:
        """A sync task ends at a pack that was consumed."""
        return forall(s.Segment, s.Position, lambda g, e: implies(s.task[g, e] != "none", e <= s.consumed))

    @lemma(source="facts 7.6; B55")
    def one_task_at_a_time(s) -> Bool:
        """Before a task that has begun there is no other task of its segment."""
        return forall(
            s.Segment,
            s.Position,
            s.Position,
            lambda g, e, f: implies(
                (s.task[g, e] != "none") & (s.task[g, e] != "queued") & (f < e), s.task[g, f] == "none"
            ),
        )

    @lemma(source="facts 7.4")
    def a_task_takes_the_whole_buffer(s) -> Bool:
        """No row that a task covers is still buffered."""
        return forall(
            s.Segment,
            s.Position,
            s.Position,
            lambda g, e, p: implies(
                (s.task[g, e] != "none") & s.row_of(p, g) & (p <= e), s.held[p] != "buffered"
            ),
        )

    @lemma(source="facts 10.2, 7.1")
    def rows_up_to_the_position_are_recorded(s) -> Bool:
        """Every row up to its segment's recorded position is recorded."""
        return forall(s.Position, lambda p: implies(s.carries[p] & s.replayed(p), s.durable(p)))

    @lemma(source="facts 10.2, 7.1")
    def recorded_rows_lie_below_the_position(s) -> Bool:
        """No row beyond its segment's recorded position is recorded."""
        return forall(s.Position, lambda p: implies(s.durable(p), s.replayed(p)))

    @lemma(source="facts 7.1")
    def only_rows_are_recorded(s) -> Bool:
        """Only rows that the log carries are recorded."""
        return forall(s.Position, lambda p: implies(~s.carries[p], s.copies[p] == 0))

    @lemma(source="facts 7.1")
    def buffered_rows_are_not_recorded(s) -> Bool:
        """A buffered row is beyond its segment's recorded position."""
        return forall(s.Position, lambda p: implies(s.held[p] == "buffered", ~s.replayed(p)))

    @lemma(source="facts 7.6")
    def recorded_rows_wait_for_their_task(s) -> Bool:
        """A recorded row in flight belongs to the task that recorded the segment's position."""
        return forall(
            s.Position,
            lambda p: implies(
                (s.held[p] == "syncing") & s.replayed(p),
                s.task[s.segment_of[p], s.dml[s.segment_of[p]]] != "none",
            ),
        )

    @lemma(source="facts 7.6")
    def a_recorded_task_is_recorded(s) -> Bool:
        """A task that has its answer is at or below its segment's recorded position."""
        return forall(s.Segment, s.Position, lambda g, e: implies(s.task[g, e] == "recorded", e <= s.dml[g]))

    @lemma(source="facts 7.7")
    def sealed_segments_get_no_rows(s) -> Bool:
        """No row of a sealed or flushing segment is still to come."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, p: implies(
                ((s.phase[g] == "sealed") | (s.phase[g] == "flushing")) & s.row_of(p, g), p <= s.consumed
            ),
        )

    @lemma(source="facts 7.7")
    def flushing_segments_have_no_buffer(s) -> Bool:
        """The flush task took all buffered rows."""
        return forall(
            s.Position,
            lambda p: implies(
                (s.held[p] != "none")
                & any_of(s.phase[s.segment_of[p]] == "flushing", s.phase[s.segment_of[p]] == "flushed"),
                s.held[p] == "syncing",
            ),
        )

    @lemma(source="facts 7.3, 7.6")
    def flush_tasks_belong_to_flushing_segments(s) -> Bool:
        """A flush task is unfinished, and its segment is flushing."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, e: implies(s.flush_task[g, e], (s.task[g, e] != "none") & (s.phase[g] == "flushing")),
        )

    @lemma(source="facts 7.3, 7.6")
    def flush_tasks_are_the_last(s) -> Bool:
        """No later task of the segment, and no row of it in memory beyond the flush task."""
        return all_of(
            forall(
                s.Segment,
                s.Position,
                s.Position,
                lambda g, e, f: implies(s.flush_task[g, e] & (s.task[g, f] != "none"), f <= e),
            ),
            forall(
                s.Segment,
                s.Position,
                s.Position,
                lambda g, e, p: implies(s.flush_task[g, e] & s.row_of(p, g) & (s.held[p] != "none"), p <= e),
            ),
        )

    @lemma(source="facts 7.6, 7.7")
    def a_recorded_flush_task_has_flushed(s) -> Bool:
        """The recorded flush task has marked its segment flushed."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, e: implies(s.flush_task[g, e] & (s.task[g, e] == "recorded"), s.flushed[g]),
        )

    @lemma(source="facts 7.7, 10.2")
    def flushed_segments_are_over(s) -> Bool:
        """A segment recorded as flushed is not growing or sealed, and has no task beyond its position."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, e: implies(
                s.flushed[g],
                any_of(s.phase[g] == "flushing", s.phase[g] == "flushed")
                & implies(s.task[g, e] != "none", e <= s.dml[g]),
            ),
        )

    @lemma(source="facts 9")
    def positions_on_their_way_are_safe(s) -> Bool:
        """Every position that the time-tick node or the updater holds is a safe checkpoint."""
        return all_of(s.safe(s.tick_position), s.safe(s.pending_position), s.safe(s.rpc_position))

    @lemma(source="facts 9, 10.1")
    def requests_in_the_network_are_safe(s) -> Bool:
        """So is every request in the network, of any owner."""
        return forall(s.Position, lambda q: implies(s.in_network[q], s.safe(q)))

    @lemma(source="facts 10.4")
    def a_dead_node_has_no_request(s) -> Bool:
        """After a crash every unconfirmed flush has to be delivered again."""
        return s.alive | forall(s.Position, lambda t: s.request[t] != "delivered")

    @lemma(source="seed 000; facts 9")
    def what_is_idle_is_empty(s) -> Bool:
        """A finished tick, task or request leaves no state, nor does a dead process."""
        return all_of(
            implies(s.tick == "idle", s.tick_position == 0),
            implies(~s.pending, (s.pending_position == 0) & ~s.pending_flush),
            s.signal == s.pending_flush,
            implies(s.rpc == "idle", s.rpc_position == 0),
            implies(s.rpc != "read", s.saw_flush_ts == 0),
            s.alive | all_of(s.flush_ts == 0, s.tick == "idle", ~s.pending, s.rpc == "idle"),
        )
