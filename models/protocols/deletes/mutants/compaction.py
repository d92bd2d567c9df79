"""Mutants of the compactor, of the delete checkpoint and of a load, each one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.deletes.compaction:compaction``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.level_zero import LevelZeroCompactor
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.segments import Segment
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import BinlogRecord, ChannelName, Row, SegmentId, SegmentRecord
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.deletes.compaction import VISIBLE, CompactionProgram, compaction

COMPACT = "deletes-impl-compact"
LOADS = "deletes-impl-compact-loads"
LEVELS = "deletes-impl-compact-two-levels"
TASKS = "deletes-impl-compact-two-tasks"


class _DropsEarly(LevelZeroCompactor):
    def _ripe(self, channel: ChannelName) -> list[BinlogRecord]:
        return [one for record in self._levels(channel) for one in record.binlogs]

    def _older(self, channel: ChannelName, level: BinlogRecord) -> list[SegmentRecord]:
        return [record for record in super()._older(channel, level) if record.flushed]


@mutant(killer="deletes.dropped_means_applied", source="facts 10.4; B38", instance=COMPACT)
def segments_that_grow_do_not_count(**scenario: Any) -> CompactionProgram:
    """A level-zero binlog is dropped when the flushed segments have it."""
    return compaction(compactor=_DropsEarly, **scenario)


class KnowsNoKey(LevelZeroCompactor):
    """The filters know no key."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts, key_filter=_knows_nothing)


def _knows_nothing(keys: Iterable[int]) -> tuple[int, ...]:
    del keys
    return ()


@mutant(killer="refinement", source="facts 7.1", instance=COMPACT)
def the_filter_of_keys_misses(**scenario: Any) -> CompactionProgram:
    """The filter of a segment does not know a key of it."""
    return compaction(compactor=KnowsNoKey, **scenario)


class _WithoutLook(LevelZeroCompactor):
    async def _apply(self, level: BinlogRecord, segment_id: SegmentId) -> None:
        record = self._coordinator.segments[segment_id]
        applied = replace(record.compaction, applied=(*record.compaction.applied, level.path))
        await self._preemption.point("compaction.apply")
        await self._coordinator.replace_segment(record, replace(record, compaction=applied))


@mutant(killer="refinement", source="facts 10.4", instance=COMPACT)
def applied_is_noted_and_not_done(**scenario: Any) -> CompactionProgram:
    """A segment is said to have deletes that were not written to it."""
    return compaction(compactor=_WithoutLook, **scenario)


class _LeavesALevel(LevelZeroCompactor):
    async def compact(self, channel: ChannelName) -> None:
        for level in self._ripe(channel):
            await self._drop(channel, level)


@mutant(killer="deletes.dropped_means_applied", source="facts 10.4; B38", instance=COMPACT)
def a_level_is_dropped_unapplied(**scenario: Any) -> CompactionProgram:
    """A level-zero binlog is dropped, and no segment has its deletes."""
    return compaction(compactor=_LeavesALevel, **scenario)


class _DropsTheSegment(LevelZeroCompactor):
    async def _drop(self, channel: ChannelName, level: BinlogRecord) -> None:
        await super()._drop(channel, level)
        for record in self._levels(channel):
            await self._coordinator.replace_segment(record, replace(record, binlogs=()))


@mutant(killer="refinement", source="facts 10.4", instance=LEVELS)
def a_drop_takes_the_whole_segment(**scenario: Any) -> CompactionProgram:
    """With one binlog all those of its level-zero segment are dropped."""
    return compaction(compactor=_DropsTheSegment, **scenario)


class _RemovesLaterRows(LevelZeroCompactor):
    def _is_removed(self, row: Row, deletes: Iterable[Row]) -> bool:
        return any(delete.key == row.key for delete in deletes)


@mutant(killer="refinement", source="facts 7.1", instance=LOADS)
def a_rewriting_goes_by_key_alone(**scenario: Any) -> CompactionProgram:
    """A rewriting removes a row that is newer than the delete of its key."""
    return compaction(compactor=_RemovesLaterRows, **scenario)


class _ForgetsTheStart(LevelZeroCompactor):
    def _older(self, channel: ChannelName, level: BinlogRecord) -> list[SegmentRecord]:
        return [record for record in super()._older(channel, level) if record.binlogs]


@mutant(killer="refinement", source="facts 10.4", instance=LEVELS)
def a_rewritten_segment_is_forgotten(**scenario: Any) -> CompactionProgram:
    """A segment that has lost its rows takes no later deletes."""
    return compaction(compactor=_ForgetsTheStart, **scenario)


class _KeepsRows(LevelZeroCompactor):
    async def _rewrite(self, segment_id: SegmentId) -> None:
        record = self._coordinator.segments[segment_id]
        await self._preemption.point("compaction.rewrite")
        changed = replace(record.compaction, deltas=())
        await self._coordinator.replace_segment(record, replace(record, compaction=changed))


@mutant(killer="deletes.dropped_means_applied", source="facts 10.4", instance=COMPACT)
def a_rewriting_forgets_the_deletes(**scenario: Any) -> CompactionProgram:
    """A segment loses its deletes, and not the rows that they remove."""
    return compaction(compactor=_KeepsRows, **scenario)


class _StartsAtCheckpoint(Coordinator):
    def delete_checkpoint(self, channel: ChannelName) -> Timestamp:
        return self.channel(channel).checkpoint


@mutant(killer="refinement", source="facts 6.1; B37", instance=LOADS)
def a_load_begins_at_the_checkpoint(**scenario: Any) -> CompactionProgram:
    """A load without level-zero segments reads the stream from the checkpoint on."""
    return compaction(coordinator=_StartsAtCheckpoint, **scenario)


class _WithoutDeltas(ShardDelegator):
    async def _read(self, record: SegmentRecord) -> Segment:
        return self.segment_class(record.segment_id, await self._rows(record))


@mutant(killer=VISIBLE, source="facts 6.1; B34", instance=COMPACT)
def a_load_leaves_deltas_out(**scenario: Any) -> CompactionProgram:
    """A query node reads the rows of a segment, and not the deletes in its files."""
    return compaction(delegator=_WithoutDeltas, **scenario)


class _OneSegment(LevelZeroCompactor):
    def _older(self, channel: ChannelName, level: BinlogRecord) -> list[SegmentRecord]:
        return super()._older(channel, level)[1:]


@mutant(killer="deletes.dropped_means_applied", source="facts 10.4; B38", instance=TASKS)
def the_first_segment_is_left_out(**scenario: Any) -> CompactionProgram:
    """Of the segments with older rows the first one does not get the deletes."""
    return compaction(compactor=_OneSegment, **scenario)
