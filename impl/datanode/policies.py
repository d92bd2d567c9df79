"""Sync policies: they choose the segment buffers to write out now.

A policy is a pure question about one segment. The write buffer asks it for each segment after each pack, and
once more at the moment of the yield, because other work may have run in between.
"""

from dataclasses import dataclass
from typing import Protocol

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.timestamp import Interval, Timestamp
from tidemark.impl.types import NO_FLUSH, Position, SegmentId, SegmentPhase, StartPosition


@dataclass(frozen=True)
class SegmentView:
    """A policy's view. ``start`` is None and ``memory_bytes`` 0 when the segment has no buffer.

    ``has_task_here``: a task of the segment that was yielded at this position is not finished yet.
    """

    segment_id: SegmentId
    phase: SegmentPhase
    start: StartPosition | None
    memory_bytes: int
    consumed: Position
    flush_ts: Timestamp
    has_task_here: bool


class SyncPolicy(Protocol):
    """Selects segments. ``flushes``: a sealed segment that it picks becomes flushing in the same step."""

    @property
    def name(self) -> str:
        """Stable name; the preemption point before a yield is ``policy.<name>``."""

    @property
    def flushes(self) -> bool:
        """Whether a pick ends the segment."""

    def picks(self, view: SegmentView) -> bool:
        """Whether the segment should be synced now."""


@dataclass(frozen=True)
class FullBuffer:
    """Picks a buffer that has reached the size limit.

    Milvus: GetFullBufferPolicy
    """

    limit_bytes: int
    name: str = "full"
    flushes: bool = False

    def picks(self, view: SegmentView) -> bool:
        """Size at or above the limit."""
        return view.start is not None and view.memory_bytes >= self.limit_bytes


@dataclass(frozen=True)
class StaleBuffer:
    """Picks a buffer whose start is too old, in message time.

    Milvus: GetSyncStaleBufferPolicy
    """

    after: Interval
    name: str = "stale"
    flushes: bool = False

    def picks(self, view: SegmentView) -> bool:
        """Older than the limit."""
        return view.start is not None and view.consumed.ts - view.start.ts > self.after


@dataclass(frozen=True)
class SealedSegment:
    """Picks a sealed segment, with or without buffered rows, and makes it flushing.

    Tasks of a segment are distinguished by their positions. If one was yielded here and is not finished, the
    last one waits for the next pack.
    """

    name: str = "sealed"
    flushes: bool = True

    def picks(self, view: SegmentView) -> bool:
        """Sealed, and no other task at this position."""
        return view.phase is SegmentPhase.SEALED and not view.has_task_here


@dataclass(frozen=True)
class DroppedSegment:
    """Picks the buffered rows of a dropped segment."""

    name: str = "dropped"
    flushes: bool = False

    def picks(self, view: SegmentView) -> bool:
        """Dropped and not empty."""
        return view.phase is SegmentPhase.DROPPED and view.start is not None


@dataclass(frozen=True)
class FlushTimestamp:
    """Picks every buffer that may hold rows up to the pending flush timestamp.

    Milvus: GetFlushTsPolicy

    The pick only syncs. Whether the task ends the segment follows from its phase.
    """

    name: str = "flush_ts"
    flushes: bool = False

    def picks(self, view: SegmentView) -> bool:
        """The channel has passed the flush timestamp, and the buffer began before it."""
        if view.flush_ts == NO_FLUSH or view.start is None:
            return False
        return view.consumed.ts >= view.flush_ts and view.start.ts < view.flush_ts


@dataclass(frozen=True)
class MemoryPressure:
    """Picks any buffer: the buffer manager has chosen it because memory is short."""

    name: str = "memory"
    flushes: bool = False

    def picks(self, view: SegmentView) -> bool:
        """Not empty."""
        return view.start is not None


def default_policies(config: DataNodeConfig) -> tuple[SyncPolicy, ...]:
    """The policies that run after each pack, in order."""
    return (
        FullBuffer(limit_bytes=config.full_buffer_bytes),
        StaleBuffer(after=config.stale_after_ts),
        SealedSegment(),
        DroppedSegment(),
        FlushTimestamp(),
    )
