"""Named mutants of the flush protocol: hazards and real bugs, each with the property that must find it.

Every class overrides as little as possible of ``Flush``. ``killer`` is the property that must be refuted,
``origin`` the hazard (H) or bug (B) that it stands for, ``instance`` the manifest's instance on which it
shows.
"""

from typing import ClassVar

from tidemark.spec.flush import Flush
from tidemark.spec.language import Map, Set, action, each, exists, invariant, ite, least, maximum, require


class Mutant(Flush):
    """Base of the mutants of this file."""

    killer: ClassVar[str] = ""
    origin: ClassVar[str] = ""
    instance: ClassVar[str] = "small"


# ---- checkpoint and write buffer ----


class CheckpointIgnoresInFlight(Mutant):
    """GetCheckpoint looks at buffers only."""

    killer = "flush.checkpoint_before_earliest_unsynced"
    origin = "H15, B13; seed 001, GetCheckpoint"

    IN_FLIGHT = False


class InFlightRemovedEarly(Mutant):
    """The in-flight position is removed when the upload is done, before the coordinator has recorded it."""

    killer = "flush.checkpoint_before_earliest_unsynced"
    origin = "H16"

    def pins(s, p):
        segment = s.segment_of[p]
        waiting = exists(s.Position, lambda e: (e >= p) & (s.task[segment, e] == "queued"))
        return (s.held[p] == "buffered") | ((s.held[p] == "syncing") & waiting)


class SyncErrorSwallowed(Mutant):
    """A failed upload counts as done: the rows leave the memory."""

    killer = "flush.nothing_lost"
    origin = "B14"

    @action
    def fail_upload(s, segment: Flush.Segment, end: Flush.Position):
        """The object store refuses the file; the error is returned as a value."""
        require(s.alive & (s.task[segment, end] == "queued") & s.first_in_line(segment, end))
        s.release(segment, end)
        s.fault()


class MissingSegmentIsSuccess(Mutant):
    """A late row of a flushed segment, and a sync task that finds its segment gone and reports success."""

    killer = "flush.nothing_lost"
    origin = "H17, B23, B61"

    def seal(s, segment):
        require(s.alive & (s.phase[segment] == "growing"))
        require(exists(s.Position, lambda p: (p <= s.consumed) & s.row_of(p, segment)))
        s.phase[segment] = "sealed"

    def has_buffer(s, segment):
        return exists(s.Position, lambda p: s.row_of(p, segment) & (s.held[p] == "buffered"))

    @action
    def skip_missing(s, segment: Flush.Segment, end: Flush.Position):
        """The task looks its segment up, does not find it, and is done."""
        require(s.alive & (s.task[segment, end] == "queued") & (s.phase[segment] == "flushed"))
        s.release(segment, end)


class LateRowPinsCheckpoint(Mutant):
    """A row arrives after its segment was flushed and left the metacache: no sync ever takes it."""

    killer = "flush.checkpoint_advances"
    origin = "H18, B17, B23"
    instance = "calm"

    def seal(s, segment):
        require(s.alive & (s.phase[segment] == "growing"))
        require(exists(s.Position, lambda p: (p <= s.consumed) & s.row_of(p, segment)))
        s.phase[segment] = "sealed"


class MetacacheDropsGrowing(Mutant):
    """An entry of the metacache is removed while its rows are buffered."""

    killer = "flush.flushed_is_recorded"
    origin = "B17"

    @action
    def drop_entry(s, segment: Flush.Segment):
        """SyncSegments removes a growing segment."""
        require(s.alive & (s.phase[segment] == "growing"))
        s.phase[segment] = "flushed"


class SyncUnordered(Mutant):
    """Two tasks of one segment run in any order."""

    killer = "flush.checkpoint_before_earliest_unsynced"
    origin = "H49, B55"

    def first_in_line(s, segment, end):
        return s.task[segment, end] == "queued"

    def finish_sync(s, segment, end):
        require(s.alive & (s.task[segment, end] == "recorded"))
        s.release(segment, end)

    def own_row(s, p, segment, end):
        """The row belongs to this very task: no earlier unfinished task covers it."""
        earlier = exists(s.Position, lambda e: (p <= e) & (e < end) & (s.task[segment, e] != "none"))
        return s.row_of(p, segment) & (s.held[p] == "syncing") & (p <= end) & ~earlier

    def record_rows(s, segment, end):
        s.copies = each(s.Position, lambda p: ite(s.own_row(p, segment, end), s.copies[p] + 1, s.copies[p]))
        s.dml[segment] = maximum(s.dml[segment], end)

    def release(s, segment, end):
        s.held = each(s.Position, lambda p: ite(s.own_row(p, segment, end), "none", s.held[p]))
        s.task[segment, end] = "none"
        s.flush_task[segment, end] = False


class SaveAppends(Mutant):
    """A repeated save adds its binlogs again."""

    killer = "flush.stored_once"
    origin = "H48, B19"

    def brings_rows(s, segment, end):
        return True


class RecoveryDoesNotFilter(Mutant):
    """Replayed rows are kept though they are stored."""

    killer = "flush.stored_once"
    origin = "B63"

    def consume(s):
        require(s.alive)
        s.consumed = s.consumed + 1
        s.held[s.consumed] = ite(s.carries[s.consumed], "buffered", "none")


class RecoveryFiltersBelow(Mutant):
    """The recovery filter is < where the position is an end position."""

    killer = "flush.stored_once"
    origin = "H46, H47; seed 003"

    def replayed(s, p):
        return p < s.dml[s.segment_of[p]]


