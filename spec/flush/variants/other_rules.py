"""Hazards that are decided in pairs: with and without the assumption that makes them harmless.

These are instances of the manifest with their own expected verdicts; the half that holds is a result, too.
The last ones read a sentence of a seed in another way.
"""

from tidemark.spec.flush import Flush
from tidemark.spec.flush.variants.finer_steps import Packs
from tidemark.spec.language import (
    Bool,
    Self,
    Set,
    action,
    constant,
    exists,
    forall,
    implies,
    invariant,
    ite,
    leads_to,
    lemma,
    maximum,
    option,
    other_parameters,
    reachable,
    removed,
    require,
    transition_invariant,
)


class TicksStop(Flush):
    """The time-tick node runs once for each pack, and not while the log is quiet (hazards 3, 4, 7)."""

    ticked: Flush.Position = 0

    def read_checkpoint(s) -> None:
        require(s.consumed > s.ticked)
        super().read_checkpoint()
        s.ticked = s.consumed

    def recover(s, seek: Flush.Position) -> None:
        super().recover(seek)
        s.ticked = s.consumed


class NoTicker(Flush):
    """The updater has no timer of its own (hazard 3): only the flush signal sends."""

    send_by_ticker = removed


class NoTickerTicksStop(TicksStop):
    """No ticker and no further ticks: a failed request is not repeated (hazard 3)."""

    send_by_ticker = removed


class CallbackKeepsOwnPosition(Flush):
    """A merged task keeps the larger position; its newer callback has a position of its own (hazard 20)."""

    callback: Flush.Position = 0
    sent_callback: Flush.Position = 0

    def submit_checkpoint(s, due: Bool) -> None:
        wanted = ~due & (s.flush_ts > 0) & (s.tick_position >= s.flush_ts)
        merges = (s.tick_position > s.pending_position) | (wanted & ~s.pending_flush)
        taken = (due | wanted) & (~s.pending | merges)
        s.callback = ite(taken, s.tick_position, s.callback)
        super().submit_checkpoint(due)

    def send(s) -> None:
        s.sent_callback = s.callback
        super().send()

    def passes(s, position: Flush.Position) -> Bool:
        return super().passes(s.sent_callback)

    def fail_rpc(s) -> None:
        super().fail_rpc()
        s.sent_callback = 0

    def clean_up(s) -> None:
        s.callback = ite(s.pending_position <= s.rpc_position, 0, s.callback)
        s.sent_callback = 0
        super().clean_up()

    def forget_updater(s) -> None:
        s.callback = 0
        s.sent_callback = 0
        super().forget_updater()


class CallbackKeepsOwnPositionNoInFlight(CallbackKeepsOwnPosition):
    """The same when checkpoints can fall, because rows in flight do not count (hazards 15, 20)."""

    IN_FLIGHT = False


class Close(Flush):
    """The close message: the time-tick node submits a last checkpoint without waiting (hazard 13)."""

    closing: Bool = False
    closing_position: Flush.Position = 0

    @action(source="seed 000, Operate: step 3; facts 8")
    def close(s) -> None:
        """Submit, then stop without waiting for the updater."""
        s.closing = True
        s.closing_position = s.checkpoint()
        s.crash()

    def recover(s, seek: Flush.Position) -> None:
        super().recover(seek)
        s.closing = False
        s.closing_position = 0

    @transition_invariant(source="seed 000, Operate: 'force update'")
    def close_is_forced(before, after: Self) -> Bool:
        """The checkpoint submitted at the close is stored before the channel has a new owner."""
        return implies(before.closing & after.alive, before.stored >= before.closing_position)


class MissingSegmentButNoLateRow(Flush):
    """A sync task of a removed segment reports success, but no row follows a seal (hazard 17, harmless)."""

    @action(source="facts 7.6")
    def skip_missing(s, segment: Flush.Segment, end: Flush.Position) -> None:
        """The task looks its segment up, does not find it, and ends."""
        require(s.alive & (s.task[segment, end] == "queued") & (s.phase[segment] == "flushed"))
        s.release(segment, end)


class AddTaskInTwoLocks(Flush):
    """AddTask looks the task up and replaces it in two lock sections; there is one adder (hazard 1, B12)."""

    saw_pending: Bool = False
    saw_position: Flush.Position = 0
    saw_flush: Bool = False

    def read_checkpoint(s) -> None:
        super().read_checkpoint()
        s.saw_pending = s.pending
        s.saw_position = s.pending_position
        s.saw_flush = s.pending_flush

    def submit_checkpoint(s, due: Bool) -> None:
        require(s.alive & (s.tick == "have_checkpoint"))
        wanted = ~due & (s.flush_ts > 0) & (s.tick_position >= s.flush_ts)
        merges = (s.tick_position > s.saw_position) | (wanted & ~s.saw_flush)
        replaces = (due | wanted) & (~s.saw_pending | merges)
        s.pending_position = ite(replaces, maximum(s.saw_position, s.tick_position), s.pending_position)
        s.pending_flush = ite(replaces, wanted | s.saw_flush, s.pending_flush)
        s.pending = s.pending | replaces
        s.signal = s.signal | wanted
        s.tick = "idle"
        s.tick_position = 0
        s.forget_lookup()

    def forget_lookup(s) -> None:
        """The local variables of AddTask are gone."""
        s.saw_pending = False
        s.saw_position = 0
        s.saw_flush = False

    def forget_updater(s) -> None:
        super().forget_updater()
        s.forget_lookup()


