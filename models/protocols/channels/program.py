"""A data node with several channels, and a coordinator whose metadata store takes its time.

No specification is followed here: it speaks of one channel. What is looked at are the records of the
coordinator, the objects behind them, and the logs; and what the node does with several channels at once. The
search has to merge states: an observation says more than its owner's state.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.direct import DirectCoordinatorClient
from tidemark.impl.datacoord.flush_service import FlushService
from tidemark.impl.datanode.data_node import DataNode, DataNodePorts
from tidemark.impl.datanode.direct import DirectNodeClient
from tidemark.impl.errors import ChannelDroppedError, StoreError, UnknownChannelError
from tidemark.impl.ports import DataNodeClient, MetaStore
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import (
    DROPPED_CHECKPOINT,
    LOG_BEGINNING,
    ChannelName,
    ChannelRecord,
    MetaSnapshot,
    Owner,
    RecoveryAnswer,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentId,
    SegmentPhase,
    UpdateCheckpoints,
)
from tidemark.models.protocols.channels.claims import (
    A_DONE_FLUSH_IS_CONFIRMED,
    A_ROUND_SENDS_ALL,
    ANSWERED_IS_STORED,
    CHECKPOINT_IS_DURABLE,
    CLAIMS,
    DROPPED_IS_GONE,
    RECORDS_ARE_STORED,
    THE_BIGGEST_GOES_FIRST,
    undurable,
    unended,
    wrong_state,
    wrong_step,
)
from tidemark.models.protocols.channels.ports import CHANNELS, META, NodeClock, SlowMeta, snapshot
from tidemark.models.protocols.channels.scenario import COORDINATOR, NODE, ChannelsScenario
from tidemark.models.protocols.common.calls import as_remote, calls, telling, watched
from tidemark.models.protocols.flush.ports import OBJECTS, Log, Objects, PollingClock, sealing
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World


class ChannelsProgram(Program):
    """One data node, one coordinator, clients, an object store and a metadata store.

    Args:
        scenario: what happens.
    """

    claims = CLAIMS

    def __init__(self, scenario: ChannelsScenario) -> None:
        self.scenario = scenario
        self.settings = scenario.settings()
        self.rows = scenario.rows()
        self.node: DataNode | None = None
        self.coordinator: Coordinator | None = None
        self.clock: NodeClock | None = None
        self.wrong: dict[str, str] = {}
        self._opened = 0
        self._memory_meta = self._first_records(MemoryMetaStore())
        self._polling: dict[str, PollingClock] = {}
        self._sent: dict[ChannelName, int] = {}
        self._due: dict[ChannelName, int] = {}
        self._look: tuple[tuple[ChannelName, int, SegmentId], ...] = ()
        self._asked = 0
        self._covered: set[str] = set()

    def _first_records(self, meta: MemoryMetaStore) -> MemoryMetaStore:
        for channel in self.scenario.channels:
            meta.channels[channel] = ChannelRecord(
                channel=channel, assigned_to=NODE, last_owner=NODE, term=1, session=1
            )
        return meta

    def build(self, world: World) -> None:
        """Define the processes."""
        self.world = world
        if self.scenario.slow_store:
            # A local file: what a dead coordinator has begun to write does not arrive later.
            store = world.store(META, remote=False)
            store.content()[CHANNELS] = tuple(self._memory_meta.channels.values())
        world.store(OBJECTS)
        world.process(COORDINATOR, self._run_coordinator, daemon=True)
        if not self.scenario.deadlines:
            world.process(NODE, self._run_node, daemon=True)

    # The coordinator and its clients.

    async def _run_coordinator(self, process: Process) -> None:
        meta: MetaStore = SlowMeta(process) if self.scenario.slow_store else self._memory_meta
        coordinator = Coordinator(meta=telling(meta, self._news))
        await coordinator.load()
        self.coordinator = coordinator
        self._polling.clear()
        self._opened = process.incarnation
        if self.scenario.deadlines:
            await self._open_node(process, DirectCoordinatorClient(coordinator))
        self._serve(process, coordinator)
        if process.incarnation == 1:
            for place, flush_ts in self.scenario.flushes:
                process.spawn(self._ask(process, coordinator, place, flush_ts), f"client {place} {flush_ts}")
        else:
            self._asked = len(self.scenario.flushes)
            process.spawn(self._service(process, coordinator, "resumed").resume(), "resumed flushes")
        for place in self.scenario.dropped:
            process.spawn(self._come_late(process, coordinator, place), f"latecomer {place}")

    def _service(self, process: Process, coordinator: Coordinator, client_name: str) -> FlushService:
        polling = PollingClock(process)
        self._polling[client_name] = polling
        client: DataNodeClient
        if self.scenario.deadlines:
            assert self.node is not None
            client = DirectNodeClient(self.node)
        else:
            client = calls(process, NODE, given_up=polling.news)
        return FlushService(coordinator=coordinator, node=client, clock=polling)

    def _news(self) -> None:
        for polling in self._polling.values():
            polling.news()

    async def _ask(self, process: Process, coordinator: Coordinator, place: int, flush_ts: int) -> None:
        await process.point("client.ask")
        self._asked += 1
        service = self._service(process, coordinator, f"{place} {flush_ts}")
        segments = self.scenario.ended_by(place, flush_ts)
        try:
            await service.flush(self.scenario.channels[place], flush_ts, segments)
        except (ChannelDroppedError, StoreError):
            return  # the client hears of it

    async def _come_late(self, process: Process, coordinator: Coordinator, place: int) -> None:
        """Ask for a channel that was dropped."""
        await process.point("latecomer.come")
        channel = self.scenario.channels[place]
        if coordinator.channels[channel].checkpoint != DROPPED_CHECKPOINT:
            return
        self._covered.add("somebody comes after the drop")
        asks: list[Callable[[], Awaitable[object]]] = [
            lambda: coordinator.recover_channel(channel, NODE, 2),
            lambda: coordinator.request_flush(channel, 1),
        ]
        for ask in asks:
            try:
                answer = await ask()
            except ChannelDroppedError:
                continue
            self.wrong[COORDINATOR] = f"{DROPPED_IS_GONE}: {channel} was dropped, and the answer is {answer}"

    def _serve(self, process: Process, coordinator: Coordinator) -> None:
        for method in ("save_binlog_paths", "update_channel_checkpoints", "recover_channel", "drop_channel"):
            process.serve(method, as_remote(getattr(coordinator, method), StoreError))

    # The node.

    async def _run_node(self, process: Process) -> None:
        node = await self._open_node(process, calls(process, COORDINATOR))
        process.serve("flush_channel", as_remote(node.flush_channel, UnknownChannelError))
        process.serve("seal_segments", sealing(node))
        await node.supervisor.wait_failed()

    async def _open_node(self, process: Process, client: Any) -> DataNode:
        config = self.scenario.config()
        self.clock = NodeClock(
            process,
            tick=config.checkpoint_tick_seconds,
            check=config.memory_check_seconds,
            counts=(self.scenario.timers, self.scenario.memory_checks, self.scenario.repetitions),
            rounds=(self._round_is_over, self._round_begins),
            looks=(self._memory_was_checked, self._memory_is_checked),
        )
        ports = DataNodePorts(
            clock=self.clock,
            log=Log(self.world, self.scenario.packs()),
            store=Objects(process),
            coordinator=watched(client, self._note, self._hear),
            preemption=process,
        )
        node = DataNode(node_id=NODE, session=1, ports=ports, config=config)
        for channel in self.scenario.channels:
            node.open_channel(RecoveryAnswer(channel, Owner(NODE, 1), LOG_BEGINNING))
        self.node = node
        node.start()
        return node

    @property
    def _home(self) -> str:
        """The process in which the node lives."""
        return COORDINATOR if self.scenario.deadlines else NODE

    def _note(self, request: object) -> None:
        """A checkpoint that is reported is durable by then."""
        if not isinstance(request, UpdateCheckpoints):
            return
        self.world.touch(reads=self.world.interner.bit(COORDINATOR))
        for reported in request.positions:
            self._sent[reported.channel] = max(self._sent.get(reported.channel, 0), reported.position.ts)
            lost = undurable(self.stored(), reported.channel, reported.position.ts, self.rows)
            if lost is not None:
                self.wrong[self._home] = (
                    f"{CHECKPOINT_IS_DURABLE}: {reported.channel} is reported at {reported.position.ts},"
                    f" row {lost} is nowhere"
                )
        if len(request.positions) > 1:
            self._covered.add("a call with several positions")

    def _hear(self, request: object, outcome: object) -> None:
        """What was answered is stored by then. The node is the owner all the time."""
        if not isinstance(request, UpdateCheckpoints | SaveBinlogPaths):
            return
        self.world.touch(reads=self.world.interner.bit(COORDINATOR))
        stored = self.stored()
        if isinstance(request, SaveBinlogPaths):
            positions = {record.segment_id: record.dml_position.ts for record in stored.segments}
            done = isinstance(outcome, SaveOutcome) and (
                outcome is SaveOutcome.NOT_OWNER
                or positions.get(request.segment_id, 0) >= request.position.ts
                or request.binlog is None
            )
        else:
            checkpoints = {record.channel: record.checkpoint for record in stored.channels}
            done = all(checkpoints[one.channel] >= one.position.ts for one in request.positions)
        if not done:
            self.wrong[self._home] = f"{ANSWERED_IS_STORED}: {request} is answered by {outcome}"

    def _round_begins(self) -> None:
        assert self.node is not None
        self._due = {name: task.position.ts for name, task in self.node.updater.tasks.items()}

    def _round_is_over(self) -> None:
        if self.node is None:
            return
        for channel, position in self._due.items():
            if channel in self.node.updater.tasks and self._sent.get(channel, -1) < position:
                self.wrong[self._home] = (
                    f"{A_ROUND_SENDS_ALL}: the checkpoint {position} of {channel} was left out"
                )
        self._due = {}

    def _memory_is_checked(self) -> None:
        """Note what each channel holds: its bytes, and its oldest segment."""
        assert self.node is not None
        self._look = tuple(
            (
                channel,
                sum(row.memory_bytes for held in buffer.buffers.values() for row in held.rows),
                min(buffer.buffers, key=lambda segment: (buffer.buffers[segment].start.ts, segment)),
            )
            for channel, buffer in sorted(self.node.buffers.buffers.items())
            if buffer.buffers
        )

    def _memory_was_checked(self) -> None:
        """Above the watermark one buffer is gone: that of the biggest channel."""
        look, self._look = self._look, ()
        limit = self.scenario.config().memory_watermark_bytes
        if self.node is None or not look:
            return
        most = max(held for _, held, _ in look)
        gone = [
            (channel, segment)
            for channel, _, segment in look
            if segment not in self.node.buffers.buffers[channel].buffers
        ]
        if sum(held for _, held, _ in look) <= limit:
            if gone:
                self.wrong[self._home] = f"{THE_BIGGEST_GOES_FIRST}: {gone} of {look} is taken without need"
            return
        if len(gone) != 1 or gone[0] not in [(c, segment) for c, held, segment in look if held == most]:
            self.wrong[self._home] = f"{THE_BIGGEST_GOES_FIRST}: of {look} memory pressure has taken {gone}"
        self._covered.add("memory pressure")

    # What is looked at.

    def stored(self) -> MetaSnapshot:
        """Return the records that survive the coordinator."""
        if self.scenario.slow_store:
            return snapshot(self.world.store(META).content())
        return MetaSnapshot(
            tuple(self._memory_meta.channels.values()), tuple(self._memory_meta.segments.values())
        )

    def remembered(self) -> MetaSnapshot | None:
        """Return the memory of the coordinator; None while there is none."""
        lane = self.world.lanes[COORDINATOR]
        if self.coordinator is None or not lane.alive or lane.incarnation != self._opened:
            return None
        return _ordered(
            MetaSnapshot(tuple(self.coordinator.channels.values()), tuple(self.coordinator.segments.values()))
        )

    def observe(self) -> Observation:
        """Return memory, records and objects, each under its owner, and what was found wrong on the way."""
        fast = None if self.scenario.slow_store else _ordered(self.stored())
        found: dict[str, Hashable] = {COORDINATOR: (self.remembered(), fast, self.wrong.get(COORDINATOR))}
        if not self.scenario.deadlines:
            found[NODE] = self.wrong.get(NODE)
        for name in (META, OBJECTS):
            store = self.world.store(name)
            found |= {store.owner(key): value for key, value in sorted(store.content().items())}
        return found

    def _records(self, observation: Observation) -> MetaSnapshot:
        known: Any = observation
        fast = known[COORDINATOR][1]
        assert fast is None or isinstance(fast, MetaSnapshot)
        return _ordered(snapshot(_content(observation, META))) if fast is None else fast

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Look at everything."""
        del label
        known: Any = after
        memory, _, _ = known[COORDINATOR]
        wrong = next(iter(self.wrong.values()), None)
        old, new = self._records(before), self._records(after)
        if wrong is None and memory is not None and memory != new:
            wrong = f"{RECORDS_ARE_STORED}: the coordinator remembers {memory}, its store has {new}"
        objects: Mapping[str, Any] = _content(after, OBJECTS)
        return wrong or wrong_step(old, new, self.rows) or wrong_state(new, objects, self.rows)

    def check_final(self) -> str | None:
        """Look at the flushes that are open, and at what the last round has left."""
        if self.wrong:
            return next(iter(self.wrong.values()))
        coordinator, node, records = self.coordinator, self.node, self.stored()
        assert coordinator is not None
        assert node is not None
        for record in records.channels:
            for request in record.flush_requests:
                place = self.scenario.channels.index(record.channel)
                if request.segments != self.scenario.ended_by(place, request.flush_ts):
                    return f"{A_DONE_FLUSH_IS_CONFIRMED}: {request} of {record.channel} lacks its segments"
                buffer = node.buffers.buffers.get(record.channel)
                told = buffer is not None and all(
                    buffer.metacache.segments[segment].phase is not SegmentPhase.GROWING
                    for segment in request.segments
                    if buffer.consumed.ts >= request.flush_ts
                )
                done = record.checkpoint >= request.flush_ts and not unended(records, request.segments)
                if done or not told:
                    words = "and the node knows of it" if told else "and the node does not know of it"
                    return f"{A_DONE_FLUSH_IS_CONFIRMED}: {request} of {record.channel} is open, {words}"
        return None

    def covered(self) -> frozenset[str]:
        """Return what has happened."""
        return frozenset(self._covered)

    def final(self) -> Hashable:
        """Return the records at the end."""
        return _ordered(self.stored())

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        return (
            (self.remembered(), () if self.coordinator is None else tuple(self.coordinator.lock.users)),
            _ordered(self.stored()),
            tuple(sorted(self.wrong.items())),
            None if self.node is None else _memory_of(self.node),
            None if self.clock is None else (self.clock.timers, self.clock.checks, self.clock.repetitions),
            tuple(sorted((name, polling.changed) for name, polling in self._polling.items())),
            (tuple(sorted(self._sent.items())), tuple(sorted(self._due.items())), self._look, self._asked),
        )


