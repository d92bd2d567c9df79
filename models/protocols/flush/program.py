"""The flush implementation as a program under exploration: a data node, a coordinator, a client (with the
coordinator, or a process of its own), a network and a storage.

Each step of it must be a step of the specification, or change nothing that the specification speaks of. The
node and the coordinator each own one component of what is observed; the refinement mapping joins them.
"""

from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.flush_service import FlushService
from tidemark.impl.datanode.checkpoint_updater import CheckpointTask
from tidemark.impl.datanode.data_node import DataNode, DataNodePorts
from tidemark.impl.errors import StoreError, UnknownChannelError
from tidemark.impl.ports import Clock, MetaStore, ObjectStore
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import (
    LOG_BEGINNING,
    ChannelName,
    ChannelRecord,
    EndPosition,
    Owner,
    Pack,
    RecoveryAnswer,
    Row,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentId,
    StartPosition,
    UpdateCheckpoints,
)
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.adapters import ROOT, LoadedMetaStore, load_parquet, rows_in
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.protocols.common.calls import as_remote, calls
from tidemark.models.protocols.flush.ports import (
    BESIDE,
    CHANNEL,
    COORDINATOR,
    NODE,
    OBJECTS,
    TOLD_MEANS_DURABLE,
    CallIds,
    Client,
    LocalObjects,
    Log,
    Objects,
    PollingClock,
    Refusing,
    RepeatingClock,
    Repetitions,
    TimerClock,
    sealing,
)
from tidemark.models.protocols.flush.refinement import (
    CallId,
    CoordinatorView,
    NodeHistory,
    NodeView,
    abstract,
    coordinator_view,
    node_view,
)
from tidemark.models.refinement.actions import action_table
from tidemark.models.refinement.program import Abstraction, RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.database import DatabaseFile
from tidemark.models.simulation.world.files import FileSystem
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.storage import TORN
from tidemark.models.simulation.world.world import World

BY_MESSAGE = "tidemark.spec.flush.variants.other_rules:FlushByMessage"
IN_BATCHES = "tidemark.spec.flush.variants.other_rules:FailsWithItsBatch"

_NEVER = 1_000_000

ROW_BYTES = 24


class FlushScenario(FaultyScenario):
    """What happens in a flush program.

    Attributes:
        rows: the segment of the row at each tick, from tick 1 on; 0 for a tick without a row.
        flushes: flush timestamps that the client asks for, each in a request of its own.
        messages: ticks whose pack ends with a message that asks for a flush; who wrote it polls.
        sync_each_row: the buffer is full with one row.
        eager: two rows fill a buffer, a tick makes it stale, and a checkpoint is due at every other tick.
        seals: a flush also ends the segments whose last row it covers.
        timer_firings: rounds of the updater's timer, and pauses before repetitions, all incarnations
            together; ``endless``: without a limit.
        moves: how often the operator takes the channel from the node and gives it back. Not while the node is
            down: the specification speaks of the owner that lives.
        remote_client: the client is a process of its own; otherwise it lives with the coordinator.
        repetitions: how many failed calls and writes the node repeats, and the client as many; None: each
            repetition is a firing of a timer.
        local_storage: the binlogs lie on the node's own disk; otherwise in a store that all share.
        beside: another channel of the node waits to be reported, whose record no store takes.
    """

    rows: tuple[SegmentId, ...]
    flushes: tuple[Timestamp, ...] = ()
    messages: tuple[Timestamp, ...] = ()
    sync_each_row: bool = False
    eager: bool = False
    seals: bool = False
    timer_firings: int = 0
    endless: bool = False
    moves: int = 0
    remote_client: bool = False
    repetitions: int | None = None
    local_storage: bool = False
    beside: bool = False

    @property
    def segments(self) -> tuple[SegmentId, ...]:
        """The segments that have rows, in the order of the specification's elements; one if none has."""
        return tuple(sorted({segment for segment in self.rows if segment})) or (1,)

    def ended_by(self, flush_ts: Timestamp) -> tuple[SegmentId, ...]:
        """Return the segments that a flush ends: no row of them comes later."""
        later = set(self.rows[flush_ts:])
        covered = {segment for segment in self.rows[:flush_ts] if segment}
        return tuple(sorted(covered - later)) if self.seals else ()

    def packs(self) -> list[Pack]:
        """Return the log: one pack a tick, at most one row a pack."""
        found = []
        for start, segment in enumerate(self.rows):
            tick = start + 1
            rows = (Row(ts=tick, segment_id=segment, key=tick),) if segment else ()
            flush = tick in self.messages
            found.append(Pack(start=StartPosition(start), end=EndPosition(tick), rows=rows, flush=flush))
        return found

    def settings(self) -> Settings:
        """Return the bounds of the world."""
        return Settings(
            faults=self.faults,
            crashable=frozenset({NODE}) if self.crashes else frozenset(),
            clock=ClockOrder.UNTIMED,
            timer_firings=None if self.endless else self.timer_firings,
        )

    def config(self) -> DataNodeConfig:
        """Return the configuration of the node. Nothing happens by memory pressure."""
        return DataNodeConfig(
            full_buffer_bytes=2 * ROW_BYTES if self.eager else 1 if self.sync_each_row else _NEVER,
            stale_after_ts=1 if self.eager else _NEVER,
            checkpoint_interval_ts=2 if self.eager else 0 if self.beside else _NEVER,
            memory_watermark_bytes=_NEVER,
        )

    def instance(self, protocol: str = "tidemark.spec.flush:Flush") -> Instance:
        """Return the bounded instance of a specification with this log. Faults are not counted there."""
        place = {segment: index for index, segment in enumerate(self.segments)}
        asks = [tick in self.messages for tick in range(len(self.rows) + 1)]
        return Instance(
            BY_MESSAGE if self.messages else IN_BATCHES if self.beside else protocol,
            bounds={"Segment": len(self.segments), "Position": len(self.rows), "Copies": 2, "Faults": 0},
            constants={
                "carries": [False, *(segment != 0 for segment in self.rows)],
                "segment_of": [0, *(place.get(segment, 0) for segment in self.rows)],
                "ask_up_to": max(self.flushes, default=0),
                **({"asks": asks} if self.messages else {"APART": True} if self.beside else {}),
            },
            name="scheduled",
        )