class FaultsForEver(Flush):
    """Faults without a limit: promises of liveness fail."""

    def fault(s) -> None:
        """Faults are not counted, so that no bound ends them."""
        s.faults = 0


class NotStrict(Flush):
    """Reset by a checkpoint at or above flushTs."""

    STRICT = False


class NoInFlight(Flush):
    """Seed 001's GetCheckpoint: rows in flight do not count."""

    IN_FLIGHT = False


class NoInFlightNotStrict(Flush):
    """Seed 001's GetCheckpoint, reset at or above."""

    IN_FLIGHT = False
    STRICT = False


class Inclusive(Flush):
    """Start positions include their row."""

    INCLUSIVE = True


class InclusiveNotStrict(Flush):
    """Start positions include their row, reset at or above."""

    INCLUSIVE = True
    STRICT = False


class InclusiveNoInFlight(Flush):
    """Start positions include their row, rows in flight do not count."""

    INCLUSIVE = True
    IN_FLIGHT = False


class InclusiveNoInFlightNotStrict(Flush):
    """All three at once."""

    INCLUSIVE = True
    IN_FLIGHT = False
    STRICT = False


class OneRunner(Flush):
    """One runner sends checkpoints and cleans up: what the clean-up takes for granted (hazard 2)."""

    @invariant(source="hazard 2; facts 9")
    def a_request_has_its_task(s) -> Bool:
        """From sending to clean-up the updater keeps a task of the channel: the clean-up looks it up."""
        return implies(s.rpc != "idle", s.pending)


class TwoRunners(OneRunner):
    """``Start`` was called twice: a second runner sends what is pending, and cleans up after itself."""

    second: Flush.Position = 0  # what it has sent; 0 for nothing

    @action(source="hazard 2; facts 9")
    def send_by_the_second(s) -> None:
        """The second runner sends the task that the first one may be sending, too."""
        require(s.alive & (s.second == 0) & (s.pending_position > 0))
        s.second = s.pending_position
        s.in_network[s.pending_position] = True

    @action(source="hazard 2; facts 9")
    def clean_up_by_the_second(s) -> None:
        """Its request is answered, and the task goes, unless a later position was merged into it."""
        require(s.alive & (s.second > 0) & (s.stored >= s.second))
        done = s.pending_position <= s.second
        s.pending = s.pending & ~done
        s.pending_flush = s.pending_flush & ~done
        s.signal = s.signal & ~done
        s.pending_position = ite(done, 0, s.pending_position)
        s.second = 0

    def forget_updater(s) -> None:
        super().forget_updater()
        s.second = 0


class Interval(Flush):
    """A checkpoint is due when the log has gone on since the last submission, whose success is not looked at
    (hazard 9). A request that fails is lost.
    """

    last_update: Flush.Position = 0

    def submit_checkpoint(s, due: Bool) -> None:
        require(due == (s.consumed > s.last_update))
        super().submit_checkpoint(due)
        s.last_update = s.consumed

    def fail_rpc(s) -> None:
        s.in_network[s.rpc_position] = s.in_network[s.rpc_position] & (s.rpc != "sent")
        super().fail_rpc()

    def forget_updater(s) -> None:
        super().forget_updater()
        s.last_update = 0

    @leads_to(source="hazard 9; facts 8")
    def a_submitted_checkpoint_is_stored(s, position: Flush.Position) -> tuple[Bool, Bool]:
        """What the time-tick node has submitted is stored in the end, unless the node crashes."""
        return s.pending & (s.pending_position == position), (s.stored >= position) | ~s.alive


class NotRepeated(Interval):
    """Nobody repeats a request that fails: the next one is made when a checkpoint is due again."""

    def fail_rpc(s) -> None:
        super().fail_rpc()
        s.pending = False
        s.pending_flush = False
        s.signal = False
        s.pending_position = 0