def _memory_of(node: DataNode) -> Hashable:
    """Return everything mutable of a node that its tasks do not hold themselves."""
    updater = node.updater
    return (
        tuple(_channel_of(node, channel) for channel in sorted(node.pipelines)),
        # The order counts: batches are cut from it.
        tuple((c, t.position.ts, t.flush) for c, t in updater.tasks.items()),
        tuple(
            sorted((c, t.position.ts, t.stage.value, t.saw_flush_ts) for c, t in updater.in_flight.items())
        ),
        (updater.signal.is_set(), tuple(sorted(updater.apart))),
        tuple(sorted((repr(key), tuple(t.key for t in q)) for key, q in node.sync_manager.queues.items())),
    )


def _channel_of(node: DataNode, channel: ChannelName) -> Hashable:
    pipeline = node.pipelines[channel]
    buffer = pipeline.write_buffer
    return (
        channel,
        (buffer.consumed.ts, buffer.flush_ts, pipeline.ended),
        tuple(
            sorted(
                (s, b.start.ts, b.memory_bytes, tuple(r.ts for r in b.rows))
                for s, b in buffer.buffers.items()
            )
        ),
        tuple(
            sorted(
                (k, t.stage.value, t.is_flush, t.is_drop, t.attempts, tuple(r.ts for r in t.rows))
                for k, t in buffer.tasks.items()
            )
        ),
        tuple(sorted((k, p.ts) for k, p in buffer.in_flight.items())),
        tuple(sorted((i.segment_id, i.phase.value) for i in buffer.metacache.segments.values())),
        (pipeline.time_tick_node.last_update, pipeline.time_tick_node.drop_mode),
        tuple(sorted((c, p.ts) for c, p in node.buffers.reading.items())),
    )


def _content(observation: Observation, store: str) -> dict[str, Hashable]:
    """Return what an observation says of a store, by key."""
    start = f"store {store}/"
    return {key.removeprefix(start): value for key, value in observation.items() if key.startswith(start)}


def _ordered(records: MetaSnapshot) -> MetaSnapshot:
    return MetaSnapshot(
        tuple(sorted(records.channels, key=lambda record: record.channel)),
        tuple(sorted(records.segments, key=lambda record: record.segment_id)),
    )


channels = program(ChannelsProgram, ChannelsScenario)
