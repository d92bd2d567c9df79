"""A wrong data node and a wrong flush for conformance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from tidemark.impl.datacoord.flush_service import FlushService
from tidemark.impl.datanode.buffer_manager import BufferManager
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, FlushRequest, SegmentId
from tidemark.models.protocols.allocation.driver import AllocationAdapter


class _EndsAtOnce(BufferManager):
    def seal_segment(self, channel: ChannelName, segment_id: SegmentId, *, expires: Timestamp) -> bool:
        del expires
        return super().seal_segment(channel, segment_id, expires=self.get(channel).consumed.ts)


class _ForgetsSegments(FlushService):
    def _segments_of(self, request: FlushRequest) -> Sequence[SegmentId]:
        del request
        return ()


class ASegmentEndsWithoutATick(AllocationAdapter):
    """The data node ends a segment at whatever tick it has read."""

    buffers: ClassVar[type[BufferManager]] = _EndsAtOnce


class AResumedFlushForgetsItsSegments(AllocationAdapter):
    """After a restart of the coordinator a flush is for its timestamp alone."""

    service: ClassVar[type[FlushService]] = _ForgetsSegments
