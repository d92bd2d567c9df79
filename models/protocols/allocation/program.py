"""The allocation of segments as a program under exploration: allocator, flushes and coordinator, writes, and
a data node. All are real. The oracle counts; the ticks are the greatest that the rows allow.

Each step must be a step of ``tidemark.spec.allocation``, or change nothing of it. The implementation grants
each message its own part, when it is made, and for no time: a grant's expiry is the timestamp of its row. A
step seals one segment: a flush waits until there is one, and a row until its segment has room.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datacoord.collection_flush import CollectionFlush
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.flush_service import FlushService
from tidemark.impl.datacoord.segment_allocation import Growing, SegmentAllocator
from tidemark.impl.datanode.data_node import DataNode, DataNodePorts
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.writes import insert_task
from tidemark.impl.storage.memory import MemoryLog, MemoryMetaStore, MemoryObjectStore
from tidemark.impl.types import (
    EndPosition,
    Pack,
    RecoveryAnswer,
    Row,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentId,
    StartPosition,
    UpdateCheckpoints,
)
from tidemark.impl.values.messages import decode_text, physical, rows_of
from tidemark.models.instance import Instance
from tidemark.models.protocols.allocation.refinement import GrantView, InsertView, full, growing, phase, rows
from tidemark.models.protocols.common.gate import Gate
from tidemark.models.refinement.program import REFINEMENT, Abstraction, RefiningProgram, frozen, thawed
from tidemark.models.refinement.scenario import Scenario, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CLUSTER, NODE, CHANNEL = "cluster", "node", "dml_0_1v0"
MAX_ROWS = 2
"""Rows of a segment."""


class AllocationScenario(Scenario):
    """What happens.

    Attributes:
        writes: how many rows are inserted; the last one may fail.
        segments: how many there may be.
        flushes: how often the collection is flushed.
        ticks: how many come.
        restarts: of the coordinator.
    """

    writes: int = 4
    segments: int = 3
    flushes: int = 2
    ticks: int = 4
    restarts: int = 1

    def instance(self) -> Instance:
        """The bounded instance of the specification."""
        bounds = {
            "Row": self.writes,
            "Segment": self.segments,
            "Grant": MAX_ROWS * self.segments,
            "Ts": self.writes + self.flushes + self.restarts,
            "Faults": self.restarts,
        }
        of = [segment for segment in range(self.segments) for _ in range(MAX_ROWS)]
        return Instance("tidemark.spec.allocation:Allocation", bounds, {"of": of}, "scheduled")


class Write:
    """One insert of one row. ``view``: how far it has come."""

    def __init__(self, program: AllocationProgram, number: int) -> None:
        self.name = f"row {number}"
        self.view = InsertView()
        self.task: asyncio.Task[None] | None = None
        self._program = program
        self._number = number

    def begin(self, process: Process) -> None:
        """Start its task."""
        self.task = asyncio.create_task(self._live(process), name=self.name)

    @property
    def under_way(self) -> bool:
        """The row may still come into the log."""
        return self.view.stage in ("asked", "stamped", "assigned")

    def fail(self) -> None:
        """The insert fails, wherever it is."""
        assert self.task is not None
        self.task.cancel()
        self.view.stage, self.view.floor, self.view.ts = "failed", 0, 0

    async def _live(self, process: Process) -> None:
        view, program = self.view, self._program
        await process.point("row.come")
        view.stage, view.floor = "asked", program.issued
        write = insert_task([CHANNEL], [(self._number, "row")], program)
        write.ts = view.ts = await program.alloc(1)
        view.stage, view.floor = "stamped", 0

        def make() -> None:
            made: Any = decode_text(write.message(physical(CHANNEL)).payload)
            (row,) = rows_of(made)
            self.row = row
            program.grant(view, row.segment_id)

        await program.when(f"make {self._number}", program.has_room, make)
        await process.point("row.send")
        view.stage = "assigned"
        await program.world.operation("append", lambda: program.append(self.row))
        view.stage = "logged"


class AllocationProgram(RefiningProgram):
    """One channel."""

    table = "allocation"
    settings = Settings(clock=ClockOrder.UNTIMED)

    def __init__(self, scenario: AllocationScenario) -> None:
        super().__init__(_abstraction(scenario))
        self.scenario = scenario
        self.writes = [Write(self, number) for number in range(scenario.writes)]
        self.issued = self.since = self.crashes = self.number = 0
        self.rows: list[Row] = []
        self.packs: list[Pack] = []
        self.read = 0
        self.meta = MemoryMetaStore()
        self.log = MemoryLog()
        self.coordinator: Coordinator | None = None
        self.allocator: SegmentAllocator | None = None
        self.flushes: CollectionFlush | None = None
        self.node: DataNode | None = None
        self.work: list[asyncio.Task[None]] = []
        self.asking = 0
        self.named: set[SegmentId] = set()
        """What a flush has ended."""
        self.sealed: set[SegmentId] = set()
        """What was full when a coordinator stopped."""
        self.given: dict[int, GrantView] = {}
        self.expiry: dict[int, int] = {}

    def populate(self, world: World) -> None:
        """Define the process."""
        self.gate = Gate(world)
        world.process(CLUSTER, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        self._process = process
        await self.start_coordinator()
        assert self.coordinator is not None
        await self.coordinator.assign(CHANNEL, NODE)
        ports = DataNodePorts(
            clock=_Pauses(process),
            log=self.log,
            store=MemoryObjectStore(),
            coordinator=self,
            preemption=self,
        )
        self.node = DataNode(node_id=NODE, ports=ports, config=DataNodeConfig())
        await self.node.recover_channel(CHANNEL)
        for write in self.writes:
            write.begin(process)
        for work in (self._flush, self._fill, self._restart, self._tick, self._tell, self._fail):
            process.spawn(work(), work.__name__)

    async def when(self, title: str, ready: Callable[[], bool], effect: Callable[[], object]) -> None:
        """Do something at any time at which it may be done."""

        def attempt() -> bool:
            if may := ready():
                effect()
            return may

        while not await self.gate.operation(title, ready, attempt):
            continue

    # What happens beside the writes.

    async def _flush(self) -> None:
        for number in range(self.scenario.flushes):
            await self.when("flush", self._may_flush, functools.partial(self._begin_flush, number))

    def _may_flush(self) -> bool:
        return self.flushes is not None and len(self.would_seal()) == 1 and not self.asking

    def _begin_flush(self, number: int) -> None:
        assert self.flushes is not None
        self.begin(self.flushes.flush((CHANNEL,)), f"flush {number}")

    async def _fill(self) -> None:
        """A row of another client comes to a segment that is full."""
        while True:
            await self.when("fill", self._is_full, lambda: self.allocate(CHANNEL, 1))

    def _is_full(self) -> bool:
        return self.allocator is not None and self._growing() is not None and not self.has_room(new=True)

    async def _restart(self) -> None:
        for _ in range(self.scenario.restarts):
            await self.when("stop", self._may_stop, self.stop_coordinator)
            await self._process.point("coordinator.start")
            self.issued += 1
            self.expiry = dict.fromkeys(range(self.scenario.segments), self.issued)
            await self.start_coordinator()

    def _may_stop(self) -> bool:
        return bool(self.given) and not self.asking

    async def _tick(self) -> None:
        for _ in range(self.scenario.ticks):
            await self.when("tick", lambda: self.next_tick() > self.last_tick, self.send_tick)

    async def _tell(self) -> None:
        while True:
            await self.when("read", lambda: self.read < len(self.packs), self.let_read)

    async def _fail(self) -> None:
        last = self.writes[-1]
        await self.when("fail", lambda: last.under_way, last.fail)

    # Segments.

    def _growing(self) -> Growing | None:
        return None if self.allocator is None else self.allocator.growing.get((CHANNEL, False))

    def has_room(self, *, new: bool = False) -> bool:
        """Whether a row gets a segment, and seals none. ``new``: or whether there is no new one."""
        taking = self._growing()
        if new:
            return self.number == self.scenario.segments or taking is None or taking.rows < MAX_ROWS
        if self.allocator is None:
            return False
        return self.number < self.scenario.segments if taking is None else taking.rows < MAX_ROWS

    def would_seal(self) -> set[SegmentId]:
        """What a flush ends that takes rows: what grows, and what an earlier coordinator has left open."""
        records = self.meta.segments.values()
        left = {one.segment_id for one in records if not (one.flushed or one.dropped)}
        return {one for one in growing(self.allocator) | left if self.phase(one) == "growing"}

    def phase(self, segment: SegmentId) -> str:
        """The phase of a segment."""
        if self.node is None:
            return "growing"
        sealed = self.sealed | full(self.allocator, CHANNEL) | self.named
        return phase(segment, buffer=self.buffer, allocator=self.allocator, sealed=sealed)

    def grant(self, view: InsertView, segment: SegmentId) -> None:
        """A row has got a segment, and with it a part of that."""
        place = segment - 1
        free = next(a for a in range(MAX_ROWS * place, MAX_ROWS * segment) if a not in self.given)
        self.given[free] = GrantView(view, view.ts)
        self.expiry[place] = max(self.expiry.get(place, 0), view.ts)

    async def start_coordinator(self) -> None:
        """A coordinator begins, with what is stored."""
        coordinator = Coordinator(meta=self.meta)
        await coordinator.load()
        service = FlushService(coordinator=coordinator, node=self, clock=_Pauses(self._process))
        allocator = _Noting(coordinator=coordinator, take_number=self._take, max_rows=MAX_ROWS)
        allocator.named, self.allocator = self.named, allocator
        self.flushes = CollectionFlush(oracle=self, allocator=self.allocator, service=service)
        self.coordinator = coordinator
        self.begin(service.resume(), "resumed")

    def stop_coordinator(self) -> None:
        """It ends; what it has in memory is gone."""
        for task in self.work:
            task.cancel()
        self.work = []
        self.sealed |= full(self.allocator, CHANNEL)
        self.expiry = {}
        self.coordinator = self.allocator = self.flushes = None
        self.since = self.issued
        self.crashes += 1

    def begin(self, work: Coroutine[Any, Any, object], name: str) -> None:
        """Start a task of the coordinator."""

        async def run() -> None:
            await work

        self.work.append(asyncio.create_task(run(), name=name))

    def _take(self) -> SegmentId:
        self.number += 1
        return self.number

    # What writes use.

    async def alloc(self, count: int) -> int:
        """See Oracle."""

        def give() -> int:
            self.issued += count
            return self.issued

        asks = not task_name().startswith("row ")
        self.asking += asks
        try:
            return int(await self.world.operation("allocate", give))
        finally:
            self.asking -= asks

    def allocate(self, channel: str, rows: int, *, deletes: bool = False) -> SegmentId:
        """See SegmentSource."""
        assert self.allocator is not None
        return self.allocator.allocate(channel, rows, deletes=deletes)

    def append(self, row: Row) -> None:
        """The row is in the log."""
        self.rows.append(row)

    # The ticks.

    @property
    def last_tick(self) -> int:
        """The greatest tick in the log."""
        return self.packs[-1].end.ts if self.packs else 0

    def next_tick(self) -> int:
        """The greatest tick that all rows under way lie above."""
        asked = [one.view.floor for one in self.writes if one.view.stage == "asked"]
        open_ones = [one.view.ts - 1 for one in self.writes if one.view.stage in ("stamped", "assigned")]
        return min([self.issued, *asked, *open_ones])

    def send_tick(self) -> None:
        """A tick is in the log, and the rows up to it are before it."""
        last, upto = self.last_tick, self.next_tick()
        rows = tuple(sorted((row for row in self.rows if last < row.ts <= upto), key=lambda row: row.ts))
        self.packs.append(Pack(StartPosition(last), EndPosition(upto), rows))

    def let_read(self) -> None:
        """The data node may read up to the next tick."""
        self._process.spawn(self.log.append(CHANNEL, self.packs[self.read]), "log")
        self.read += 1

    # Calls between coordinator and node.

    async def flush_channel(self, channel: str, flush_ts: int, *, deadline: float) -> None:
        """See DataNodeClient."""
        del deadline
        await self._process.point("coordinator.tell")
        await self._until_read(flush_ts)
        assert self.node is not None
        self.node.flush_channel(channel, flush_ts)

    async def _until_read(self, ts: int) -> None:
        """A flush that an earlier coordinator has begun may go on before the node has read up to what this
        one assumes of grants. Here it waits for that.
        """
        if ts <= self.buffer.consumed.ts:
            await self.when("told", self._has_read, lambda: None)

    def _has_read(self) -> bool:
        told, left = self.buffer.consumed.ts, range(1, self.scenario.segments + 1)
        return all(self.expiry.get(g - 1, 0) <= told for g in left if self.phase(g) == "sealed")

    async def seal_segments(
        self, channel: str, segments: Sequence[SegmentId], *, expires: int, deadline: float
    ) -> bool:
        """See DataNodeClient."""
        del deadline
        await self._until_read(expires)
        assert self.node is not None
        return await self.node.seal_segments(channel, segments, expires=expires)

    async def point(self, name: str) -> None:
        """See Preemption: the node may do something else between two segments that it is to end."""
        if name == "node.seal":
            await self._process.point(name)

    def _reached(self) -> Coordinator:
        if self.coordinator is None:
            raise RpcError("there is no coordinator")
        return self.coordinator

    async def save_binlog_paths(self, request: SaveBinlogPaths, *, deadline: float) -> SaveOutcome:
        """See CoordinatorClient."""
        del deadline
        return await self._reached().save_binlog_paths(request)

    async def update_channel_checkpoints(self, request: UpdateCheckpoints, *, deadline: float) -> None:
        """See CoordinatorClient."""
        del deadline
        await self._reached().update_channel_checkpoints(request)

    async def recover_channel(
        self, channel: str, node_id: str, session: int, *, deadline: float
    ) -> RecoveryAnswer:
        """See CoordinatorClient."""
        del deadline
        return await self._reached().recover_channel(channel, node_id, session)

    async def drop_channel(self, channel: str, owner: Any, *, deadline: float) -> None:
        """See CoordinatorClient."""
        raise NotImplementedError(f"{channel} of {owner} is not dropped within {deadline} s")

    # What is looked at.

    @property
    def buffer(self) -> WriteBuffer:
        """The data node's buffer of the channel."""
        assert self.node is not None
        return self.node.buffers.get(CHANNEL)

    def complaint(self) -> str | None:
        """Return what has ended the data node, if anything has."""
        failure = None if self.node is None else self.node.supervisor.failure
        return None if failure is None else f"{REFINEMENT}: the data node has failed: {failure!r}"

    def observe(self) -> Observation:
        """Return the state of the specification that the process is in."""
        self.gate.look()
        every = range(self.scenario.segments)
        views, grants = [one.view for one in self.writes], MAX_ROWS * self.scenario.segments
        found = {
            **rows(views, self.given, grants),
            "issued": self.issued,
            "tick": self.last_tick,
            "told": 0 if self.node is None or not self.packs else self.buffer.consumed.ts,
            "up": self.coordinator is not None,
            "since": self.since,
            "span": 0,
            "expiry": {g: self.expiry.get(g, 0) for g in every},
            "phase": {g: self.phase(g + 1) for g in every},
            "faults": self.crashes,
        }
        return {CLUSTER: frozen(found)}


@functools.cache
def _abstraction(scenario: AllocationScenario) -> Abstraction:
    """A pure function of its arguments: it may outlive executions."""
    return Abstraction(scenario.instance(), lambda observation: thawed(observation[CLUSTER]))


class _Pauses:
    """Pauses are points."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        del seconds
        await self._process.point("pause")


class _Noting(SegmentAllocator):
    """The allocator. ``named``: where it notes what each flush names."""

    named: set[SegmentId]

    def end_all(self, channel: str) -> tuple[SegmentId, ...]:
        """See SegmentAllocator."""
        found = super().end_all(channel)
        self.named.update(found)
        return found


def task_name() -> str:
    """The name of the task that runs."""
    task = asyncio.current_task()
    assert task is not None
    return task.get_name()


allocation = program(AllocationProgram, AllocationScenario)
