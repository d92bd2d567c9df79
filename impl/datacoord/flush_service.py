"""Carries a client's flush from request to confirmation: record, call the node, poll."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import RpcError
from tidemark.impl.ports import Clock, DataNodeClient
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, SegmentId


@dataclass(frozen=True, kw_only=True)
class FlushServiceConfig:
    """Pauses between two polls of the flush state and deadline of the calls to the node, in seconds."""

    poll_seconds: float = 0.5
    rpc_deadline: float = 10.0


class FlushService:
    """Repeats its calls to the node until one is answered, and again for each new incarnation of the node."""

    def __init__(
        self,
        *,
        coordinator: Coordinator,
        node: DataNodeClient,
        clock: Clock,
        config: FlushServiceConfig | None = None,
    ) -> None:
        self._coordinator = coordinator
        self._node = node
        self._clock = clock
        self._config = config if config is not None else FlushServiceConfig()

    async def flush(
        self, channel: ChannelName, flush_ts: Timestamp, segments: Sequence[SegmentId] = ()
    ) -> None:
        """Return when every row up to ``flush_ts`` is durable and the given segments are flushed.

        The segments are sealed, so that no row after ``flush_ts`` may belong to them.
        """
        await self._coordinator.request_flush(channel, flush_ts, segments)
        await self._until_confirmed(channel, flush_ts, segments)

    async def _until_confirmed(
        self, channel: ChannelName, flush_ts: Timestamp, segments: Sequence[SegmentId]
    ) -> None:
        told_term: int | None = None
        while not await self._coordinator.confirm_flush(channel, flush_ts, segments):
            term = self._coordinator.channel(channel).term
            if term != told_term and await self._tell_node(channel, flush_ts, segments):
                told_term = term
            await self._clock.sleep(self._config.poll_seconds)

    async def resume(self) -> None:
        """Continue the unconfirmed requests of an earlier coordinator, all at the same time.

        The code that starts a coordinator calls this: no client repeats its request.
        """
        async with asyncio.TaskGroup() as flushes:
            for channel in sorted(self._coordinator.channels):
                for request in self._coordinator.channel(channel).flush_requests:
                    flushes.create_task(
                        self._until_confirmed(channel, request.flush_ts, request.segments),
                        name=f"resumed flush of {channel} up to {request.flush_ts}",
                    )

    async def _tell_node(
        self, channel: ChannelName, flush_ts: Timestamp, segments: Sequence[SegmentId]
    ) -> bool:
        """Whether the node has taken the request and will seal no segment later than it."""
        deadline = self._config.rpc_deadline
        try:
            await self._node.flush_channel(channel, flush_ts, deadline=deadline)
            if not segments:
                return True
            return await self._node.seal_segments(channel, segments, expires=flush_ts, deadline=deadline)
        except RpcError:
            return False
