"""One data node: the parts put together, the channels that it serves, and the calls that it answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datanode.buffer_manager import BufferManager
from tidemark.impl.datanode.checkpoint_updater import CheckpointUpdater
from tidemark.impl.datanode.metacache import MetaCache
from tidemark.impl.datanode.pipeline import ChannelPipeline
from tidemark.impl.datanode.policies import default_policies
from tidemark.impl.datanode.recovery import RecoveryFilter
from tidemark.impl.datanode.sync_manager import SyncManager
from tidemark.impl.datanode.time_tick_node import TimeTickNode
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import RpcError
from tidemark.impl.logs import log_of
from tidemark.impl.ports import Clock, CoordinatorClient, ObjectStore, Preemption, WriteAheadLog
from tidemark.impl.runtime import NoPreemption, Supervisor
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, Owner, RecoveryAnswer, SegmentId

_log = log_of(__package__)


@dataclass(frozen=True, kw_only=True)
class DataNodePorts:
    """The world of one data node."""

    clock: Clock
    log: WriteAheadLog
    store: ObjectStore
    coordinator: CoordinatorClient
    preemption: Preemption = field(default_factory=NoPreemption)


class DataNode:
    """Serves channels: consumes their logs, syncs their rows, reports their checkpoints.

    Milvus: dropCallback, WatchDmChannelsRequest

    All work runs in tasks of ``supervisor``; a failure in any of them is the node's failure and is raised by
    ``supervisor.check()``.

    session: the number of this incarnation, greater than that of every earlier one with the same ``node_id``.
    0 means unknown: each question for a channel then counts as that of a new incarnation.
    """

    def __init__(
        self, *, node_id: str, session: int = 0, ports: DataNodePorts, config: DataNodeConfig
    ) -> None:
        self.node_id = node_id
        self.session = session
        self.supervisor = Supervisor()
        self.pipelines: dict[ChannelName, ChannelPipeline] = {}
        self._ports = ports
        self._config = config
        self.buffers = BufferManager(
            preemption=ports.preemption, memory_watermark_bytes=config.memory_watermark_bytes
        )
        self.sync_manager = SyncManager(
            store=ports.store,
            coordinator=ports.coordinator,
            clock=ports.clock,
            preemption=ports.preemption,
            spawn=self.supervisor.spawn,
            config=config,
        )
        self.updater = CheckpointUpdater(
            coordinator=ports.coordinator, clock=ports.clock, preemption=ports.preemption, config=config
        )

    def start(self, *, with_memory_check: bool = True) -> None:
        """Start the loops that are common to all channels."""
        self.supervisor.spawn(self.updater.run_signal, f"{self.node_id} checkpoint signal")
        self.supervisor.spawn(self.updater.run_timer, f"{self.node_id} checkpoint timer")
        if with_memory_check:
            self.supervisor.spawn(self._run_memory_check, f"{self.node_id} memory check")

    async def stop(self) -> None:
        """End all work. Rows that are not durable are lost to this incarnation; the log has them."""
        await self.supervisor.stop()

    async def recover_channel(self, channel: ChannelName) -> ChannelPipeline:
        """Become the channel's owner with a new term and serve it. Repeats the call until it is answered."""
        while True:
            try:
                answer = await self._ports.coordinator.recover_channel(
                    channel, self.node_id, self.session, deadline=self._config.save_rpc_timeout
                )
            except RpcError:
                await self._ports.clock.sleep(self._config.retry_initial_seconds)
            else:
                return self.open_channel(answer)

    def open_channel(self, answer: RecoveryAnswer) -> ChannelPipeline:
        """Serve a channel from the position of the answer on, with an empty memory."""
        pipeline = self._build_pipeline(answer)
        self.buffers.register(pipeline.write_buffer)
        self.pipelines[answer.channel] = pipeline
        self.supervisor.spawn(partial(self._serve, pipeline), f"{self.node_id} channel {answer.channel}")
        return pipeline

    def _build_pipeline(self, answer: RecoveryAnswer) -> ChannelPipeline:
        write_buffer = WriteBuffer(
            channel=answer.channel,
            owner=answer.owner,
            seek=answer.seek,
            metacache=MetaCache(answer.segments),
            policies=default_policies(self._config),
            submit=self.sync_manager.submit,
            preemption=self._ports.preemption,
            tells_starts=answer.asks_starts,
        )
        time_tick_node = TimeTickNode(
            channel=answer.channel,
            owner=answer.owner,
            buffers=self.buffers,
            updater=self.updater,
            preemption=self._ports.preemption,
            checkpoint_interval_ts=self._config.checkpoint_interval_ts,
        )
        return ChannelPipeline(
            channel=answer.channel,
            log=self._ports.log,
            recovery_filter=RecoveryFilter(answer.recorded_positions()),
            write_buffer=write_buffer,
            time_tick_node=time_tick_node,
        )

    async def _serve(self, pipeline: ChannelPipeline) -> None:
        await pipeline.run()
        if pipeline.ended == "drop":
            await self._report_drop(pipeline.channel, pipeline.write_buffer.owner)
            self.close_channel(pipeline.channel)

    async def _report_drop(self, channel: ChannelName, owner: Owner) -> None:
        self.updater.forget(channel)
        while True:
            try:
                await self._ports.coordinator.drop_channel(
                    channel, owner, deadline=self._config.save_rpc_timeout
                )
            except RpcError:
                await self._ports.clock.sleep(self._config.retry_initial_seconds)
            else:
                return

    def close_channel(self, channel: ChannelName) -> None:
        """Remove a channel whose pipeline has ended. The next owner handles rows that are not durable."""
        self.buffers.remove(channel)
        self.pipelines.pop(channel, None)

    def flush_channel(self, channel: ChannelName, flush_ts: Timestamp) -> None:
        """Answer FlushChannel: make every row up to ``flush_ts`` durable soon."""
        self.buffers.flush_channel(channel, flush_ts)
        _log("DataNode receives FlushChannels request", flushTs=flush_ts, channels=[channel])

    async def seal_segments(
        self, channel: ChannelName, segments: Sequence[SegmentId], *, expires: Timestamp
    ) -> bool:
        """Answer SealSegments. False when some row of them may still be unconsumed: ask again later."""
        sealed = True
        for index, segment_id in enumerate(sorted(segments)):
            if index:
                await self._ports.preemption.point("node.seal")
            sealed = self.buffers.seal_segment(channel, segment_id, expires=expires) and sealed
        return sealed

    async def _run_memory_check(self) -> None:
        while True:
            await self._ports.clock.sleep(self._config.memory_check_seconds)
            self.buffers.check_memory()
