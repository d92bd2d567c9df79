"""Mutants of the query node's segments: hazards and real bugs, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.segments.program:segments``. What a read would find tells of those that lose or
repeat rows; of the others the likeness with the specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tidemark.impl.broker.messages import DeleteMessage
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.delete_buffer import Delete, DeleteBuffer
from tidemark.impl.querynode.excluded import EVERYTHING
from tidemark.impl.querynode.segments import Segment
from tidemark.impl.querynode.values import LoadSegment
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import Row, SegmentRecord
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.segments.program import SegmentsProgram, segments

_LOAD = "segments-impl-load"
_FILES = "segments-impl-files"
_RECOVERY = "segments-impl-recovery"


class _ReplaysFromTheServiceTime(ShardDelegator):
    async def _replay(self, segment: Segment, since: Timestamp) -> None:
        await super()._replay(segment, max(since, self.service_time.value))


@mutant(killer="a_read_finds_what_was_written", source="B34", instance=_LOAD)
def replays_from_a_newer_position(**scenario: Any) -> SegmentsProgram:
    """The replay begins at a position of its own moment; the files are those of an earlier one (B34)."""
    return segments(delegator=_ReplaysFromTheServiceTime, **scenario)


class _ReplaysFromTheSegment(ShardDelegator):
    async def load(self, request: LoadSegment) -> None:
        since = max(request.replay_from, request.record.dml_position.ts)
        await super().load(LoadSegment(request.record, request.level_zero, since))


@mutant(killer="refinement", source="B35", instance=_FILES)
def replays_from_the_greater_position(**scenario: Any) -> SegmentsProgram:
    """The replay begins at the greater of the files' position and the segment's own (B35)."""
    return segments(delegator=_ReplaysFromTheSegment, **scenario)


class _NoPins(DeleteBuffer):
    @contextmanager
    def pinned(self, since: Timestamp) -> Iterator[None]:
        del since
        yield


class _TrimsWithoutPin(ShardDelegator):
    delete_buffer_class = _NoPins


@mutant(killer="refinement", source="B38: trimmed", instance=_LOAD)
def trims_without_pin(**scenario: Any) -> SegmentsProgram:
    """The buffer is trimmed up to the delete checkpoint, whatever a load needs (B38)."""
    return segments(delegator=_TrimsWithoutPin, **scenario)


class _OneBatch(ShardDelegator):
    async def _replay(self, segment: Segment, since: Timestamp) -> None:
        await self._preemption.point("load.replay")
        batch, _ = self.deletes.batch(since, 0, 1)
        for delete in batch:
            segment.delete(delete.key, delete.ts)


@mutant(killer="refinement", source="facts 6.1: the delete buffer", instance=_FILES)
def replays_one_batch(**scenario: Any) -> SegmentsProgram:
    """The replay ends after its first batch."""
    return segments(delegator=_OneBatch, **scenario)


class _ServesLater(ShardDelegator):
    async def _replay(self, segment: Segment, since: Timestamp) -> None:
        await super()._replay(segment, since)
        await self._preemption.point("load.replay")


@mutant(killer="refinement", source="facts 6.1", instance=_LOAD)
def serves_after_the_replay(**scenario: Any) -> SegmentsProgram:
    """The segment is served some time after the last look at the buffer."""
    return segments(delegator=_ServesLater, **scenario)


class _ForwardsNothing(ShardDelegator):
    def delete(self, message: DeleteMessage) -> None:
        for key in message.keys:
            self.deletes.put(Delete(message.ts, key))
            for segment in self.growing.values():
                segment.delete(key, message.ts)


@mutant(killer="refinement", source="facts 6.1", instance=_LOAD)
def nothing_is_forwarded(**scenario: Any) -> SegmentsProgram:
    """Deletes of the stream go into growing segments and the buffer only."""
    return segments(delegator=_ForwardsNothing, **scenario)


class _GrowingGoesFirst(ShardDelegator):
    async def load(self, request: LoadSegment) -> None:
        self.growing.pop(request.record.segment_id, None)
        await super().load(request)


@mutant(killer="a_read_finds_what_was_written", source="facts 6.1", instance=_LOAD)
def the_growing_segment_goes_first(**scenario: Any) -> SegmentsProgram:
    """The growing segment is released when the load of the sealed one begins."""
    return segments(delegator=_GrowingGoesFirst, **scenario)


class _GrowingIsKept(ShardDelegator):
    def _serve(self, segment: Segment) -> None:
        self.excluded.add(segment.segment_id, EVERYTHING)
        self.sealed[segment.segment_id] = segment


@mutant(killer="a_read_finds_what_was_written", source="facts 6.1", instance=_LOAD)
def the_growing_segment_is_kept(**scenario: Any) -> SegmentsProgram:
    """The growing segment stays beside the sealed one."""
    return segments(delegator=_GrowingIsKept, **scenario)


class _SealedIsNotExcluded(ShardDelegator):
    def _is_still_needed(self, row: Row) -> bool:
        del row
        return True


@mutant(killer="segments.no_row_is_served_twice", source="facts 6.1: excluded timestamps", instance=_LOAD)
def rows_of_a_sealed_segment_are_taken(**scenario: Any) -> SegmentsProgram:
    """The filter looks once for a whole pack: a row goes into a growing segment beside the sealed one."""
    return segments(delegator=_SealedIsNotExcluded, **scenario)


class _ForgetsStoredDeletes(ShardDelegator):
    async def load(self, request: LoadSegment) -> None:
        await super().load(LoadSegment(request.record, (), request.replay_from))


@mutant(killer="refinement", source="facts 10.4: deletes in files", instance=_FILES)
def deletes_in_files_are_not_loaded(**scenario: Any) -> SegmentsProgram:
    """A segment is loaded without the level-zero segments that hold its deletes."""
    return segments(delegator=_ForgetsStoredDeletes, **scenario)


class _KeepsNoGrowing(ShardDelegator):
    async def _take_growing(self, record: SegmentRecord) -> None:
        self.excluded.add(record.segment_id, record.dml_position.ts)


@mutant(killer="a_read_finds_what_was_written", source="facts 6.1, 10.4", instance=_FILES)
def rows_in_files_are_not_loaded(**scenario: Any) -> SegmentsProgram:
    """The rows of growing segments that are in files are left out of the stream, and are not loaded."""
    return segments(delegator=_KeepsNoGrowing, **scenario)


class _ListedAreNotExcluded(ShardDelegator):
    def _exclude(self, record: SegmentRecord) -> None:
        del record

    def _serve(self, segment: Segment) -> None:
        self.sealed[segment.segment_id] = segment


@mutant(killer="segments.no_row_is_served_twice", source="facts 6.1: excluded timestamps", instance=_RECOVERY)
def a_listed_segment_grows_as_well(**scenario: Any) -> SegmentsProgram:
    """A segment that is loaded in the recovery grows in the stream too: its rows are served twice."""
    return segments(delegator=_ListedAreNotExcluded, **scenario)


class _ReplaysTheStream(ShardDelegator):
    async def load(self, request: LoadSegment) -> None:
        since = max(request.replay_from, self._description.seek.ts)
        await super().load(LoadSegment(request.record, request.level_zero, since))


@mutant(killer="refinement", source="facts 10.4: deletes in files", instance=_RECOVERY)
def deletes_before_the_stream_are_not_replayed(**scenario: Any) -> SegmentsProgram:
    """A segment that is loaded in the recovery gets the deletes of the stream, and not those before it."""
    return segments(delegator=_ReplaysTheStream, **scenario)


class _ServesAtTheFirstTick(ShardDelegator):
    def finish_pack(self, tick: Timestamp) -> None:
        self.serviceable = True
        super().finish_pack(tick)


@mutant(killer="a_read_finds_what_was_written", source="facts 6.1: serviceable", instance=_RECOVERY)
def the_service_time_is_raised_before_the_loads(**scenario: Any) -> SegmentsProgram:
    """The first pack that is applied makes the channel serviceable, whatever is still loaded."""
    return segments(delegator=_ServesAtTheFirstTick, **scenario)


class _PinsOfLoads(DeleteBuffer):
    @contextmanager
    def pinned(self, since: Timestamp) -> Iterator[None]:
        if since:
            with super().pinned(since):
                yield
        else:
            yield


class _RecoversWithoutPin(ShardDelegator):
    delete_buffer_class = _PinsOfLoads


@mutant(killer="refinement", source="B38: trimmed", instance=_RECOVERY)
def the_recovery_has_no_pin(**scenario: Any) -> SegmentsProgram:
    """The buffer is trimmed although segments are still to be loaded in the recovery."""
    return segments(delegator=_RecoversWithoutPin, **scenario)


class _GrowsAgain(ShardDelegator):
    async def _take_growing(self, record: SegmentRecord) -> None:
        segment = await self._read(record)
        for delete in self.deletes.kept:
            segment.delete(delete.key, delete.ts)
        self.growing[record.segment_id] = segment


@mutant(killer="a_read_finds_what_was_written", source="facts 6.1", instance=_FILES)
def a_sealed_segment_grows_again(**scenario: Any) -> SegmentsProgram:
    """The rows of a growing segment are read while it is flushed and loaded, and then served beside it."""
    return segments(delegator=_GrowsAgain, **scenario)
