"""Mutants of the data node and the coordinator in what they do with deletes, each one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.deletes.program:deletes``.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.broker.messages import is_level_zero
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.data_node import DataNodeParts
from tidemark.impl.datanode.recovery import RecoveryFilter
from tidemark.impl.datanode.sync_manager import SyncManager
from tidemark.impl.datanode.sync_task import SyncTask
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.types import Position, Row, SaveBinlogPaths, SegmentRecord, StartPosition
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.deletes.program import DeletesProgram, deletes

ONE = "deletes-impl-one"
CRASH = "deletes-impl-crash"


class _GreatestStart(WriteBuffer):
    def get_checkpoint(self) -> Position:
        starts = [*(one.start for one in self.buffers.values()), *self.in_flight.values()]
        return max(starts, key=lambda start: start.ts, default=self.consumed)


@mutant(killer="refinement", source="facts 7.5", instance=ONE)
def the_checkpoint_takes_the_greatest_start(**scenario: Any) -> DeletesProgram:
    """Of the starts of rows and deletes the checkpoint is the greatest."""
    return deletes(parts=DataNodeParts(write_buffer=_GreatestStart), **scenario)


class _RowsAlone(WriteBuffer):
    def _earliest_buffered(self) -> StartPosition | None:
        starts = (one.start for segment, one in self.buffers.items() if not is_level_zero(segment))
        return min(starts, key=lambda start: start.ts, default=None)


@mutant(killer="refinement", source="facts 7.5", instance=ONE)
def buffered_deletes_do_not_count(**scenario: Any) -> DeletesProgram:
    """The checkpoint passes deletes that are in the buffer."""
    return deletes(parts=DataNodeParts(write_buffer=_RowsAlone), **scenario)


class _RowsInFlight(WriteBuffer):
    def _earliest_in_flight(self) -> StartPosition | None:
        starts = (start for (segment, _), start in self.in_flight.items() if not is_level_zero(segment))
        return min(starts, key=lambda start: start.ts, default=None)


@mutant(killer="refinement", source="facts 7.5; B13", instance=ONE)
def deletes_in_flight_do_not_count(**scenario: Any) -> DeletesProgram:
    """The checkpoint passes deletes that are being written out."""
    return deletes(parts=DataNodeParts(write_buffer=_RowsInFlight), **scenario)


class _ForgetsBeforeTheSave(SyncManager):
    async def _upload(self, task: SyncTask) -> None:
        await super()._upload(task)
        if is_level_zero(task.segment_id):
            task.sink.on_synced(task)

    def _finish(self, task: SyncTask) -> None:
        if is_level_zero(task.segment_id):
            task.finished.set()
        else:
            super()._finish(task)


@mutant(killer="deletes.no_consumed_delete_is_lost", source="facts 7.6", instance=ONE)
def deletes_are_forgotten_before_the_save(**scenario: Any) -> DeletesProgram:
    """Deletes leave the memory when their object is written, and not when it is recorded."""
    return deletes(parts=DataNodeParts(sync_manager=_ForgetsBeforeTheSave), **scenario)


class _NegatedFilter(RecoveryFilter):
    def _should_filter(self, row: Row) -> bool:
        return super()._should_filter(row) is not is_level_zero(row.segment_id)


@mutant(killer="deletes.no_consumed_delete_is_lost", source="facts 7.1; B63", instance=ONE)
def the_filter_of_deletes_is_negated(**scenario: Any) -> DeletesProgram:
    """A delete that is not recorded is left out."""
    return deletes(parts=DataNodeParts(recovery_filter=_NegatedFilter), **scenario)


class _RecordsNoDeletes(Coordinator):
    def _with_rows(self, record: SegmentRecord, request: SaveBinlogPaths) -> SegmentRecord:
        return record if is_level_zero(request.segment_id) else super()._with_rows(record, request)


@mutant(killer="refinement", source="facts 10.2; hazard 21", instance=ONE)
def deletes_are_answered_and_not_recorded(**scenario: Any) -> DeletesProgram:
    """The coordinator answers the save of a level-zero segment, and records nothing."""
    return deletes(coordinator=_RecordsNoDeletes, **scenario)
