"""One query node: its channels and calls."""

import asyncio
from dataclasses import dataclass, field

from tidemark.impl.errors import ReplicaClosedError, RpcTimeoutError
from tidemark.impl.logs import log_of
from tidemark.impl.ports import ObjectStore, Preemption
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.pipeline import ShardPipeline
from tidemark.impl.querynode.values import ChannelDescription, LoadSegment, ShardAnswer, ShardRead
from tidemark.impl.runtime import NoPreemption, Supervisor
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.stream.packs import PackSource, StreamPosition
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, SegmentId
from tidemark.impl.values.log import EntryLog
from tidemark.impl.values.messages import physical

_log = log_of(__package__)


@dataclass(frozen=True, kw_only=True)
class QueryNodePorts:
    """The world of one query node.

    dispatchers: of this incarnation of the node, which ends them; None: each channel is read by itself.
    """

    log: EntryLog
    store: ObjectStore
    preemption: Preemption = field(default_factory=NoPreemption)
    dispatchers: NodeDispatchers | None = None


class QueryNode:
    """Serves channels: follows their logs, loads their segments, answers reads.

    Milvus: QueryNode

    All work runs in tasks of ``supervisor``; a failure in any of them is the node's failure and is raised by
    ``supervisor.check()``.

    Attributes:
        delegators: by channel; a channel is added before it can be read.
        pipelines: by channel, once its stream runs.
        dispatchers: where its streams come from, unless it reads each channel by itself.
    """

    def __init__(self, *, node_id: str, ports: QueryNodePorts, config: QueryNodeConfig | None = None) -> None:
        self.node_id = node_id
        self.supervisor = Supervisor()
        self.delegators: dict[ChannelName, ShardDelegator] = {}
        self.pipelines: dict[ChannelName, ShardPipeline] = {}
        self._ports = ports
        self._config = config if config is not None else QueryNodeConfig()
        self._streams: dict[ChannelName, asyncio.Task[None]] = {}
        self.dispatchers = ports.dispatchers
        if self.dispatchers is not None:
            self.supervisor.spawn(self.dispatchers.supervisor.wait_failed, f"dispatchers {node_id}")

    async def watch(self, description: ChannelDescription) -> None:
        """Take up a channel; returns when it is served. Its stream begins before its flushed segments are
        loaded; load calls are accepted from the beginning.

        Raise ValueError if it is served already, StoreError or CorruptDataError if it cannot be loaded,
        ReplicaClosedError if it was released during the load.
        """
        channel, ports = description.channel, self._ports
        if channel in self.delegators:
            raise ValueError(f"node {self.node_id} serves channel {channel!r} already; release it first")
        delegator = self.delegators[channel] = ShardDelegator(
            description, store=ports.store, preemption=ports.preemption, config=self._config
        )
        try:
            await delegator.recover(lambda: self._follow(description, delegator))
            self._check_served(channel, delegator)
        except BaseException:
            if self.delegators.get(channel) is delegator:
                await self.release(channel)
            raise
        self.pipelines[channel].publish()

    def _follow(self, description: ChannelDescription, delegator: ShardDelegator) -> None:
        channel = description.channel
        self._check_served(channel, delegator)
        source = self._open(channel, description.seek)
        pipeline = ShardPipeline(consumer=source, delegator=delegator, preemption=self._ports.preemption)
        self.pipelines[channel] = pipeline
        self._streams[channel] = self.supervisor.spawn(pipeline.run, f"pipeline {channel}")
        _log("add tSafe done", channel=channel, timestamp=description.seek.ts)
        _log(
            "stream pipeline seeks from position with msgDispatcher",
            vchannel=channel,
            checkpointTs=description.seek.ts,
        )

    def _check_served(self, channel: ChannelName, delegator: ShardDelegator) -> None:
        if self.delegators.get(channel) is not delegator:
            raise ReplicaClosedError(f"channel {channel!r} was released while node {self.node_id} took it up")

    def _open(self, channel: ChannelName, position: StreamPosition) -> PackSource:
        if self.dispatchers is not None:
            return self.dispatchers.register(channel, position)
        return ChannelConsumer(log=self._ports.log, channel=physical(channel), position=position)

    async def release(self, channel: ChannelName) -> None:
        """Stop serving the channel: its reads fail. Does nothing if it is not served."""
        delegator = self.delegators.pop(channel, None)
        self.pipelines.pop(channel, None)
        stream = self._streams.pop(channel, None)
        if delegator is not None:
            delegator.close()
        if stream is not None:
            stream.cancel()
            await asyncio.gather(stream, return_exceptions=True)
        if self.dispatchers is not None:
            self.dispatchers.deregister(channel)

    async def stop(self) -> None:
        """Release everything and end all work."""
        for channel in list(self.delegators):
            await self.release(channel)
        if self.dispatchers is not None:
            await self.dispatchers.stop()
        await self.supervisor.stop()

    async def load_segment(self, channel: ChannelName, request: LoadSegment) -> None:
        """Serve a flushed segment from its binlogs, see ``ShardDelegator.load``. Raise ReplicaClosedError."""
        await self._delegator(channel).load(request)

    def serves_sealed(self, channel: ChannelName, segment_id: SegmentId) -> bool:
        """Whether a segment is served from its binlogs. Raise ReplicaClosedError."""
        return segment_id in self._delegator(channel).sealed

    def trim_deletes(self, channel: ChannelName, upto: Timestamp) -> None:
        """Deletes up to ``upto`` are in level-zero segments that later loads bring.

        Raise ReplicaClosedError.
        """
        self._delegator(channel).deletes.trim(upto)

    def service_time(self, channel: ChannelName) -> Timestamp:
        """The service time of a channel. Raise ReplicaClosedError."""
        return self._delegator(channel).service_time.value

    async def query(
        self,
        channel: ChannelName,
        *,
        guarantee: Timestamp,
        mvcc: Timestamp | None = None,
        keys: tuple[int, ...] | None = None,
        deadline: float | None = None,
    ) -> ShardAnswer:
        """The rows that are visible at ``mvcc``, or at the service time once it has reached ``guarantee``.

        Raise NotServableError, or RpcTimeoutError after ``deadline`` seconds.
        """
        return await self.serve(channel, ShardRead(guarantee, mvcc=mvcc, keys=keys), deadline=deadline)

    async def serve(
        self, channel: ChannelName, read: ShardRead, *, deadline: float | None = None
    ) -> ShardAnswer:
        """Answer a read. Errors as for ``query``."""
        try:
            async with asyncio.timeout(deadline):
                return await self._delegator(channel).query(read)
        except TimeoutError as late:
            raise RpcTimeoutError(
                f"the guarantee {read.guarantee} of channel {channel!r} was not served within {deadline} s"
            ) from late

    def _delegator(self, channel: ChannelName) -> ShardDelegator:
        delegator = self.delegators.get(channel)
        if delegator is None:
            served = ", ".join(sorted(self.delegators)) or "none"
            raise ReplicaClosedError(f"node {self.node_id} does not serve {channel!r}; it serves: {served}")
        return delegator
