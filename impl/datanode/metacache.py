"""The data node's cache of segment metadata for one channel."""

from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.impl.types import SegmentId, SegmentPhase, SegmentRecord


@dataclass
class SegmentInfo:
    """One segment."""

    segment_id: SegmentId
    phase: SegmentPhase = SegmentPhase.GROWING


class MetaCache:
    """Segments by id, in the order in which they were met.

    Milvus: MetaCache, RemoveSegments

    A flushed segment keeps its entry as a tombstone: a late row for it is then refused, where the Go original
    removes the entry and would create the segment anew.
    """

    def __init__(self, recorded: Iterable[SegmentRecord] = ()) -> None:
        self.segments: dict[SegmentId, SegmentInfo] = {}
        for record in recorded:
            info = SegmentInfo(segment_id=record.segment_id, phase=self._phase_of(record))
            self.segments[record.segment_id] = info

    def _phase_of(self, record: SegmentRecord) -> SegmentPhase:
        """Unflushed segments restart as growing, in any phase before the crash."""
        if record.dropped:
            return SegmentPhase.DROPPED
        return SegmentPhase.FLUSHED if record.flushed else SegmentPhase.GROWING

    def find_or_create(self, segment_id: SegmentId) -> SegmentInfo:
        """The segment; a segment met for the first time begins as growing."""
        return self.segments.setdefault(segment_id, SegmentInfo(segment_id=segment_id))

    def seal(self, segment_id: SegmentId) -> None:
        """Growing -> sealed. Repeated seals do no harm, and an ended segment stays so."""
        info = self.find_or_create(segment_id)
        if info.phase is SegmentPhase.GROWING:
            info.phase = SegmentPhase.SEALED

    def start_flushing(self, segment_id: SegmentId) -> None:
        """Sealed -> flushing."""
        info = self.segments[segment_id]
        if info.phase is SegmentPhase.SEALED:
            info.phase = SegmentPhase.FLUSHING

    def finish_flushing(self, segment_id: SegmentId) -> None:
        """Flushing -> flushed."""
        self.segments[segment_id].phase = SegmentPhase.FLUSHED

    def drop(self, segment_id: SegmentId) -> None:
        """The segment's partition was dropped: its buffer is synced once more, later rows are ignored."""
        self.find_or_create(segment_id).phase = SegmentPhase.DROPPED
