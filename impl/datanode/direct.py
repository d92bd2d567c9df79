"""Calls to a data node of the same process."""

from collections.abc import Sequence

from tidemark.impl.datanode.data_node import DataNode
from tidemark.impl.errors import RpcError, UnknownChannelError
from tidemark.impl.rpc import Calls
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, SegmentId


class DirectNodeClient:
    """Calls a data node of the same process. ``node`` may be replaced when a new incarnation starts."""

    def __init__(self, node: DataNode) -> None:
        self.node = node
        self._calls = Calls()

    async def flush_channel(self, channel: ChannelName, flush_ts: Timestamp, *, deadline: float) -> None:
        """Ask for a flush."""
        await self._calls.call(self._flush(channel, flush_ts), name="FlushChannel", deadline=deadline)

    async def seal_segments(
        self, channel: ChannelName, segments: Sequence[SegmentId], *, expires: Timestamp, deadline: float
    ) -> bool:
        """Ask for the end of segments."""
        return await self._calls.call(
            self._seal(channel, segments, expires), name="SealSegments", deadline=deadline
        )

    async def _flush(self, channel: ChannelName, flush_ts: Timestamp) -> None:
        try:
            self.node.flush_channel(channel, flush_ts)
        except UnknownChannelError as failure:
            raise RpcError(str(failure)) from failure

    async def _seal(self, channel: ChannelName, segments: Sequence[SegmentId], expires: Timestamp) -> bool:
        try:
            return await self.node.seal_segments(channel, segments, expires=expires)
        except UnknownChannelError as failure:
            raise RpcError(str(failure)) from failure