BINLOGS_ARE_STORED = "binlogs_are_stored"
"""Claim id: whatever the coordinator records as a binlog is an object in the store. The specification knows
of no objects (facts 7.6; B14)."""

_IGNORED = ("faults",)
_POLICIES = {
    point: actions[0] for point, actions in action_table("flush").points.items() if "policy." in point
}


class FlushProgram(RefiningProgram):
    """One data node, one coordinator, a client, and the network between them.

    Attributes:
        node: the present or last incarnation of the node.
        coordinator: the coordinator.
    """

    table = "flush"
    coordinator_class: type[Coordinator] = Coordinator
    claims: tuple[str, ...] = (BINLOGS_ARE_STORED, TOLD_MEANS_DURABLE)

    def __init__(self, scenario: FlushScenario) -> None:
        super().__init__(self.abstraction_of(scenario))
        self.scenario = scenario
        self.settings = scenario.settings()
        self.node: DataNode | None = None
        self.coordinator: Coordinator | None = None
        self._polling: list[PollingClock] = []
        self._opened = 0
        self._history = NodeHistory(saves={}, checkpoint_call=None, sent=(), delivered={})
        self._asked: set[Timestamp] = set()
        self._recorded: set[CallId] = set()
        self._handled: set[CallId] = set()
        self._missing: list[str] = []
        self._repetitions = Repetitions(scenario.repetitions or 0)
        self._client = Client(
            scenario.flushes, Repetitions(scenario.repetitions or 0), stored=self._stored_checkpoint
        )

    def abstraction_of(self, scenario: Any) -> Abstraction:
        """The refinement mapping."""
        return mapped(scenario, _values, ignored=_IGNORED)

    def populate(self, world: World) -> None:
        """Define the coordinator and the node, and the client if it is a process."""
        world.process(COORDINATOR, self._run_coordinator, daemon=True)
        world.process(NODE, self._run_node, daemon=True)
        if self.scenario.remote_client:
            self._client.build(world)

    # The coordinator and its client.

    async def _run_coordinator(self, process: Process) -> None:
        coordinator = self.coordinator_class(meta=self.metadata(process))
        await coordinator.load()
        self.coordinator = coordinator
        self._serve_coordinator(process, coordinator)
        if self.scenario.remote_client:
            self._client.serve(process, self._flush_for_client(process, coordinator))
        else:
            for flush_ts in self.scenario.flushes:
                service, _ = self._service(process, coordinator)
                process.spawn(self._ask(process, service, flush_ts), f"client {flush_ts}")
            for flush_ts in self.scenario.messages:
                process.spawn(self._poll(process, coordinator, flush_ts), f"client {flush_ts}")
        if self.scenario.moves:
            process.spawn(self._move(process, coordinator), "operator")

    def metadata(self, process: Process) -> MetaStore:
        """Return the coordinator's metadata store, with the channel in it."""
        del process
        meta = Refusing() if self.scenario.beside else MemoryMetaStore()
        meta.channels.update({record.channel: record for record in self.first_channels()})
        return meta

    def first_channels(self) -> tuple[ChannelRecord, ...]:
        """Return what the metadata hold at first."""
        names = (CHANNEL, BESIDE) if self.scenario.beside else (CHANNEL,)
        return tuple(
            ChannelRecord(channel=name, assigned_to=NODE, last_owner=NODE, term=1, session=1)
            for name in names
        )

    def _service(self, process: Process, coordinator: Coordinator) -> tuple[FlushService, PollingClock]:
        """Each client has a clock of its own: what is news to one may be old to another."""
        polling = PollingClock(process)
        self._polling.append(polling)
        # A call that the node has refused, or was not there to take, is repeated after other news
        # only: it has changed nothing there, so that its later delivery represents its repetition.
        node = calls(process, NODE, given_up=polling.news)
        return FlushService(coordinator=coordinator, node=node, clock=polling), polling

    def _news(self) -> None:
        for polling in self._polling:
            polling.news()

    async def _move(self, process: Process, coordinator: Coordinator) -> None:
        """Take the channel from the node and give it back, like an operator or a balancer."""
        for _ in range(self.scenario.moves):
            await process.point("operator.unassign")
            await coordinator.unassign(CHANNEL)
            await process.point("operator.assign")
            await coordinator.assign(CHANNEL, NODE)

    def _serve_coordinator(self, process: Process, coordinator: Coordinator) -> None:
        """Answer the node, and note which calls were handled: the mapping needs to know."""

        async def save(request: SaveBinlogPaths, call: CallId) -> SaveOutcome:
            outcome = await coordinator.save_binlog_paths(request)
            self._look_for(process, request)
            if outcome is not SaveOutcome.NOT_OWNER:
                self._touch_history()
                last = self._history.task_save(call, request.segment_id, request.position.ts)
                self._recorded |= {call, last}
            self._news()
            return outcome

        async def update(request: UpdateCheckpoints, call: CallId) -> None:
            await coordinator.update_channel_checkpoints(request)
            self._touch_history()
            positions = tuple(reported.position.ts for reported in request.positions)
            self._handled |= {call, self._history.same_report(call, positions)}
            self._news()

        async def recover(channel: ChannelName, node_id: str, session: int) -> RecoveryAnswer:
            answer = await coordinator.recover_channel(channel, node_id, session)
            self._news()
            return answer

        process.serve("save_binlog_paths", save)
        process.serve("update_channel_checkpoints", as_remote(update, StoreError))
        process.serve("recover_channel", recover)

    def _look_for(self, process: Process, request: SaveBinlogPaths) -> None:
        """Note a binlog that is recorded though it is missing or torn."""
        if request.binlog is None:
            return
        path, positions = request.binlog.path, request.binlog.row_positions
        del process
        self.world.touch(reads=self.world.interner.bit(self.objects_owner(path)))
        if not self.is_whole(path, positions):
            self._missing.append(path)

    def objects_owner(self, path: str) -> str:
        """Return the mediated object that holds an object."""
        local = self.scenario.local_storage
        return self.world.disk(NODE).owner if local else self.world.store(OBJECTS).owner(path)

    def is_whole(self, path: str, positions: Sequence[Timestamp]) -> bool:
        """Whether the object is there, for now, with the rows that its record names, as the log has them: a
        crash may take back what was not synced.
        """
        content: Any = self.world.store(OBJECTS).content()
        stored = dict(LocalObjects.whole(self.world.disk(NODE))) if self.scenario.local_storage else content
        rows = {row.ts: row for pack in self.scenario.packs() for row in pack.rows}
        found = stored.get(path, TORN)
        return bool(found != TORN and tuple(found) == tuple(rows.get(ts) for ts in positions))

    async def _ask(self, process: Process, service: FlushService, flush_ts: Timestamp) -> None:
        """Ask for a flush at some time, unless everything up to it is known to be durable by then."""
        await process.point("client.ask")
        await self._flush(service, flush_ts)

    async def _poll(self, process: Process, coordinator: Coordinator, flush_ts: Timestamp) -> None:
        """Wait for a flush that is a message of the log."""
        _, polling = self._service(process, coordinator)
        while not await coordinator.confirm_flush(CHANNEL, flush_ts):
            await polling.sleep(0)
        self._asked.add(flush_ts)

    async def _flush(self, service: FlushService, flush_ts: Timestamp) -> None:
        if self._stored_checkpoint() >= flush_ts:
            return
        self._asked.add(flush_ts)
        await service.flush(CHANNEL, flush_ts, self.scenario.ended_by(flush_ts))

    def _stored_checkpoint(self) -> Timestamp:
        assert self.coordinator is not None
        return self.coordinator.channel(CHANNEL).checkpoint

    def _flush_for_client(
        self, process: Process, coordinator: Coordinator
    ) -> Callable[[Timestamp], Coroutine[Any, Any, None]]:
        async def flush(flush_ts: Timestamp) -> None:
            service, polling = self._service(process, coordinator)
            await self._flush(service, flush_ts)
            self._polling.remove(polling)

        return flush

    # The node.

    async def _run_node(self, process: Process) -> None:
        packs = {CHANNEL: self.scenario.packs()}
        noted = partial(self._touch_history, write=True)

        def read(pack: Pack) -> None:
            if pack.flush:
                self._history.deliver(process.incarnation, pack.end.ts)

        ports = DataNodePorts(
            clock=self.clock(process),
            log=Log(self.world, packs, endless=self.scenario.endless, read=read),
            store=self.objects(process),
            coordinator=calls(process, COORDINATOR, more=CallIds(process, self._history, noted)),
            preemption=process,
        )
        node = self.make_node(ports, process.incarnation)

        def flush_channel(channel: ChannelName, flush_ts: Timestamp) -> None:
            node.flush_channel(channel, flush_ts)
            self._history.deliver(process.incarnation, flush_ts)

        process.serve("flush_channel", as_remote(flush_channel, UnknownChannelError))
        process.serve("seal_segments", sealing(node))
        if process.incarnation == 1:
            node.open_channel(RecoveryAnswer(CHANNEL, Owner(NODE, 1), LOG_BEGINNING))
        else:
            await node.recover_channel(CHANNEL)
        if self.scenario.beside:
            node.updater.add_task(
                CheckpointTask(
                    BESIDE,
                    Owner(NODE, 1),
                    EndPosition(1),
                    flush=False,
                    callback=node.buffers.notify_checkpoint_updated,
                )
            )
        self.node = node
        self._opened = process.incarnation
        node.start(with_memory_check=False)
        await node.supervisor.wait_failed()

    def make_node(self, ports: DataNodePorts, session: int) -> DataNode:
        """Return a new incarnation of the node."""
        return DataNode(node_id=NODE, session=session, ports=ports, config=self.scenario.config())

    def clock(self, process: Process) -> Clock:
        """Return the node's clock."""
        if self.scenario.repetitions is None:
            return TimerClock()
        period = self.scenario.config().checkpoint_tick_seconds
        return RepeatingClock(process, self._repetitions, period=period)

    def objects(self, process: Process) -> ObjectStore:
        """Return the node's object store."""
        return LocalObjects(process) if self.scenario.local_storage else Objects(process)

    def _touch_history(self, *, write: bool = False) -> None:
        """The mapping says whether an earlier call has done the work of the last one: these depend."""
        bit = self.world.interner.bit("calls of the node")
        self.world.touch(reads=0 if write else bit, writes=bit if write else 0)

    # What is looked at.

    def condition(self, name: str, event: Event) -> bool:
        """The table's condition: "sender_is_dead" of a message, or "beside" of the scenario."""
        return self.scenario.beside if name == "beside" else not event.lane.alive

    def element(self, name: str, value: Any) -> Any:
        """Return a segment's place, or a position."""
        number = int(value)
        return self.scenario.segments.index(SegmentId(number)) if name == "segment" else number

    @property
    def opened(self) -> bool:
        """Whether the present incarnation of the node lives and serves the channel."""
        return self._alive()

    def observe(self) -> Observation:
        """Return what the node and the coordinator hold, each under its own name."""
        return {
            NODE: (self._alive(), self._view_node(), self._history.sent, self._history.told()),
            COORDINATOR: self._view_coordinator(),
        }

    def _alive(self) -> bool:
        lane = self.world.lanes[NODE]
        return lane.alive and lane.incarnation == self._opened

    def _view_node(self) -> NodeView | None:
        """The memory of the last incarnation that has opened the channel: nothing changes it after a
        crash.
        """
        if self.node is None:
            return None
        return node_view(self.node, CHANNEL, self._opened, self._history)

    def _view_coordinator(self) -> CoordinatorView:
        assert self.coordinator is not None
        return coordinator_view(
            self.coordinator,
            CHANNEL,
            asked=self._asked,
            recorded_saves=self._recorded,
            handled_checkpoints=self._handled,
        )

    def declared(self) -> Hashable:
        """Return the mutable data of node and coordinator that influence what they do next."""
        node, coordinator = self.node, self.coordinator
        assert coordinator is not None
        rest: Hashable = None
        if node is not None and self._alive():
            rest = tuple(
                (
                    pipeline.write_buffer.owner.term,
                    pipeline.time_tick_node.last_update,
                    tuple(sorted((s, b.start.ts) for s, b in pipeline.write_buffer.buffers.items())),
                    tuple(sorted((k, p.ts) for k, p in pipeline.write_buffer.in_flight.items())),
                )
                for pipeline in node.pipelines.values()
            )
        records = (coordinator.channels[CHANNEL], tuple(sorted(coordinator.segments.items())))
        news = tuple(polling.changed for polling in self._polling)
        signal = (node.updater.signal.is_set(), tuple(sorted(node.updater.apart))) if node else None
        waiting = (self._client.state(), self._repetitions.left)
        return (self.abstract(self._observed), records, rest, news, signal, waiting)

    # What must hold.

    def meant(self, label: str) -> str | None:
        """Of actions with the same effect a step is the one that the policy at work represents."""
        if self.scenario.beside and "update_channel_checkpoints" in label:
            return "fail_with_the_batch"
        return next((action for point, action in _POLICIES.items() if point in label), None)

    def complaint(self) -> str | None:
        """What is recorded must be stored."""
        if not self._missing:
            return None
        return f"{BINLOGS_ARE_STORED}: {self._missing[0]} is recorded, and no object there has its rows"

    def check_final(self) -> str | None:
        """What the client was told must be so, and each recorded binlog must still be there."""
        assert self.coordinator is not None
        recorded = [binlog for s in self.coordinator.segments.values() for binlog in s.binlogs]
        lost = next((b.path for b in recorded if not self.is_whole(b.path, b.row_positions)), None)
        if lost is not None:
            return f"{BINLOGS_ARE_STORED}: {lost} is recorded, and a crash has taken it back"
        return self._client.complaint()

    def final(self) -> Hashable:
        """Return the abstract state at the end, and of a remote client what it was told."""
        state = self.abstract(self.observe())
        return (state, self._client.state()[0]) if self.scenario.remote_client else state


