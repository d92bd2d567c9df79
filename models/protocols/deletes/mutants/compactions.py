"""Mutants of the compactor of level zero, refuted by ``deletes.compactions``."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from tidemark.impl.datacoord.level_zero import LevelZeroCompactor
from tidemark.impl.errors import StoreError
from tidemark.impl.types import BinlogRecord, Row, SegmentId
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.deletes.compactions import NAMED, ONCE, Compactions, compactions

AGAIN = "deletes-impl-compact-again"


class _AppliesAgain(LevelZeroCompactor):
    async def _apply(self, level: BinlogRecord, segment_id: SegmentId) -> None:
        record = self._coordinator.segments[segment_id]
        forgotten = replace(record, compaction=replace(record.compaction, applied=()))
        await self._coordinator.replace_segment(record, forgotten)
        await super()._apply(level, segment_id)


@mutant(killer=ONCE, source="facts 10.4", instance=AGAIN)
def deletes_are_applied_again() -> Compactions:
    """What an earlier process has applied is applied once more."""
    return compactions(compactor=_AppliesAgain)


class _NamesWhatIsNotThere(LevelZeroCompactor):
    async def _rewrite(self, segment_id: SegmentId) -> None:
        record = self._coordinator.segments[segment_id]
        binlogs = (BinlogRecord("c/segment-1/compacted-000001", (2, 6)),)
        changed = replace(record, binlogs=binlogs, compaction=replace(record.compaction, deltas=()))
        await self._coordinator.replace_segment(record, changed)


@mutant(killer=NAMED, source="facts 10.4", instance=AGAIN)
def a_rewritten_segment_is_not_stored() -> Compactions:
    """The record names a file that nobody has written: its rows are lost."""
    return compactions(compactor=_NamesWhatIsNotThere)


class _LastFileCounts(LevelZeroCompactor):
    def _is_removed(self, row: Row, deletes: Iterable[Row]) -> bool:
        return {delete.key: delete.ts for delete in deletes}.get(row.key, 0) > row.ts


@mutant(killer=NAMED, source="facts 10.4", instance=AGAIN)
def the_last_file_of_deletes_counts() -> Compactions:
    """Of the deletes of a key the one that was read last is looked at, not the latest."""
    return compactions(compactor=_LastFileCounts)


class _DropsAnyhow(LevelZeroCompactor):
    async def _apply(self, level: BinlogRecord, segment_id: SegmentId) -> None:
        with suppress(StoreError):
            await super()._apply(level, segment_id)


@mutant(killer=NAMED, source="facts 10.4", instance=AGAIN)
def deletes_are_dropped_that_were_not_written() -> Compactions:
    """A file that could not be written ends nothing: the binlog is dropped all the same."""
    return compactions(compactor=_DropsAnyhow)
