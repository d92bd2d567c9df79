"""Mutants of the flush implementation: hazards and real bugs, each as an override of one small method.

The functions return the flush program with the fault in it, and take the same arguments as
``tidemark.models.protocols.flush.programs.flush``.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.flush_service import FlushService
from tidemark.impl.datanode.buffer_manager import BufferManager
from tidemark.impl.datanode.checkpoint_updater import CheckpointTask, CheckpointUpdater
from tidemark.impl.datanode.data_node import DataNodeParts
from tidemark.impl.datanode.recovery import RecoveryFilter
from tidemark.impl.datanode.sync_manager import SyncManager
from tidemark.impl.datanode.sync_task import SyncStage, SyncTask
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import RpcError
from tidemark.impl.ports import CoordinatorClient
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import (
    NO_FLUSH,
    ChannelName,
    ChannelPosition,
    ChannelRecord,
    CheckpointCall,
    Owner,
    Pack,
    Position,
    Row,
    SaveBinlogPaths,
    SegmentId,
    SegmentRecord,
    StartPosition,
    UpdateCheckpoints,
)
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.flush.program import FlushProgram
from tidemark.models.protocols.flush.programs import flush, over_files

# ---- write buffer and sync tasks ----


class _IgnoresInFlight(WriteBuffer):
    def _earliest_in_flight(self) -> StartPosition | None:
        return None


@mutant(
    killer="flush.positions_on_their_way_are_safe",
    source="H15, B13; seed 001, GetCheckpoint",
    instance="flush-and-checkpoint",
)
def checkpoint_ignores_in_flight(**scenario: Any) -> FlushProgram:
    """Rows that are being synced do not hold the checkpoint back (H15, B13, seed 001)."""
    return flush(parts=DataNodeParts(write_buffer=_IgnoresInFlight), **scenario)


class _ReleasesEarly(SyncManager):
    async def _upload(self, task: SyncTask) -> None:
        await super()._upload(task)
        sink = task.sink
        assert isinstance(sink, WriteBuffer)
        sink.in_flight.pop(task.key, None)


@mutant(killer="flush.positions_on_their_way_are_safe", source="H16", instance="flush-and-checkpoint")
def in_flight_removed_early(**scenario: Any) -> FlushProgram:
    """The start position is forgotten after the upload, before the coordinator has recorded it (H16)."""
    return flush(parts=DataNodeParts(sync_manager=_ReleasesEarly), **scenario)


class _SwallowsErrors(SyncManager):
    async def _upload_once(self, task: SyncTask) -> bool:
        await super()._upload_once(task)
        return True


@mutant(killer="binlogs_are_stored", source="B14", instance="failed-upload")
def upload_error_is_swallowed(**scenario: Any) -> FlushProgram:
    """A failed upload counts as done (B14)."""
    return flush(parts=DataNodeParts(sync_manager=_SwallowsErrors), **scenario)


class _SavesFirst(SyncManager):
    async def _run(self, task: SyncTask) -> None:
        await self._preemption.point("sync.upload")
        task.stage = SyncStage.UPLOADED  # so it says; all that is wrong is the order
        await self._preemption.point("sync.send_save")
        while not await self._save(task):
            await self._back_off(task)
        await self._upload(task)
        self._finish(task)


@mutant(killer="binlogs_are_stored", source="facts 7.6", instance="over-real-stores")
def metadata_are_written_before_the_object(**scenario: Any) -> FlushProgram:
    """A sync is recorded first and uploaded then: a power failure in between loses its rows."""
    return over_files(parts=DataNodeParts(sync_manager=_SavesFirst), **scenario)


class _StartsAtTheEnd(WriteBuffer):
    def _start_position_of(self, pack: Pack) -> StartPosition:
        return StartPosition(pack.end.ts)


@mutant(
    killer="flush.positions_on_their_way_are_safe",
    source="facts 7.1: start and end of a pack; facts 7.2",
    instance="flush-and-checkpoint",
)
def start_position_is_the_end(**scenario: Any) -> FlushProgram:
    """A buffer remembers the end of its first pack as its start."""
    return flush(parts=DataNodeParts(write_buffer=_StartsAtTheEnd), **scenario)


class _Unordered(SyncManager):
    def _queue_key(self, task: SyncTask) -> Any:
        return (task.channel, task.segment_id, task.position.ts)


@mutant(killer="flush.one_task_at_a_time", source="B55, H49", instance="two-syncs")
def syncs_of_a_segment_overtake(**scenario: Any) -> FlushProgram:
    """Two sync tasks of one segment run side by side (B55, H49)."""
    return flush(parts=DataNodeParts(sync_manager=_Unordered), **scenario)


# ---- flush timestamp ----


class _Overwrites(BufferManager):
    def _merge_flush_ts(self, pending: Timestamp, asked: Timestamp) -> Timestamp:
        del pending
        return asked


@mutant(killer="flush.flush_request_not_lost", source="H6", instance="two-flushes-race")
def flush_ts_is_overwritten(**scenario: Any) -> FlushProgram:
    """A late request for an earlier flush replaces a later one (H6)."""
    return flush(parts=DataNodeParts(buffer_manager=_Overwrites), **scenario)


class _ClearsBlindly(BufferManager):
    def _after_flush_ts_read(self, buffer: WriteBuffer, call: CheckpointCall) -> None:
        if self._should_reset(call.position, call.saw_flush_ts):
            buffer.flush_ts = NO_FLUSH


@mutant(killer="flush.reset_only_by_greater_checkpoint", source="H5", instance="two-flushes-race")
def flush_ts_is_cleared_blindly(**scenario: Any) -> FlushProgram:
    """The callback reads, decides, and clears whatever is there by then (H5)."""
    return flush(parts=DataNodeParts(buffer_manager=_ClearsBlindly), **scenario)


class _NotStrict(BufferManager):
    def _should_reset(self, checkpoint: Position, flush_ts: Timestamp) -> bool:
        return flush_ts != NO_FLUSH and checkpoint.ts >= flush_ts


@mutant(killer="flush.reset_only_by_greater_checkpoint", source="H7", instance="two-flushes-race")
def flush_ts_is_reset_by_an_equal_checkpoint(**scenario: Any) -> FlushProgram:
    """At or above is enough for the reset (H7)."""
    return flush(parts=DataNodeParts(buffer_manager=_NotStrict), **scenario)


class _NeverResets(BufferManager):
    def _should_reset(self, checkpoint: Position, flush_ts: Timestamp) -> bool:
        del checkpoint, flush_ts
        return False


@mutant(
    killer="refinement",
    source="B50",
    instance="flush-and-checkpoint-on-spark",
    name="flush-ts-is-never-reset-on-spark",
)
@mutant(killer="refinement", source="B50", instance="flush-and-checkpoint")
def flush_ts_is_never_reset(**scenario: Any) -> FlushProgram:
    """The callback leaves the flush timestamp alone (B50)."""
    return flush(parts=DataNodeParts(buffer_manager=_NeverResets), **scenario)


class _NeedsMore(BufferManager):
    def _needs_update(self, checkpoint: Position, flush_ts: Timestamp) -> bool:
        return flush_ts != NO_FLUSH and checkpoint.ts > flush_ts


@mutant(killer="refinement", source="H7", instance="two-flushes-race")
def equal_checkpoint_is_not_reported(**scenario: Any) -> FlushProgram:
    """A checkpoint at the flush timestamp, which completes the flush, is not reported (H7)."""
    return flush(parts=DataNodeParts(buffer_manager=_NeedsMore), **scenario)


# ---- checkpoint updater ----


class _ForgetsNewer(CheckpointUpdater):
    def _clean_up(self, call: CheckpointCall) -> None:
        self.tasks.pop(call.channel, None)
        del self.in_flight[call.channel]


@mutant(killer="refinement", source="B12, H4", instance="late-requests")
def clean_up_forgets_a_newer_checkpoint(**scenario: Any) -> FlushProgram:
    """The clean-up deletes what was added while the call was under way (B12, H4)."""
    return flush(parts=DataNodeParts(checkpoint_updater=_ForgetsNewer), **scenario)


# ---- recovery ----


class _FiltersNothing(RecoveryFilter):
    def _should_filter(self, row: Row) -> bool:
        del row
        return False


@mutant(killer="flush.buffered_rows_are_not_recorded", source="B63", instance="crash-and-replay")
def recovery_filters_nothing(**scenario: Any) -> FlushProgram:
    """Replayed rows are kept although they are stored (B63)."""
    return flush(parts=DataNodeParts(recovery_filter=_FiltersNothing), **scenario)


class _FiltersBelow(RecoveryFilter):
    def _should_filter(self, row: Row) -> bool:
        recorded = self.recorded.get(row.segment_id)
        return recorded is not None and row.ts < recorded.ts


@mutant(killer="flush.buffered_rows_are_not_recorded", source="H46", instance="crash-and-replay")
def recovery_boundary_is_strict(**scenario: Any) -> FlushProgram:
    """The row at the recorded position counts as not stored (H46)."""
    return flush(parts=DataNodeParts(recovery_filter=_FiltersBelow), **scenario)


# ---- coordinator ----


class _AcceptsTheDead(Coordinator):
    def _owner_may_write(self, channel: ChannelName, owner: Owner) -> bool:
        record = self.channels.get(channel)
        return record is not None and record.assigned_to == owner.node_id


@mutant(killer="flush.stored_once", source="H22, B27", instance="crash-and-recover")
def save_of_a_dead_incarnation_counts(**scenario: Any) -> FlushProgram:
    """The owner is compared by node, not by incarnation (H22, B27)."""
    return flush(coordinator=_AcceptsTheDead, **scenario)


class _Appends(Coordinator):
    def _brings_rows(self, record: SegmentRecord, request: SaveBinlogPaths) -> bool:
        del request
        return not (record.flushed or record.dropped)


@mutant(killer="flush.stored_once", source="B19, H48", instance="lost-answers")
def repeated_save_appends(**scenario: Any) -> FlushProgram:
    """A save that is repeated after a lost answer is recorded again (B19, H48)."""
    return flush(coordinator=_Appends, **scenario)


class _StoresAnything(Coordinator):
    def _accepts_checkpoint(self, record: ChannelRecord, reported: ChannelPosition) -> bool:
        del record, reported
        return True


@mutant(killer="flush.stored_never_goes_back", source="B29", instance="late-requests")
def smaller_checkpoint_is_stored(**scenario: Any) -> FlushProgram:
    """A late request takes the stored checkpoint back (B29)."""
    return flush(coordinator=_StoresAnything, **scenario)


# ---- steps that fit, but are not what their event represents; failures that no fault explains ----


class _SignalSendsAll(CheckpointUpdater):
    def _take_flagged(self) -> list[CheckpointTask]:
        return self._take_all()


@mutant(killer="refinement", source="facts 9", instance="flush-and-checkpoint")
def signal_sends_what_no_flush_waits_for(**scenario: Any) -> FlushProgram:
    """The prompt report of a flush takes along what the timer should send."""
    return flush(parts=DataNodeParts(checkpoint_updater=_SignalSendsAll), **scenario)


class _TakesAnAnswerForAFailure(CheckpointUpdater):
    def __init__(self, *, coordinator: CoordinatorClient, **rest: Any) -> None:
        super().__init__(coordinator=_Denying(coordinator), **rest)


class _Denying:
    """The coordinator's client, by which a call that was answered has failed."""

    def __init__(self, inner: CoordinatorClient) -> None:
        self._inner = inner
        self.save_binlog_paths = inner.save_binlog_paths
        self.recover_channel = inner.recover_channel

    async def update_channel_checkpoints(self, request: UpdateCheckpoints, *, deadline: float) -> None:
        """Make the call, and take the answer for a failure."""
        await self._inner.update_channel_checkpoints(request, deadline=deadline)
        raise RpcError("not stored")


