"""The flush implementation as programs under exploration: a data node, a coordinator with its client, a
network.

Three programs. `flush_and_checkpoint`: rows are ingested and synced, a client flushes, the checkpoint moves.
`crash_and_recover`: the same with one crash of the node at any step, and its recovery. `two_flushes`: two
flush requests race with the callback of a checkpoint.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from impl.config import DataNodeConfig
from impl.datacoord.coordinator import Coordinator
from impl.datacoord.flush_service import FlushService
from impl.datanode.data_node import DataNode, DataNodeParts, DataNodePorts
from impl.errors import RpcError, UnknownChannelError
from impl.storage.memory import MemoryMetaStore
from impl.types import (
    ChannelName,
    ChannelRecord,
    EndPosition,
    Pack,
    Row,
    SegmentId,
    StartPosition,
    Tick,
)
from models.scheduled.flush_edges import (
    COORDINATOR,
    NODE,
    CoordinatorCalls,
    Log,
    NodeCalls,
    Objects,
    PollingClock,
    TimerClock,
)
from models.scheduled.process import Process
from models.scheduled.program import Observation, Program
from models.scheduled.settings import ClockOrder, FaultBudget, Settings
from models.scheduled.world import World

CHANNEL: ChannelName = "channel"
NEVER = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What happens in a flush program.

    Attributes:
        segments: the segment of the row at each tick, from tick 1 on; 0 for a tick without a row.
        flushes: flush timestamps that the client asks for, each in a request of its own.
        sync_each_row: the buffer is full with one row.
        timer_firings: rounds of the updater's timer, and pauses before repetitions.
        faults: budget of faults; only the node crashes.
    """

    segments: tuple[SegmentId, ...]
    flushes: tuple[Tick, ...]
    sync_each_row: bool = False
    timer_firings: int = 1
    faults: FaultBudget = field(default_factory=FaultBudget)

    def packs(self) -> list[Pack]:
        """Return the log: one pack a tick, at most one row a pack."""
        found = []
        for index, segment in enumerate(self.segments):
            tick = index + 1
            rows = (Row(ts=tick, segment_id=segment, key=tick),) if segment else ()
            found.append(Pack(start=StartPosition(index), end=EndPosition(tick), rows=rows))
        return found

    def settings(self) -> Settings:
        """Return the bounds of the world."""
        return Settings(
            faults=self.faults,
            crashable=frozenset({NODE}) if self.faults.crashes else frozenset(),
            clock=ClockOrder.UNTIMED,
            timer_firings=self.timer_firings,
        )

    def config(self) -> DataNodeConfig:
        """Return the configuration of the node. Nothing happens by age or by memory pressure."""
        return DataNodeConfig(
            full_buffer_bytes=1 if self.sync_each_row else NEVER,
            stale_after_ticks=NEVER,
            checkpoint_interval_ticks=NEVER,
            memory_watermark_bytes=NEVER,
        )