class FlushingPickedAgain(Mutant):
    """A flushing segment is picked by the sealed policy again."""

    killer = "flush.flushed_is_final"
    origin = "B15"
    instance = "idle-tail"

    def sync_sealed(s, segment):
        require(s.alive & ((s.phase[segment] == "sealed") | (s.phase[segment] == "flushing")))
        require(s.task[segment, s.consumed] == "none")
        s.phase[segment] = "flushing"
        s.flush_task[segment, s.consumed] = True
        s.yield_buffer(segment)


class FlushForgottenBehindSaved(Mutant):
    """The coordinator ignores a save at or below the saved position whole, its flush mark too."""

    killer = "flush.flushed_is_recorded"
    origin = "facts 10.2: full-binlog rule"

    def ends_segment(s, segment, end):
        return super().ends_segment(segment, end) & s.brings_rows(segment, end)


class FlushPolicyOnlySealed(Mutant):
    """The flush timestamp policy skips growing segments."""

    killer = "flush.flush_completes"
    origin = "B18"
    instance = "calm"

    def sync_for_flush(s, segment):
        super().sync_for_flush(segment)
        require(s.phase[segment] != "growing")


# ---- flush timestamp ----


class PlainStoreOfFlushTs(Mutant):
    """FlushChannel overwrites a larger flush timestamp."""

    killer = "flush.flush_request_not_lost"
    origin = "H6"
    instance = "two-flushes"

    def take_flush_ts(s, ts):
        s.flush_ts = ts


class ReadThenClear(Mutant):
    """NotifyCheckpointUpdated clears without comparing: a flush that arrives in between is lost."""

    killer = "flush.flush_request_not_lost"
    origin = "H5"
    instance = "two-flushes"

    def unchanged_flush_ts(s):
        return s.rpc == "read"


class NeverResets(Mutant):
    """The flush timestamp is never reset."""

    killer = "flush.flush_ts_is_reset"
    origin = "B50"
    instance = "calm"

    def unchanged_flush_ts(s):
        return s.rpc == "idle"


class ResetByEqual(Mutant):
    """Reset at equality: harmless to the data, against the seed's rule."""

    killer = "flush.reset_only_by_greater_checkpoint"
    origin = "H7; seed 001, NotifyCheckpointUpdated"

    STRICT = False


class CrashForgetsFlush(Mutant):
    """Nobody repeats FlushChannel to the new owner."""

    killer = "flush.flush_request_not_lost"
    origin = "facts 10.3: 60 tries"

    def crash(s):
        require(s.alive)
        s.alive = False
        s.forget_updater()
        s.fault()


# ---- time-tick node and updater ----


class NoTrigger(Mutant):
    """AddTask does not signal: a flush waits for the updater's timer."""

    killer = "flush.flush_completes"
    origin = "B56"
    instance = "calm"

    def send_by_signal(s):
        super().send_by_signal()
        require(~s.pending)


class CoordinatorStoresPlainly(Mutant):
    """The coordinator stores whatever arrives: a late request takes the checkpoint back."""

    killer = "flush.stored_never_goes_back"
    origin = "B29, B27"

    def accepted(s, position):
        return position


class RefusedSaveIsSuccess(Mutant):
    """A save that is refused because the channel is not assigned counts as done."""

    killer = "flush.checkpoint_before_earliest_unsynced"
    origin = "H22: as coded from 2.3 to master"
    instance = "moves"

    @action
    def refuse_save(s, segment: Flush.Segment, end: Flush.Position):
        """The coordinator answers: channel not found. The meta writer swallows it."""
        require(s.alive & ~s.assigned & (s.task[segment, end] == "sending"))
        s.release(segment, end)


class StaleSaveAfterRecovery(Mutant):
    """The owner check and the save are two steps: a dead owner's save lands after the new owner has asked
    where to start.
    """

    killer = "flush.stored_once"
    origin = "H22, H48, B19"

    stale: Set[Flush.Position] = False
    stale_end: Map[Flush.Segment, Flush.Position] = 0
    snapshot: Map[Flush.Segment, Flush.Position] = 0

    def replayed(s, p):
        return p <= s.snapshot[s.segment_of[p]]

    def recover(s, seek):
        s.stale = each(
            s.Position,
            lambda p: (
                s.stale[p]
                | (
                    (s.held[p] == "syncing")
                    & exists(s.Position, lambda e: (p <= e) & s.sending(s.segment_of[p], e))
                )
            ),
        )
        s.stale_end = each(
            s.Segment, lambda g: least(s.Position, lambda e: s.sending(g, e), default=s.stale_end[g])
        )
        s.snapshot = each(s.Segment, lambda g: s.dml[g])
        super().recover(seek)

    def sending(s, segment, end):
        """The task's request is in the network."""
        return (s.task[segment, end] == "sending") | (s.task[segment, end] == "retrying")

    @action
    def record_stale(s, segment: Flush.Segment):
        """The dead owner's request, checked before the hand-over, is stored after it."""
        require(s.stale_end[segment] > s.dml[segment])
        s.copies = each(
            s.Position,
            lambda p: ite(s.stale[p] & (s.segment_of[p] == segment), s.copies[p] + 1, s.copies[p]),
        )
        s.stale = each(s.Position, lambda p: s.stale[p] & (s.segment_of[p] != segment))
        s.dml[segment] = s.stale_end[segment]
        s.stale_end[segment] = 0


class AckTakenForStore(Mutant):
    """What a log reader would like to believe: an acknowledged checkpoint is stored."""

    killer = "flush.an_acknowledged_checkpoint_is_stored"
    origin = "H21"
    instance = "moves"

    @invariant(source="H21; facts 10.1")
    def an_acknowledged_checkpoint_is_stored(s):
        """Once the node has its answer, the coordinator has stored at least that position."""
        answered = (s.rpc == "acked") | (s.rpc == "read") | (s.rpc == "cleared")
        return ~answered | (s.stored >= s.rpc_position)
