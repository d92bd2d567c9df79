"""Claims about flush and channel checkpoint: safety, liveness and witnesses."""

from tidemark.spec.flush.actions import FlushActions
from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    assumption,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    reachable,
    transition_invariant,
)


class FlushClaims(FlushActions):
    """Flush and channel checkpoint of one virtual channel: one node, one coordinator, a lossy network."""

    # ---- safety ----

    @assumption(source="facts 7.1")
    def first_position_is_empty(s) -> Bool:
        """Position 0 is before every row."""
        return ~s.carries[0]

    @invariant(source="seed 001, GetCheckpoint; facts 7.5; property S")
    def checkpoint_before_earliest_unsynced(s) -> Bool:
        """No row that the stored checkpoint claims is missing from the coordinator's records."""
        return s.safe(s.stored)

    @transition_invariant(source="facts 10.1; property M", frame=True)
    def stored_never_goes_back(before, after: Self) -> Bool:
        """The stored checkpoint never goes back."""
        return after.stored >= before.stored

    @transition_invariant(
        source="seed 001, NotifyCheckpointUpdated: strictly greater; hazards 5, 6", frame=True
    )
    def reset_only_by_greater_checkpoint(before, after: Self) -> Bool:
        """While the node runs, flushTs falls only to 0, by a strictly greater acknowledged checkpoint."""
        return implies(
            after.alive & (after.flush_ts < before.flush_ts),
            (after.flush_ts == 0) & (before.rpc == "read") & (before.rpc_position > before.flush_ts),
        )

    @transition_invariant(source="seed 001, data consistency; property F")
    def reset_means_durable(before, after: Self) -> Bool:
        """When flushTs is reset, every row at or below it is durable."""
        return implies(after.alive & (after.flush_ts < before.flush_ts), after.durable_up_to(before.flush_ts))

    @transition_invariant(source="facts 10.3; property F")
    def confirmed_means_durable(before, after: Self) -> Bool:
        """When the coordinator confirms a flush, every row at or below its timestamp is durable."""
        return forall(
            after.Position,
            after.Position,
            lambda t, p: implies(
                before.is_open(t) & ~after.is_open(t) & after.carries[p] & (p <= t),
                after.durable(p),
            ),
        )

    @invariant(source="seed 001, recovery; property 1")
    def stored_once(s) -> Bool:
        """No row is recorded twice."""
        return forall(s.Position, lambda p: s.copies[p] <= 1)

    @invariant(source="seed 001, recovery; property S")
    def nothing_lost(s) -> Bool:
        """Every consumed row is in memory or durable."""
        return forall(
            s.Position,
            lambda p: implies(s.carries[p] & (p <= s.consumed), s.durable(p) | (s.held[p] != "none")),
        )

    @invariant(source="hazards 5, 6; property FL")
    def flush_request_not_lost(s) -> Bool:
        """A flush that reached the node is still pending there, or all rows that it covers are durable."""
        return forall(
            s.Position,
            lambda t: implies(s.request[t] == "delivered", (s.flush_ts >= t) | s.durable_up_to(t)),
        )

    @invariant(source="facts 10.2, 10.3")
    def flushed_is_complete(s) -> Bool:
        """A segment that is recorded as flushed has all its rows recorded."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, p: implies(s.flushed[g] & s.row_of(p, g), s.durable(p)),
        )

    @invariant(source="facts 7.6, 7.7; B15")
    def flushed_is_recorded(s) -> Bool:
        """A segment that the node believes flushed is recorded as flushed."""
        return forall(s.Segment, lambda g: implies(s.phase[g] == "flushed", s.flushed[g]))

    @transition_invariant(source="facts 10.2; B15")
    def flushed_is_final(before, after: Self) -> Bool:
        """No row is recorded any more for a flushed segment."""
        return forall(
            after.Segment,
            lambda g: implies(before.flushed[g], after.flushed[g] & (after.dml[g] == before.dml[g])),
        )

    @transition_invariant(source="facts 7.9, 10.4", frame="what_is_idle_is_empty")
    def a_dead_node_does_nothing(before, after: Self) -> Bool:
        """While no node is alive its memory stays as it was; only saves that were sent are recorded."""
        return implies(
            ~before.alive & ~after.alive,
            all_of(
                after.consumed == before.consumed,
                after.flush_ts == before.flush_ts,
                after.tick == before.tick,
                after.pending == before.pending,
                after.rpc == before.rpc,
                forall(after.Position, lambda p: after.held[p] == before.held[p]),
                forall(after.Segment, lambda g: after.phase[g] == before.phase[g]),
                forall(
                    after.Segment,
                    after.Position,
                    lambda g, e: (after.task[g, e] == before.task[g, e]) | (before.task[g, e] == "sending"),
                ),
            ),
        )

    @transition_invariant(source="facts 10.4, 7.7", frame=True)
    def recovery_begins_at_the_checkpoint(before, after: Self) -> Bool:
        """A new incarnation owns the channel, holds nothing, and reads from the stored checkpoint on."""
        return implies(
            ~before.alive & after.alive,
            all_of(
                after.assigned,
                after.consumed <= after.stored,
                forall(after.Position, lambda p: after.held[p] == "none"),
                forall(after.Segment, after.Position, lambda g, e: after.task[g, e] == "none"),
            ),
        )

    @transition_invariant(source="facts 10.2; B27", frame=True)
    def only_the_owner_records(before, after: Self) -> Bool:
        """Rows are recorded only while the channel is assigned."""
        return forall(after.Position, lambda p: implies(after.copies[p] != before.copies[p], before.assigned))

    @transition_invariant(source="facts 10.1; hazard 21", frame=True)
    def an_answer_to_the_owner_means_stored(before, after: Self) -> Bool:
        """When the owner's request is answered, its position is stored, or a later one."""
        return implies(
            (before.rpc == "sent") & (after.rpc == "stored") & before.assigned,
            after.stored >= before.rpc_position,
        )

    @transition_invariant(source="seed 000, Operate: step 6; hazard 8", frame=True)
    def a_flag_means_that_a_flush_is_due(before, after: Self) -> Bool:
        """The flush flag goes up only for a pending flush that the checkpoint has reached."""
        return implies(
            after.pending_flush & ~before.pending_flush,
            (before.flush_ts > 0) & (before.tick_position >= before.flush_ts),
        )

    # ---- liveness ----

    @leads_to(source="seed 001, data consistency; property FL", without=("sync_stale", "send_by_ticker"))
    def flush_completes(s, ts: FlushActions.Position) -> tuple[Bool, Bool]:
        """A requested flush is confirmed, by the flush policy and the flush signal alone.

        Judged within bounds, which limit faults. Without a limit it is false (``flush-faults-for-ever``): a
        node that crashes after each recovery saves nothing, and each of its fair steps is disabled again and
        again.
        """
        return s.is_open(ts), ~s.is_open(ts)

    @leads_to(source="seed 001, data consistency; property FL: bookkeeping")
    def flush_ts_is_reset(s) -> tuple[Bool, Bool]:
        """A pending flush timestamp is reset, as long as ticks come.

        Judged within bounds, which limit faults. Without a limit it is false (``flush-faults-for-ever``):
        each request that carries a checkpoint times out before its answer (``fail_rpc``).
        """
        return s.flush_ts > 0, s.flush_ts == 0

    @leads_to(source="seed 000; property CL")
    def checkpoint_advances(s, position: FlushActions.Position) -> tuple[Bool, Bool]:
        """The stored checkpoint reaches every consumed position in the end.

        Judged within bounds, which limit faults. Without a limit it is false (``flush-faults-for-ever``): a
        node crashes after each recovery.
        """
        return s.consumed >= position, s.stored >= position

    @leads_to(source="facts 7.7; B59")
    def sealed_is_flushed(s, segment: FlushActions.Segment) -> tuple[Bool, Bool]:
        """A sealed segment is recorded as flushed, unless a crash makes it growing again.

        Judged within bounds, which limit faults. Without a limit it is false
        (``flush-faults-for-ever``): the channel is taken from the node and given back for ever, and the save
        never arrives in between; ``record`` is weakly fair.
        """
        return s.phase[segment] == "sealed", s.flushed[segment] | (s.phase[segment] == "growing")

    # ---- witnesses ----

    @reachable(after="confirm_flush", source="facts 10.3")
    def a_flush_completes(before, after: Self, ts: FlushActions.Position) -> Bool:
        """A flush that covers a row is confirmed."""
        return exists(after.Position, lambda p: (p <= ts) & after.carries[p])

    @reachable(after="clear_flush_ts", source="seed 001")
    def a_flush_ts_is_reset(before, after: Self) -> Bool:
        """The callback resets a flush timestamp."""
        return (before.flush_ts > 0) & (after.flush_ts == 0)

    @reachable(after="clear_flush_ts", source="seed 001: strictly greater; hazard 5")
    def an_equal_checkpoint_resets_nothing(before, after: Self) -> Bool:
        """The acknowledged checkpoint equals the flush timestamp, which stays."""
        return all_of(
            before.saw_flush_ts > 0,
            before.rpc_position == before.saw_flush_ts,
            after.flush_ts == before.saw_flush_ts,
        )

    @reachable(after="store", source="seed 001: never past unsynced data")
    def a_checkpoint_is_stored_below_an_unsynced_row(
        before, after: Self, position: FlushActions.Position
    ) -> Bool:
        """The stored checkpoint advances while a later row is buffered or being synced."""
        return (before.stored < after.stored) & exists(
            after.Position, lambda p: (p > after.stored) & after.pins(p)
        )

    @reachable(after="crash", source="hazard 15")
    def a_crash_with_rows_in_flight(before, after: Self) -> Bool:
        """A crash meets rows that are being synced."""
        return exists(before.Position, lambda p: (before.held[p] == "syncing") & ~before.durable(p))

    @reachable(after="record", source="B19")
    def a_save_is_repeated(
        before, after: Self, segment: FlushActions.Segment, end: FlushActions.Position
    ) -> Bool:
        """A save whose answer was lost reaches the coordinator again."""
        return before.dml[segment] >= end

    @reachable(after="record", source="hazard 22")
    def a_save_of_the_dead(
        before, after: Self, segment: FlushActions.Segment, end: FlushActions.Position
    ) -> Bool:
        """A save is recorded after its sender has crashed."""
        return ~before.alive & (before.dml[segment] < end)

    @reachable(after="consume", source="facts 7.1; B63")
    def a_replay_is_filtered(before, after: Self) -> Bool:
        """A replayed row is dropped because it is stored."""
        return after.carries[after.consumed] & before.replayed(after.consumed)

    @reachable(after="store", source="facts 10.1; hazard 21")
    def a_late_request_is_ignored(before, after: Self, position: FlushActions.Position) -> Bool:
        """A checkpoint request that has timed out at the node arrives after a later one."""
        return position < before.stored

    @reachable(after="finish_sync", source="facts 7.7")
    def a_segment_is_flushed(before, after: Self, segment: FlushActions.Segment) -> Bool:
        """A segment reaches its end."""
        return (before.phase[segment] != "flushed") & (after.phase[segment] == "flushed")

    @reachable(after="clear_flush_ts", source="hazard 5")
    def a_flush_overtakes_the_callback(before, after: Self) -> Bool:
        """A new flush arrives between the callback's read and its clear."""
        return (before.saw_flush_ts > 0) & (before.flush_ts > before.saw_flush_ts)