@mutant(killer="refinement", source="facts 9", instance="flush-and-checkpoint")
def answer_counts_as_a_failure(**scenario: Any) -> FlushProgram:
    """A report of checkpoints that the coordinator has answered is treated as lost."""
    return flush(parts=DataNodeParts(checkpoint_updater=_TakesAnAnswerForAFailure), **scenario)


# ---- the client's request ----


class _GivesUp(FlushService):
    async def _until_confirmed(
        self, channel: ChannelName, flush_ts: Timestamp, segments: Sequence[SegmentId]
    ) -> None:
        for _ in range(2):
            if await self._coordinator.confirm_flush(channel, flush_ts, segments):
                return
            await self._tell_node(channel, flush_ts, segments)
            await self._clock.sleep(self._config.poll_seconds)


class _WithAnImpatientService(FlushProgram):
    flush_service = _GivesUp


@mutant(killer="flush.flush_completes", source="facts 10.3", instance="flush-endless", tier="full")
def flush_service_gives_up(**scenario: Any) -> FlushProgram:
    """After two polls without success a flush is not asked for again: it is never confirmed."""
    return flush(program=_WithAnImpatientService, **scenario)


# ---- what no step says ----


@mutant(killer="footprints", source="property I", instance="tiny-footprints")
def node_and_coordinator_share_an_object(**scenario: Any) -> FlushProgram:
    """A poll leaves a mark where the node finds it, and no step says so: an order may be left out."""
    polls: list[ChannelName] = []
    seen: list[int] = []

    class Marks(Coordinator):
        async def confirm_flush(
            self, channel: ChannelName, flush_ts: Timestamp, segments: Iterable[SegmentId] = ()
        ) -> bool:
            polls.append(channel)
            return await super().confirm_flush(channel, flush_ts, segments)

    class Looks(BufferManager):
        def _needs_update(self, checkpoint: Position, flush_ts: Timestamp) -> bool:
            seen.append(len(polls))
            return super()._needs_update(checkpoint, flush_ts)

    class Declares(FlushProgram):
        def declared(self) -> Hashable:
            return super().declared(), tuple(seen)

    return flush(parts=DataNodeParts(buffer_manager=Looks), coordinator=Marks, program=Declares, **scenario)
