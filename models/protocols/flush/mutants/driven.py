"""Adapters of flush implementations with one bug each, planted where the implementation can be overridden."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.buffer_manager import BufferManager
from tidemark.impl.datanode.checkpoint_updater import CheckpointTask, CheckpointUpdater
from tidemark.impl.datanode.data_node import DataNodeParts
from tidemark.impl.datanode.recovery import RecoveryFilter
from tidemark.impl.datanode.sync_manager import SyncManager
from tidemark.impl.datanode.sync_task import SyncTask
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import (
    NO_FLUSH,
    ChannelName,
    ChannelPosition,
    ChannelRecord,
    CheckpointCall,
    Owner,
    Row,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentRecord,
    StartPosition,
)
from tidemark.models.protocols.flush.driver import FlushAdapter


class _ForgetsInFlight(WriteBuffer):
    def _earliest_in_flight(self) -> StartPosition | None:
        return None


class IgnoresInFlight(FlushAdapter):
    """The checkpoint does not wait for rows that are being synced (hazard 15)."""

    parts: ClassVar[DataNodeParts] = DataNodeParts(write_buffer=_ForgetsInFlight)


class _PlainStore(BufferManager):
    def _merge_flush_ts(self, pending: Timestamp, asked: Timestamp) -> Timestamp:
        del pending
        return asked


class PlainFlushTs(FlushAdapter):
    """An earlier flush timestamp replaces a later one (hazard 6)."""

    parts: ClassVar[DataNodeParts] = DataNodeParts(buffer_manager=_PlainStore)


class _ReadThenClear(BufferManager):
    def _after_flush_ts_read(self, buffer: WriteBuffer, call: CheckpointCall) -> None:
        if self._should_reset(call.position, call.saw_flush_ts):
            buffer.flush_ts = NO_FLUSH


class ClearsUnseen(FlushAdapter):
    """The callback clears a flush timestamp that it has not read (hazard 5)."""

    parts: ClassVar[DataNodeParts] = DataNodeParts(buffer_manager=_ReadThenClear)


class _Unlocked(CheckpointUpdater):
    async def _run_round(self, take: Callable[[], list[CheckpointTask]]) -> None:
        self._round = asyncio.Lock()
        await super()._run_round(take)


class RoundsOverlap(FlushAdapter):
    """Two rounds of the updater run at the same time."""

    parts: ClassVar[DataNodeParts] = DataNodeParts(checkpoint_updater=_Unlocked)


class _FiltersBelow(RecoveryFilter):
    def _should_filter(self, row: Row) -> bool:
        recorded = self.recorded.get(row.segment_id)
        return recorded is not None and row.ts < recorded.ts


class FiltersBelow(FlushAdapter):
    """A replayed row at the recorded position is kept (hazards 46, 47)."""

    parts: ClassVar[DataNodeParts] = DataNodeParts(recovery_filter=_FiltersBelow)


class _RefusalIsSuccess(SyncManager):
    def _counts_as_recorded(self, outcome: SaveOutcome) -> bool:
        return True


class RefusalIsSuccess(FlushAdapter):
    """A save that the coordinator refuses counts as recorded (hazard 22)."""

    parts: ClassVar[DataNodeParts] = DataNodeParts(sync_manager=_RefusalIsSuccess)


class _Unordered(SyncManager):
    def _queue_key(self, task: SyncTask) -> tuple[str, int, int]:
        return (task.channel, task.segment_id, task.position.ts)


class Unordered(FlushAdapter):
    """Tasks of one segment overtake each other (hazard 49)."""

    parts: ClassVar[DataNodeParts] = DataNodeParts(sync_manager=_Unordered)


class _StoresPlainly(Coordinator):
    def _accepts_checkpoint(self, record: ChannelRecord, reported: ChannelPosition) -> bool:
        return True


class CheckpointGoesBack(FlushAdapter):
    """The coordinator stores whatever checkpoint arrives."""

    coordinator: ClassVar[type[Coordinator]] = _StoresPlainly


class _Termless(Coordinator):
    def _owner_may_write(self, channel: ChannelName, owner: Owner) -> bool:
        return self.channel(channel).assigned_to == owner.node_id


class SavesOfTheDead(FlushAdapter):
    """Saves of an earlier incarnation are taken (hazard 22)."""

    coordinator: ClassVar[type[Coordinator]] = _Termless


class _SwallowsErrors(SyncManager):
    async def _upload_once(self, task: SyncTask) -> bool:
        await super()._upload_once(task)
        return True


class UploadErrorIsSwallowed(FlushAdapter):
    """A failed or torn upload counts as done (B14)."""

    parts: ClassVar[DataNodeParts] = DataNodeParts(sync_manager=_SwallowsErrors)


class _Appends(Coordinator):
    def _brings_rows(self, record: SegmentRecord, request: SaveBinlogPaths) -> bool:
        del request
        return not (record.flushed or record.dropped)


class CopiesAreAppended(FlushAdapter):
    """A save that arrives twice is recorded twice (hazard 48)."""

    coordinator: ClassVar[type[Coordinator]] = _Appends
