"""Mutants of the choice of the place from where a channel is read, each as an override of one small method.

The functions take the same arguments as ``tidemark.models.protocols.ownership.seek_program:seek``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.metacache import SegmentInfo
from tidemark.impl.datanode.sync_task import SyncTask
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import (
    DROPPED_CHECKPOINT,
    ChannelName,
    ChannelRecord,
    EndPosition,
    Pack,
    SaveBinlogPaths,
    SegmentId,
    StartPosition,
)
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.ownership.seek_program import SeekProgram, seek

SEEK = "ownership-impl-seek"
CHECKPOINT = "ownership-impl-seek-checkpoint"
DROP = "ownership-impl-seek-drop"
RECORDED = "ownership.the_position_is_one_that_is_recorded"


class _Greatest(Coordinator):
    def _earliest(self, positions: Sequence[Timestamp]) -> Timestamp:
        return max(positions)


@mutant(killer="ownership.nothing_is_lost", source="facts 10.4; B35", instance=SEEK)
def the_greatest_position(**scenario: Any) -> SeekProgram:
    """The greatest position of a segment is taken for the earliest."""
    return seek(coordinator=_Greatest, **scenario)


class _TakesWhatWasDropped(Coordinator):
    def _living(self, channel: ChannelName) -> ChannelRecord:
        return self.channel(channel)


@mutant(killer="refinement", source="hazard 14; facts 10.1, 10.4", instance=DROP)
def the_sentinel_is_a_position(**scenario: Any) -> SeekProgram:
    """The checkpoint of a dropped channel is given to a node as a position."""
    return seek(coordinator=_TakesWhatWasDropped, **scenario)


class _PassesTheCheckpointOver(Coordinator):
    def seek_position(self, channel: ChannelName) -> EndPosition:
        record = self._living(channel)
        positions = self._positions(channel)
        return EndPosition(min(positions) if positions else record.begins)


@mutant(killer=RECORDED, source="facts 10.4", instance=CHECKPOINT)
def a_segment_although_there_is_a_checkpoint(**scenario: Any) -> SeekProgram:
    """A segment's position is taken although a checkpoint is stored."""
    return seek(coordinator=_PassesTheCheckpointOver, **scenario)


class _ReadsAllAgain(Coordinator):
    def _positions(self, channel: ChannelName) -> list[Timestamp]:
        return []


@mutant(killer=RECORDED, source="facts 10.4", instance=SEEK)
def segments_do_not_count(**scenario: Any) -> SeekProgram:
    """Without a checkpoint the channel is read from the beginning, whatever its segments say."""
    return seek(coordinator=_ReadsAllAgain, **scenario)


class _CountsWhatWasDropped(Coordinator):
    def _positions(self, channel: ChannelName) -> list[Timestamp]:
        known = [record.position() for record in self.segments_of(channel)]
        return [position.ts for position in known if position is not None]


@mutant(killer=RECORDED, source="facts 10.4", instance=CHECKPOINT)
def dropped_segments_count(**scenario: Any) -> SeekProgram:
    """The position of a segment that was dropped counts: more is read again than has to be."""
    return seek(coordinator=_CountsWhatWasDropped, **scenario)


class _NotesNoStarts(Coordinator):
    async def _note_starts(self, request: SaveBinlogPaths) -> None:
        del request


@mutant(killer="refinement", source="facts 10.2, 10.4", instance=SEEK)
def starts_are_not_noted(**scenario: Any) -> SeekProgram:
    """A save is recorded, and not where the other segments begin of which its node has read."""
    return seek(coordinator=_NotesNoStarts, **scenario)


class _LatestFirst(Coordinator):
    def _in_order(
        self, starts: Iterable[tuple[SegmentId, StartPosition]]
    ) -> list[tuple[SegmentId, StartPosition]]:
        return super()._in_order(starts)[::-1]


@mutant(killer="refinement", source="facts 10.2, 10.4", instance=SEEK)
def the_latest_start_first(**scenario: Any) -> SeekProgram:
    """Starts are noted from the latest to the earliest; none is left out."""
    return seek(coordinator=_LatestFirst, **scenario)


class _OwnStart(WriteBuffer):
    def _yield(self, info: SegmentInfo) -> SyncTask:
        task = super()._yield(info)
        task.starts = tuple(told for told in task.starts if told[0] == task.segment_id)
        return task


@mutant(killer="refinement", source="facts 10.2, 10.4", instance=SEEK)
def a_save_tells_of_its_own_segment(**scenario: Any) -> SeekProgram:
    """A save tells where its own segment begins, and nothing of others."""
    return seek(write_buffer=_OwnStart, **scenario)


class _AtTheRow(WriteBuffer):
    def _start_position_of(self, pack: Pack) -> StartPosition:
        return StartPosition(pack.end.ts)


@mutant(killer="refinement", source="facts 7.1, 10.4", instance=SEEK)
def a_start_includes_its_row(**scenario: Any) -> SeekProgram:
    """A segment is said to begin at its first row, not before it."""
    return seek(write_buffer=_AtTheRow, **scenario)


class _LastStart(WriteBuffer):
    def consume(self, pack: Pack) -> None:
        super().consume(pack)
        start = self._start_position_of(pack)
        self.starts.update({row.segment_id: start for row in pack.rows if row.segment_id in self.starts})


@mutant(killer="refinement", source="facts 10.2, 10.4", instance=SEEK)
def a_save_tells_the_last_start(**scenario: Any) -> SeekProgram:
    """A save tells where the last pack of a segment begins, not the first: rows before it are never read."""
    return seek(write_buffer=_LastStart, **scenario)


class _FirstOverwrites(Coordinator):
    def _accepts_first(self, record: ChannelRecord) -> bool:
        return record.checkpoint != DROPPED_CHECKPOINT


@mutant(killer="ownership.stored_never_goes_back", source="facts 10.1, 10.4", instance=CHECKPOINT)
def the_first_checkpoint_overwrites(**scenario: Any) -> SeekProgram:
    """The first checkpoint is stored although a node has reported one."""
    return seek(coordinator=_FirstOverwrites, **scenario)
