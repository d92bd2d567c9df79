"""Mutants of what the pipeline of a query node leaves out: slips with positions of segments.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.segments.positions:positions``.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.broker.messages import DeleteMessage, InsertMessage
from tidemark.impl.querynode.excluded import EVERYTHING, ExcludedSegments
from tidemark.impl.querynode.pipeline import ShardPipeline
from tidemark.impl.querynode.segments import Segment
from tidemark.impl.stream.packs import StreamPack
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import Row, SegmentId, SegmentRecord
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.segments.positions import PositionsProgram, positions
from tidemark.models.protocols.segments.positions_refinement import NotingDelegator

_GROWING = "segments-impl-positions"
_FLUSHED = "segments-impl-positions-flushed"
_TWICE = "segments.no_row_is_served_twice"
_COMPLETE = "segments.growing_segments_are_complete"


class _Strict(ExcludedSegments):
    def excludes(self, segment_id: SegmentId, ts: Timestamp) -> bool:
        return ts < self.upto.get(segment_id, ZERO)


class UpToAndWithout(NotingDelegator):
    """A row at the position itself is not left out."""

    excluded_class = _Strict


@mutant(killer=_TWICE, source="H46: strict", instance=_GROWING)
def the_row_at_the_position_is_taken(**scenario: Any) -> PositionsProgram:
    """A row at the position itself is given to the growing segment that was loaded with it."""
    return positions(delegator=UpToAndWithout, **scenario)


class _OneMore(ExcludedSegments):
    def excludes(self, segment_id: SegmentId, ts: Timestamp) -> bool:
        upto = self.upto.get(segment_id)
        return upto is not None and ts <= upto + 1


class _TheNext(NotingDelegator):
    excluded_class = _OneMore


@mutant(killer=_COMPLETE, source="B62: what a position means", instance=_GROWING)
def the_position_is_the_next(**scenario: Any) -> PositionsProgram:
    """A position is taken for that of the next row, which is left out and in no file."""
    return positions(delegator=_TheNext, **scenario)


class _FromTheChannel(NotingDelegator):
    async def _take_growing(self, record: SegmentRecord) -> None:
        await super()._take_growing(record)
        if record.segment_id in self.growing:
            self.excluded.upto[record.segment_id] = self._description.seek.ts


@mutant(killer="refinement", source="facts 6.1, 10.4", instance=_GROWING)
def growing_segments_have_the_position_of_the_channel(**scenario: Any) -> PositionsProgram:
    """Rows of a growing segment are left out up to where the stream begins; its files go further."""
    return positions(delegator=_FromTheChannel, **scenario)


class _SealedFromTheChannel(NotingDelegator):
    def _serve(self, segment: Segment) -> None:
        super()._serve(segment)
        self.excluded.upto[segment.segment_id] = self._description.seek.ts


@mutant(killer="refinement", source="facts 6.1, 10.4", instance=_FLUSHED)
def sealed_segments_have_the_position_of_the_channel(**scenario: Any) -> PositionsProgram:
    """Rows of a segment that is loaded are left out up to where the stream begins; it was flushed ahead."""
    return positions(delegator=_SealedFromTheChannel, **scenario)


class _Greatest(ExcludedSegments):
    def excludes(self, segment_id: SegmentId, ts: Timestamp) -> bool:
        del segment_id
        return ts <= max(self.upto.values(), default=ZERO)


class _OneForAll(NotingDelegator):
    excluded_class = _Greatest


@mutant(killer=_COMPLETE, source="facts 6.1: by segment", instance=_GROWING)
def one_position_for_all_segments(**scenario: Any) -> PositionsProgram:
    """Rows of every segment are left out up to the greatest position."""
    return positions(delegator=_OneForAll, **scenario)


class _ForgetsFirst(ShardPipeline):
    async def process(self, pack: StreamPack) -> None:
        self._delegator.excluded.forget_below(pack.end)
        await super().process(pack)


@mutant(killer="refinement", source="facts 6.1: forgotten when below the tick", instance=_GROWING)
def what_is_excluded_is_forgotten_too_early(**scenario: Any) -> PositionsProgram:
    """What is excluded below the end of a pack is forgotten before the pack is applied."""
    return positions(pipeline=_ForgetsFirst, **scenario)


class _ForgetsAll(ExcludedSegments):
    def forget_below(self, tick: Timestamp) -> None:
        del tick
        self.upto.clear()


class _KeepsNothing(NotingDelegator):
    excluded_class = _ForgetsAll


@mutant(killer="refinement", source="facts 6.1: forgotten when below the tick", instance=_FLUSHED)
def each_pack_forgets_all(**scenario: Any) -> PositionsProgram:
    """A pack that is applied forgets what is excluded above its end, and that a segment is sealed."""
    return positions(delegator=_KeepsNothing, **scenario)


class _ForgetsNothing(ExcludedSegments):
    def forget_below(self, tick: Timestamp) -> None:
        del tick


class _KeepsAll(NotingDelegator):
    excluded_class = _ForgetsNothing


@mutant(killer="refinement", source="facts 6.1: forgotten when below the tick", instance=_GROWING)
def nothing_is_forgotten(**scenario: Any) -> PositionsProgram:
    """What is excluded is kept for good: it grows with every segment."""
    return positions(delegator=_KeepsAll, **scenario)


class _LooksOnce(NotingDelegator):
    def _is_still_needed(self, row: Row) -> bool:
        return self.excluded.upto.get(row.segment_id) != EVERYTHING or row.segment_id not in self.sealed

    def needs(self, message: InsertMessage | DeleteMessage) -> bool:
        return True


@mutant(killer=_TWICE, source="facts 6.1: excluded timestamps", instance=_GROWING)
def the_filter_looks_at_sealed_segments_only(**scenario: Any) -> PositionsProgram:
    """Rows of a growing segment are never left out."""
    return positions(delegator=_LooksOnce, **scenario)


class _Least(ExcludedSegments):
    def add(self, segment_id: SegmentId, upto: Timestamp) -> None:
        self.upto[segment_id] = min(upto, self.upto.get(segment_id, upto))


class _TheFirstStays(NotingDelegator):
    excluded_class = _Least


@mutant(killer="refinement", source="facts 6.1: flushed segments", instance=_FLUSHED)
def a_sealed_segment_keeps_its_old_position(**scenario: Any) -> PositionsProgram:
    """A segment that was taken up as a growing one, and is served as a sealed one, is not closed."""
    return positions(delegator=_TheFirstStays, **scenario)