def _values(scenario: FlushScenario, observation: Any) -> Mapping[str, Any]:
    node: Any = observation[NODE]
    alive, memory, sent, told = node
    coordinator = observation[COORDINATOR]
    assert isinstance(coordinator, CoordinatorView)
    if scenario.messages:
        still = tuple(ts for ts in told if ts not in coordinator.asked)
        coordinator = replace(coordinator, asked=told, open=still)
    return abstract(
        memory,
        coordinator,
        alive=alive,
        sent=sent,
        segments=scenario.segments,
        positions=len(scenario.rows),
    ) | ({"apart": bool(memory and alive and memory.apart)} if scenario.beside else {})


flush = program(FlushProgram, FlushScenario)


class RealStoresProgram(FlushProgram):
    """The program over the real adapters: binlogs as Parquet files on the node's disk, metadata in SQLite.
    When the node crashes the power of its machine fails. The coordinator's machine stays.
    """

    def populate(self, world: World) -> None:
        """Add disk and database, with the channel in it."""
        load_parquet()
        self._system = FileSystem(world, NODE)
        world.attach(self._system, machine=NODE)
        self._database = DatabaseFile(world, COORDINATOR)
        world.attach(self._database, machine=None)
        with self._database.directly() as database:
            finish(SqliteMetaStore(ROOT, database=database).save_channels(self.first_channels()))
        super().populate(world)

    def metadata(self, process: Process) -> MetaStore:
        """Return the coordinator's metadata store."""
        del process
        return LoadedMetaStore(self._database)

    def objects(self, process: Process) -> ObjectStore:
        """Return the node's object store."""
        del process
        return ParquetStore(ROOT, files=self._system.operations(), writer=NODE)

    def objects_owner(self, path: str) -> str:
        """Return the mediated object that holds an object."""
        del path
        return self._system.owner

    def is_whole(self, path: str, positions: Sequence[Timestamp]) -> bool:
        """Whether the adapter finds the rows of the record, now and after any power failure."""
        rows = {row.ts: row for pack in self.scenario.packs() for row in pack.rows}
        expected = tuple(rows.get(ts) for ts in positions)
        return all(rows_in(image, path) == expected for image in self._system.left())


over_files = program(RealStoresProgram, FlushScenario)
