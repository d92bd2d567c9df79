"""Hazards that are decided in pairs: with and without the assumption that makes them harmless.

These are instances of the manifest with their own expected verdicts; the half that holds is a result, too.
The last ones read a sentence of a seed in another way.
"""

from tidemark.spec.flush import Flush
from tidemark.spec.language import (
    Bool,
    Self,
    action,
    implies,
    ite,
    maximum,
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
