"""Remote calls between parts of one process, with deadlines, and with the errors of a network."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.data_node import DataNode
from tidemark.impl.errors import RpcError, RpcTimeoutError, StoreError, UnknownChannelError
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import (
    ChannelName,
    Owner,
    RecoveryAnswer,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentId,
    UpdateCheckpoints,
)

Answer = TypeVar("Answer")


class Calls:
    """Runs handlers as tasks of their own: a caller that gives up does not stop the callee half-way."""

    def __init__(self) -> None:
        self.running: dict[asyncio.Task[Any], str] = {}

    async def call(
        self, handler: Coroutine[Any, Any, Answer], *, name: str, deadline: float | None
    ) -> Answer:
        """Run a handler within the deadline, in seconds; None: however long it takes. A store that fails
        behind it is a failed call to the caller.
        """
        task = asyncio.get_running_loop().create_task(handler, name=name)
        self.running[task] = name
        task.add_done_callback(self._done)
        try:
            async with asyncio.timeout(deadline):
                return await asyncio.shield(task)
        except TimeoutError as late:
            raise RpcTimeoutError(f"{name}: no answer within {deadline} s; its outcome is unknown") from late
        except StoreError as failure:
            raise RpcError(f"{name} failed: {failure}; repeat the call") from failure

    def _done(self, task: asyncio.Task[Any]) -> None:
        del self.running[task]
        if not task.cancelled():
            # The caller may have given up; then nothing else would look at the failure.
            task.exception()


class DirectCoordinatorClient:
    """Calls a coordinator of the same process."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._calls = Calls()

    async def save_binlog_paths(self, request: SaveBinlogPaths, *, deadline: float) -> SaveOutcome:
        """Record a binlog."""
        handler = self._coordinator.save_binlog_paths(request)
        return await self._calls.call(handler, name="SaveBinlogPaths", deadline=deadline)

    async def update_channel_checkpoints(self, request: UpdateCheckpoints, *, deadline: float) -> None:
        """Raise checkpoints."""
        handler = self._coordinator.update_channel_checkpoints(request)
        await self._calls.call(handler, name="UpdateChannelCheckpoint", deadline=deadline)

    async def recover_channel(
        self, channel: ChannelName, node_id: str, session: int, *, deadline: float
    ) -> RecoveryAnswer:
        """Take up a channel."""
        handler = self._coordinator.recover_channel(channel, node_id, session)
        return await self._calls.call(handler, name="RecoverChannel", deadline=deadline)

    async def drop_channel(self, channel: ChannelName, owner: Owner, *, deadline: float) -> None:
        """Mark a channel dropped."""
        handler = self._coordinator.drop_channel(channel, owner)
        await self._calls.call(handler, name="DropChannel", deadline=deadline)


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