class KeyedByStart(Packs):
    """A buffer in flight is known by its segment and its start position (hazard 19)."""

    @invariant(source="hazard 19; facts 7.4")
    def two_buffers_in_flight_have_two_keys(s) -> Bool:
        """A pack ends between the rows of two sync tasks of a segment, so their buffers start apart."""
        return forall(
            s.Segment,
            s.Position,
            s.Position,
            s.Position,
            lambda g, p, q, e: implies(
                s.is_in_flight(p, g) & s.is_in_flight(q, g) & (s.task[g, e] != "none") & (p <= e) & (e < q),
                exists(s.Position, lambda b: s.ends[b] & (p <= b) & (b < q)),
            ),
        )

    def is_in_flight(s, p: Flush.Position, segment: Flush.Segment) -> Bool:
        return s.row_of(p, segment) & (s.held[p] == "syncing")

    @lemma(source="hazard 19; facts 7.1")
    def tasks_end_with_a_pack(s) -> Bool:
        """No task takes its buffer in the middle of a pack."""
        return s.ends[s.consumed] & forall(
            s.Segment, s.Position, lambda g, e: implies(s.task[g, e] != "none", s.ends[e])
        )


class TakenWithinAPack(KeyedByStart):
    """Memory may be short, and the buffer taken, between two rows of a pack."""

    @other_parameters
    def consume(s, end: Flush.Position) -> None:
        require(s.alive & (end == s.consumed + 1))
        s.held[end] = ite(s.carries[end] & ~s.replayed(end), "buffered", "none")
        s.consumed = end


class CoveredByRow(Packs):
    """The flush policy compares rows with flushTs, and not the start of the buffer (facts 7.3)."""

    def is_covered(s, p: Flush.Position) -> Bool:
        return p <= s.flush_ts


class ConfirmedBySegments(Flush):
    """A flush is confirmed by its segments alone, whatever the checkpoint is (hazard 51)."""

    LISTS_ALL: Bool = option(True)  # the list has each segment with a row that the flush covers

    def confirm_flush(s, ts: Flush.Position) -> None:
        require(s.is_open(ts))
        require(forall(s.Segment, lambda g: implies(s.is_listed(g, ts), s.flushed[g])))
        s.request[ts] = "confirmed"

    def is_listed(s, segment: Flush.Segment, ts: Flush.Position) -> Bool:
        """The coordinator waits for this segment. Without the option it knows those with a record."""
        covers = exists(s.Position, lambda p: (p <= ts) & s.row_of(p, segment))
        return covers & (s.LISTS_ALL | (s.dml[segment] > 0))


class FlushByMessage(Flush):
    """A flush is a message of the log: who reads it takes its own timestamp for flushTs (seed 001)."""

    asks: Set[Flush.Position] = constant()

    ask_flush = removed
    deliver_flush = removed

    def consume(s) -> None:
        super().consume()
        asks = s.asks[s.consumed] & (s.request[s.consumed] != "confirmed")
        s.request[s.consumed] = ite(asks, "delivered", s.request[s.consumed])
        s.flush_ts = ite(s.asks[s.consumed], s.later_flush_ts(), s.flush_ts)

    def later_flush_ts(s) -> Flush.Position:
        """FlushChannel stores it as it comes: the log has an order (hazard 6)."""
        return s.consumed

    @lemma(source="seed 001, manual flush; hazard 6")
    def flush_ts_is_no_later_than_what_was_read(s) -> Bool:
        """No flush comes before its time, and each one that comes is the greatest."""
        return s.flush_ts <= s.consumed


class FlushByMessageNotStrict(FlushByMessage):
    """The same, reset at or above."""

    STRICT = False


class FlushByMessageClearedBlindly(FlushByMessage):
    """The same, and the callback clears what has come since it has looked (hazard 5)."""

    def unchanged_flush_ts(s) -> Bool:
        return s.rpc == "read"


class FailsWithItsBatch(Flush):
    """A position of another channel in the request cannot be stored, and all of it fails (hazard 23)."""

    APART: Bool = option(False)  # after a failure each channel has a request of its own

    apart: Bool = False

    def send(s) -> None:
        arrives = s.in_network[s.pending_position] | s.apart
        super().send()
        s.in_network[s.rpc_position] = arrives

    @action(fairness="weak", source="hazard 23")
    def fail_with_the_batch(s) -> None:
        """The coordinator answers with an error to the other channel, and to this one if it is reported."""
        require(s.alive & ~s.apart & ((s.rpc == "idle") | (s.rpc == "sent")))
        s.rpc = "idle"
        s.rpc_position = 0
        s.apart = s.APART

    def fail_rpc(s) -> None:
        super().fail_rpc()
        s.apart = s.APART

    @reachable(after="store", source="hazard 23")
    def what_is_reported_apart_is_stored(before, after: Self, position: Flush.Position) -> Bool:
        """A checkpoint that has failed with another one advances in a request of its own."""
        return before.apart & (before.stored < after.stored)

    def forget_updater(s) -> None:
        super().forget_updater()
        s.apart = False
