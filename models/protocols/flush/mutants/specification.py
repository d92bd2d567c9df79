"""Named mutants of the flush protocol: hazards and real bugs, each with the property that must find it.

Every class overrides as little as possible of ``Flush``. It says which property must be refuted,
which hazard (H) or bug (B) it represents, and on which of the manifest's instances it shows.
"""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.flush import Flush
from tidemark.spec.language import (
    Bool,
    Map,
    Set,
    action,
    each,
    everywhere,
    exists,
    invariant,
    ite,
    least,
    maximum,
    require,
)

# ---- checkpoint and write buffer ----


@mutant(killer="flush.checkpoint_before_earliest_unsynced", source="H16", instance="small")
class InFlightRemovedEarly(Flush):
    """The in-flight position is removed when the upload is done, before the coordinator has recorded it."""

    def pins(s, p: Flush.Position) -> Bool:
        segment = s.segment_of[p]
        waiting = exists(s.Position, lambda e: (e >= p) & (s.task[segment, e] == "queued"))
        return (s.held[p] == "buffered") | ((s.held[p] == "syncing") & waiting)


@mutant(killer="flush.nothing_lost", source="B14", instance="small")
class SyncErrorSwallowed(Flush):
    """A failed upload counts as done: the rows leave the memory."""

    @action
    def fail_upload(s, segment: Flush.Segment, end: Flush.Position) -> None:
        """The object store refuses the file; the error is returned as a value."""
        require(s.alive & (s.task[segment, end] == "queued") & s.first_in_line(segment, end))
        s.release(segment, end)
        s.fault()


@mutant(killer="flush.nothing_lost", source="H17, B23, B61", instance="small")
class MissingSegmentIsSuccess(Flush):
    """A late row of a flushed segment, and a sync task that finds its segment gone and reports success."""

    def seal(s, segment: Flush.Segment) -> None:
        require(s.alive & (s.phase[segment] == "growing"))
        require(exists(s.Position, lambda p: (p <= s.consumed) & s.row_of(p, segment)))
        s.phase[segment] = "sealed"

    def has_buffer(s, segment: Flush.Segment) -> Bool:
        return exists(s.Position, lambda p: s.row_of(p, segment) & (s.held[p] == "buffered"))

    @action
    def skip_missing(s, segment: Flush.Segment, end: Flush.Position) -> None:
        """The task looks its segment up, does not find it, and is done."""
        require(s.alive & (s.task[segment, end] == "queued") & (s.phase[segment] == "flushed"))
        s.release(segment, end)


@mutant(killer="flush.flushed_is_recorded", source="B17", instance="small")
class MetacacheDropsGrowing(Flush):
    """An entry of the metacache is removed while its rows are buffered."""

    @action
    def drop_entry(s, segment: Flush.Segment) -> None:
        """SyncSegments removes a growing segment."""
        require(s.alive & (s.phase[segment] == "growing"))
        s.phase[segment] = "flushed"


@mutant(killer="flush.checkpoint_before_earliest_unsynced", source="H49, B55", instance="small")
class SyncUnordered(Flush):
    """Two tasks of one segment run in any order."""

    def first_in_line(s, segment: Flush.Segment, end: Flush.Position) -> Bool:
        return s.task[segment, end] == "queued"

    def finish_sync(s, segment: Flush.Segment, end: Flush.Position) -> None:
        require(s.alive & (s.task[segment, end] == "recorded"))
        s.release(segment, end)

    def own_row(s, p: Flush.Position, segment: Flush.Segment, end: Flush.Position) -> Bool:
        """The row belongs to this very task: no earlier unfinished task covers it."""
        earlier = exists(s.Position, lambda e: (p <= e) & (e < end) & (s.task[segment, e] != "none"))
        return s.row_of(p, segment) & (s.held[p] == "syncing") & (p <= end) & ~earlier

    def record_rows(s, segment: Flush.Segment, end: Flush.Position) -> None:
        s.copies = each(s.Position, lambda p: ite(s.own_row(p, segment, end), s.copies[p] + 1, s.copies[p]))
        s.dml[segment] = maximum(s.dml[segment], end)

    def release(s, segment: Flush.Segment, end: Flush.Position) -> None:
        s.held = each(s.Position, lambda p: ite(s.own_row(p, segment, end), "none", s.held[p]))
        s.task[segment, end] = "none"
        s.flush_task[segment, end] = False


