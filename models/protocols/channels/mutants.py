"""Mutants of the implementation that show with several channels, a slow metadata store, a drop or a deadline.

The functions return a program with the fault in it, and take the same arguments as
``tidemark.models.protocols.channels.programs:channels``, or as ``tidemark.models.protocols.channels.owners``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.flush_service import FlushService
from tidemark.impl.datanode.buffer_manager import BufferManager
from tidemark.impl.datanode.checkpoint_updater import CheckpointTask, CheckpointUpdater
from tidemark.impl.datanode.data_node import DataNodeParts
from tidemark.impl.datanode.pipeline import ChannelPipeline
from tidemark.impl.datanode.sync_manager import SyncManager
from tidemark.impl.datanode.sync_task import SyncTask
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import RpcTimeoutError
from tidemark.impl.ports import MetaStore
from tidemark.impl.rpc import Calls, DirectCoordinatorClient
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import (
    ChannelName,
    ChannelRecord,
    CheckpointCall,
    FlushRequest,
    SaveOutcome,
    SegmentId,
    StartPosition,
    UpdateCheckpoints,
)
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.channels.owners import OwnersProgram, owners
from tidemark.models.protocols.channels.program import ChannelsProgram
from tidemark.models.protocols.channels.programs import channels
from tidemark.models.protocols.channels.real_records import records_in_sqlite
from tidemark.models.protocols.channels.records import RecordsProgram

# ---- the node ----


class _LastPosition(CheckpointUpdater):
    def _request(self, calls: Sequence[CheckpointCall]) -> UpdateCheckpoints:
        request = super()._request(calls)
        last = request.positions[-1].position
        return UpdateCheckpoints(tuple(replace(reported, position=last) for reported in request.positions))


@mutant(killer="checkpoint_is_durable", source="facts 9", instance="channels-batch")
def positions_of_the_last_call(**scenario: Any) -> ChannelsProgram:
    """All positions of a batch are that of its last call."""
    return channels(parts=DataNodeParts(checkpoint_updater=_LastPosition), **scenario)


class _NoTail(CheckpointUpdater):
    def _batches(self, tasks: Sequence[CheckpointTask]) -> list[Sequence[CheckpointTask]]:
        size = self._config.max_positions_per_rpc
        return [tasks[at : at + size] for at in range(0, len(tasks) - size + 1, size)]


@mutant(killer="a_round_sends_all", source="facts 9", instance="channels-tail")
def tail_is_left_out(**scenario: Any) -> ChannelsProgram:
    """The last, shorter batch is not sent."""
    return channels(parts=DataNodeParts(checkpoint_updater=_NoTail), **scenario)


class _Smallest(BufferManager):
    def _biggest(self, held: Mapping[ChannelName, int]) -> ChannelName:
        return min(sorted(held), key=lambda channel: held[channel])


@mutant(killer="the_biggest_goes_first", source="facts 7.3", instance="channels-memory")
def memory_pressure_takes_the_smallest(**scenario: Any) -> ChannelsProgram:
    """Memory pressure syncs a buffer of the channel that holds least."""
    return channels(parts=DataNodeParts(buffer_manager=_Smallest), **scenario)


class _Hurried(ChannelPipeline):
    async def _drop(self) -> None:
        self.time_tick_node.drop_mode = True
        self.write_buffer.drop_all()


@mutant(killer="checkpoint_is_durable", source="facts 10.1", instance="channels-drop")
def drop_does_not_wait(**scenario: Any) -> ChannelsProgram:
    """The drop is reported while its last syncs are under way."""
    return channels(parts=DataNodeParts(pipeline=_Hurried), **scenario)


class _Greatest(WriteBuffer):
    def _earliest_buffered(self) -> StartPosition | None:
        starts = (buffer.start for buffer in self.buffers.values())
        return max(starts, key=lambda start: start.ts, default=None)


@mutant(killer="checkpoint_is_durable", source="facts 7.2", instance="channels-two-segments")
def greatest_start_position(**scenario: Any) -> ChannelsProgram:
    """The checkpoint goes by the greatest of the buffered start positions."""
    return channels(parts=DataNodeParts(write_buffer=_Greatest), **scenario)


class _WrongRows(SyncManager):
    async def _upload(self, task: SyncTask) -> None:
        rows, task.rows = task.rows, tuple(reversed(task.rows))[:1]
        await super()._upload(task)
        task.rows = rows


@mutant(killer="objects_hold_their_rows", source="facts 7.6; B14", instance="channels-pack-of-two")
def object_lacks_rows(**scenario: Any) -> ChannelsProgram:
    """An object is written with one row of several; its record names all of them."""
    return channels(parts=DataNodeParts(sync_manager=_WrongRows), **scenario)


class _HopefulCalls(Calls):
    async def call(self, handler: Coroutine[Any, Any, Any], *, name: str, deadline: float) -> Any:
        try:
            return await super().call(handler, name=name, deadline=deadline)
        except RpcTimeoutError:
            return SaveOutcome.RECORDED


class _Hopeful(DirectCoordinatorClient):
    def __init__(self, coordinator: Coordinator) -> None:
        super().__init__(coordinator)
        self._calls = _HopefulCalls()


@mutant(killer="answered_is_stored", source="facts 7.6; B14", instance="channels-deadline")
def timeout_is_a_success(**scenario: Any) -> ChannelsProgram:
    """A call whose deadline passes is answered as if it had been carried out."""
    return channels(rpc=_Hopeful, **scenario)


# ---- the coordinator ----


class _NoLock(SteppedLock):
    @asynccontextmanager
    async def holding(self, point: str) -> AsyncIterator[None]:
        del point
        yield


class _Unlocked(Coordinator):
    def __init__(self, *, meta: MetaStore) -> None:
        super().__init__(meta=meta)
        self.lock = _NoLock(NoPreemption())


@mutant(killer="records_only_grow", source="facts 10.1", instance="channels-two-flushes")
def check_and_store_without_the_lock(**scenario: Any) -> ChannelsProgram:
    """Two requests read the same record; the one that is stored later takes the other one back."""
    return channels(coordinator=_Unlocked, **scenario)


class _RemembersFirst(Coordinator):
    async def _save_channels(self, records: Sequence[ChannelRecord]) -> None:
        for record in records:
            self.channels[record.channel] = record
        await super()._save_channels(records)


@mutant(killer="records_are_stored", source="facts 10.1", instance="channels-slow-store")
def memory_before_the_store(**scenario: Any) -> ChannelsProgram:
    """The coordinator remembers what its store does not have yet."""
    return channels(coordinator=_RemembersFirst, **scenario)


class _KeepsTheDropped(Coordinator):
    def _living(self, channel: ChannelName) -> ChannelRecord:
        return self.channel(channel)


@mutant(killer="dropped_is_gone", source="hazard 14", instance="channels-drop")
def dropped_channel_is_recovered(**scenario: Any) -> ChannelsProgram:
    """A dropped channel is given out at the sentinel, and its flushes are accepted (hazard 14)."""
    return channels(coordinator=_KeepsTheDropped, **scenario)


class _ForgetsSegments(FlushService):
    def _segments_of(self, request: FlushRequest) -> Sequence[SegmentId]:
        del request
        return ()


@mutant(killer="a_done_flush_is_confirmed", source="facts 10.3", instance="channels-coordinator-restarts")
def resumed_flush_forgets_its_segments(**scenario: Any) -> ChannelsProgram:
    """After a restart of the coordinator a flush goes on without its segments."""
    return channels(service=_ForgetsSegments, **scenario)


class _NeverResumes(FlushService):
    async def resume(self) -> None:
        """No one carries on."""


@mutant(killer="a_done_flush_is_confirmed", source="facts 10.3", instance="channels-coordinator-restarts")
def flushes_are_not_resumed(**scenario: Any) -> ChannelsProgram:
    """After a restart of the coordinator its flushes are not continued."""
    return channels(service=_NeverResumes, **scenario)


class _KeepsTheSession(Coordinator):
    async def assign(self, channel: ChannelName, node_id: str) -> None:
        known = self.channels.get(channel)
        session = 0 if known is None else known.session
        await super().assign(channel, node_id)
        async with self.lock.holding("coordinator.lock"):
            await self._save_channel(replace(self.channel(channel), session=session))


@mutant(killer="the_owner_is_served", source="facts 10.4", instance="channels-move")
def session_of_another_node_is_kept(**scenario: Any) -> OwnersProgram:
    """A channel that moves keeps the number of the incarnation that had it."""
    return owners(coordinator=_KeepsTheSession, **scenario)


class _KeepsTheTerm(Coordinator):
    async def recover_channel(self, channel: ChannelName, node_id: str, session: int = 0) -> Any:
        term = self.channel(channel).term
        answer = await super().recover_channel(channel, node_id, session)
        async with self.lock.holding("coordinator.lock"):
            await self._save_channel(replace(self.channel(channel), term=term))
        return replace(answer, owner=replace(answer.owner, term=term))


@mutant(killer="the_fenced_do_not_write", source="H22, B27", instance="channels-new-incarnation")
def recovery_keeps_the_term(**scenario: Any) -> OwnersProgram:
    """A new incarnation writes in the term of the earlier one."""
    return owners(coordinator=_KeepsTheTerm, **scenario)


# ---- the store ----


class _OneByOne(SqliteMetaStore):
    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        for record in records:
            await super().save_channels([record])


@mutant(killer="calls_take_turns", source="facts 10.1", instance="records-over-sqlite-two-channels")
def channels_are_saved_one_by_one(**scenario: Any) -> RecordsProgram:
    """Records that are saved together are saved in a transaction each."""
    return records_in_sqlite(adapter=_OneByOne, **scenario)


class _FirstAlone(SqliteMetaStore):
    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        await super().save_channels(records[:1])


@mutant(killer="records_are_stored", source="facts 10.1", instance="records-over-sqlite-two-channels")
def of_channels_the_first_is_saved(**scenario: Any) -> RecordsProgram:
    """Of records that are saved together, the first one is."""
    return records_in_sqlite(adapter=_FirstAlone, **scenario)