class FlushProgram(Program):
    """One data node, one coordinator with a client, and the network between them.

    Args:
        scenario: what happens.
        parts: which class plays which part of the node: a variant replaces one of them.
        coordinator: the class of the coordinator.

    Attributes:
        world: the world of this execution.
        node: the present incarnation of the node; None before it is built, and after a crash.
        coordinator: the coordinator.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        parts: DataNodeParts | None = None,
        coordinator: type[Coordinator] = Coordinator,
    ) -> None:
        self.scenario = scenario
        self.settings = scenario.settings()
        self.world: World | None = None
        self.node: DataNode | None = None
        self.coordinator: Coordinator | None = None
        self._parts = parts
        self._coordinator_class = coordinator
        self._polling: PollingClock | None = None

    def build(self, world: World) -> None:
        """Define the coordinator and the node."""
        self.world = world
        world.process(COORDINATOR, self._run_coordinator, daemon=True)
        world.process(NODE, self._run_node, daemon=True)

    # The coordinator and its client.

    async def _run_coordinator(self, process: Process) -> None:
        meta = MemoryMetaStore()
        meta.channels[CHANNEL] = ChannelRecord(channel=CHANNEL, assigned_to=NODE, last_owner=NODE)
        coordinator = self._coordinator_class(meta=meta)
        await coordinator.load()
        self.coordinator = coordinator
        polling = PollingClock(process)
        self._polling = polling
        for method in ("save_binlog_paths", "update_channel_checkpoints", "recover_channel"):
            process.serve(method, self._announced(getattr(coordinator, method)))
        service = FlushService(coordinator=coordinator, node=NodeCalls(process, polling.news), clock=polling)
        for flush_ts in self.scenario.flushes:
            process.spawn(self._ask(process, service, flush_ts), f"client {flush_ts}")

    def _announced(self, handler: Any) -> Any:
        async def answer(*arguments: Any) -> Any:
            result = await handler(*arguments)
            assert self._polling is not None
            self._polling.news()
            return result

        return answer

    async def _ask(self, process: Process, service: FlushService, flush_ts: Tick) -> None:
        await process.point("client.ask")
        await service.flush(CHANNEL, flush_ts)

    # The node.

    async def _run_node(self, process: Process) -> None:
        assert self.world is not None
        self.node = None
        ports = DataNodePorts(
            clock=TimerClock(),
            log=Log(self.world, self.scenario.packs()),
            store=Objects(process),
            coordinator=CoordinatorCalls(process),
            preemption=process,
        )
        node = DataNode(node_id=NODE, ports=ports, config=self.scenario.config(), parts=self._parts)
        process.serve("flush_channel", self._flush_handler(node))
        process.serve("seal_segments", node.seal_segments)
        await node.recover_channel(CHANNEL)
        self.node = node
        node.start(with_memory_check=False)
        await node.supervisor.wait_failed()

    def _flush_handler(self, node: DataNode) -> Any:
        async def flush_channel(channel: ChannelName, flush_ts: Tick) -> None:
            try:
                node.flush_channel(channel, flush_ts)
            except UnknownChannelError as error:
                raise RpcError(str(error)) from error

        return flush_channel

    # What is looked at.

    def observe(self) -> Observation:
        """Return what the node, the coordinator and the network hold, each under its own name."""
        assert self.world is not None
        state: dict[str, Hashable] = {NODE: self._node_state(), COORDINATOR: self._coordinator_state()}
        state.update(self.world.network.in_flight())
        return state

    def _node_state(self) -> Hashable:
        assert self.world is not None
        lane = self.world.lanes[NODE]
        node = self.node
        if node is None or not lane.alive:
            return (lane.incarnation, lane.alive)
        buffer = node.buffers.buffers[CHANNEL]
        updater = node.updater
        pending = updater.tasks.get(CHANNEL)
        call = updater.in_flight.get(CHANNEL)
        reading = node.buffers.reading.get(CHANNEL)
        return (
            lane.incarnation,
            lane.alive,
            buffer.consumed.ts,
            buffer.flush_ts,
            tuple(sorted((s, tuple(row.ts for row in held.rows)) for s, held in buffer.buffers.items())),
            tuple(
                sorted(
                    (task.key, tuple(row.ts for row in task.rows), task.stage.value, task.is_flush)
                    for task in buffer.tasks.values()
                )
            ),
            tuple(sorted((key, start.ts) for key, start in buffer.in_flight.items())),
            tuple(sorted((s, info.phase.value) for s, info in buffer.metacache.segments.items())),
            reading.ts if reading is not None else None,
            (pending.position.ts, pending.flush) if pending is not None else None,
            updater.signal.is_set(),
            (call.position.ts, call.stage.value, call.saw_flush_ts) if call is not None else None,
        )

    def _coordinator_state(self) -> Hashable:
        coordinator = self.coordinator
        if coordinator is None:
            return None
        return (coordinator.channels[CHANNEL], tuple(sorted(coordinator.segments.items())))

    def declared(self) -> Hashable:
        """Return the mutable data of node and coordinator that influence what they do next."""
        node = self.node
        rest: Hashable = None
        if node is not None:
            queues = node.sync_manager.queues.values()
            rest = (
                tuple(sorted(tuple(task.key for task in queue) for queue in queues)),
                tuple(pipeline.time_tick_node.last_update for pipeline in node.pipelines.values()),
            )
        news = self._polling.changed if self._polling is not None else None
        return (self._node_state(), self._coordinator_state(), rest, news)

    # What must hold.

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Check the coordinator's records after each step that changed something."""
        old, new = before[COORDINATOR], after[COORDINATOR]
        if old == new or new is None:
            return None
        del label
        return self._check_records(old, new)

    def _check_records(self, old: Any, new: Any) -> str | None:
        record: ChannelRecord = new[0]
        copies: dict[Tick, int] = {}
        for _, segment in new[1]:
            for binlog in segment.binlogs:
                for ts in binlog.row_positions:
                    copies[ts] = copies.get(ts, 0) + 1
        if old is not None and record.checkpoint < old[0].checkpoint:
            return f"checkpoint-never-goes-back: from {old[0].checkpoint} to {record.checkpoint}"
        for ts, count in sorted(copies.items()):
            if count > 1:
                return f"row-stored-once: row {ts} is recorded {count} times"
        lost = [ts for ts in self._rows_up_to(record.checkpoint) if ts not in copies]
        if lost:
            return f"checkpoint-covers-durable-rows: checkpoint {record.checkpoint}, rows {lost} not durable"
        return None

    def _rows_up_to(self, ts: Tick) -> Sequence[Tick]:
        return [
            tick for tick, segment in enumerate(self.scenario.segments, start=1) if segment and tick <= ts
        ]

    def final(self) -> Hashable:
        """Return what the coordinator has recorded and what the node still holds."""
        return (self._coordinator_state(), self._node_state())


def flush_and_checkpoint() -> FlushProgram:
    """Ingest, sync, flush, checkpoint."""
    return FlushProgram(Scenario(segments=(1, 0), flushes=(1,)))


def crash_and_recover() -> FlushProgram:
    """The same with one crash of the node at any step."""
    return FlushProgram(Scenario(segments=(1,), flushes=(1,), faults=FaultBudget(crashes=1)))


def two_flushes() -> FlushProgram:
    """Two flush requests and the callback of a checkpoint."""
    return FlushProgram(Scenario(segments=(1, 0), flushes=(1, 2)))
