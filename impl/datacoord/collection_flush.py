"""A client's flush of a collection: end its segments, then take the timestamp, then flush each channel."""

import asyncio
from collections.abc import Sequence

from tidemark.impl.datacoord.flush_service import FlushService
from tidemark.impl.datacoord.segment_allocation import SegmentAllocator
from tidemark.impl.logs import log_of
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, SegmentId
from tidemark.impl.values.messages import collection_of
from tidemark.impl.values.oracle import Oracle

_log = log_of(__package__)


class CollectionFlush:
    """The order matters: a segment that ends after the oracle was asked could get a row above the answer."""

    def __init__(self, *, oracle: Oracle, allocator: SegmentAllocator, service: FlushService) -> None:
        self._oracle = oracle
        self._allocator = allocator
        self._service = service

    async def flush(self, channels: Sequence[ChannelName]) -> Timestamp:
        """Return when every row up to the timestamp of the answer is stored."""
        segments = {channel: self._allocator.end_all(channel) for channel in channels}
        flush_ts = await self._oracle.alloc(1)
        _log(
            "flush response with segments",
            collectionID=collection_of(channels[0]),
            sealSegments=[segment for ended in segments.values() for segment in ended],
            flushTs=flush_ts,
        )
        await asyncio.gather(
            *(self._flush_channel(channel, flush_ts, ended) for channel, ended in segments.items())
        )
        _log("GetFlushState all flushed", collection=collection_of(channels[0]), flushTs=flush_ts)
        return flush_ts

    async def _flush_channel(
        self, channel: ChannelName, flush_ts: Timestamp, segments: Sequence[SegmentId]
    ) -> None:
        await self._service.flush(channel, flush_ts, segments)
        self._allocator.forget(channel, segments)