@mutant(killer="flush.flushed_is_final", source="B15", instance="idle-tail")
class FlushingPickedAgain(Flush):
    """A flushing segment is picked by the sealed policy again."""

    def sync_sealed(s, segment: Flush.Segment) -> None:
        require(s.alive & ((s.phase[segment] == "sealed") | (s.phase[segment] == "flushing")))
        require(s.task[segment, s.consumed] == "none")
        s.phase[segment] = "flushing"
        s.flush_task[segment, s.consumed] = True
        s.yield_buffer(segment)


@mutant(killer="flush.flushed_is_recorded", source="facts 10.2: full-binlog rule", instance="small")
class FlushForgottenBehindSaved(Flush):
    """The coordinator ignores a save at or below the saved position whole, its flush mark too."""

    def ends_segment(s, segment: Flush.Segment, end: Flush.Position) -> Bool:
        return super().ends_segment(segment, end) & s.brings_rows(segment, end)


@mutant(killer="flush.flush_completes", source="B18", instance="calm")
class FlushPolicyOnlySealed(Flush):
    """The flush timestamp policy skips growing segments."""

    def sync_for_flush(s, segment: Flush.Segment) -> None:
        super().sync_for_flush(segment)
        require(s.phase[segment] != "growing")


# ---- flush timestamp ----


@mutant(killer="flush.flush_request_not_lost", source="H5", instance="two-flushes")
class ReadThenClear(Flush):
    """NotifyCheckpointUpdated clears without comparing: a flush that arrives in between is lost."""

    def unchanged_flush_ts(s) -> Bool:
        return s.rpc == "read"


@mutant(killer="flush.flush_ts_is_reset", source="B50", instance="calm")
class NeverResets(Flush):
    """The flush timestamp is never reset."""

    def unchanged_flush_ts(s) -> Bool:
        return s.rpc == "idle"


# ---- time-tick node and updater ----


@mutant(killer="flush.flush_completes", source="B56", instance="calm")
class NoTrigger(Flush):
    """AddTask does not signal: a flush waits for the updater's timer."""

    def send_by_signal(s) -> None:
        super().send_by_signal()
        require(~s.pending)


@mutant(
    killer="flush.checkpoint_before_earliest_unsynced",
    source="H22: as coded from 2.3 to master",
    instance="moves",
)
class RefusedSaveIsSuccess(Flush):
    """A save that is refused because the channel is not assigned counts as done."""

    @action
    def refuse_save(s, segment: Flush.Segment, end: Flush.Position) -> None:
        """The coordinator answers: channel not found. The meta writer swallows it."""
        require(s.alive & ~s.assigned & (s.task[segment, end] == "sending"))
        s.release(segment, end)


@mutant(killer="flush.stored_once", source="H22, H48, B19", instance="small")
class StaleSaveAfterRecovery(Flush):
    """The owner check and the save are two steps: a dead owner's save lands after the new owner has asked
    where to start.
    """

    stale: Set[Flush.Position] = everywhere(False)
    stale_end: Map[Flush.Segment, Flush.Position] = everywhere(0)
    snapshot: Map[Flush.Segment, Flush.Position] = everywhere(0)

    def replayed(s, p: Flush.Position) -> Bool:
        return p <= s.snapshot[s.segment_of[p]]

    def recover(s, seek: Flush.Position) -> None:
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

    def sending(s, segment: Flush.Segment, end: Flush.Position) -> Bool:
        """The task's request is in the network."""
        return (s.task[segment, end] == "sending") | (s.task[segment, end] == "retrying")

    @action
    def record_stale(s, segment: Flush.Segment) -> None:
        """The dead owner's request, checked before the hand-over, is stored after it."""
        require(s.stale_end[segment] > s.dml[segment])
        s.copies = each(
            s.Position,
            lambda p: ite(s.stale[p] & (s.segment_of[p] == segment), s.copies[p] + 1, s.copies[p]),
        )
        s.stale = each(s.Position, lambda p: s.stale[p] & (s.segment_of[p] != segment))
        s.dml[segment] = s.stale_end[segment]
        s.stale_end[segment] = 0


class AckTakenForStore(Flush):
    """What a log reader would like to believe: an acknowledged checkpoint is stored."""

    @invariant(source="H21; facts 10.1")
    def an_acknowledged_checkpoint_is_stored(s) -> Bool:
        """Once the node has its answer, the coordinator has stored at least that position."""
        answered = (s.rpc == "acked") | (s.rpc == "read") | (s.rpc == "cleared")
        return ~answered | (s.stored >= s.rpc_position)
