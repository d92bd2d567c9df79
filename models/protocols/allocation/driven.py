"""The allocation of segments as it is driven: allocator, flushes and coordinator, writes, and a data node.

All are real. The oracle counts, and the log's ticks come when the driver says so: what the channel's other
writers do is not looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datacoord.collection_flush import CollectionFlush
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.flush_service import FlushService
from tidemark.impl.datacoord.segment_allocation import SegmentAllocator
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
from tidemark.models.protocols.allocation.refinement import InsertView
from tidemark.models.simulation.program import Program
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CLUSTER, NODE, CHANNEL = "cluster", "node", "dml_0_1v0"
HAND = "driver"
MAX_ROWS = 2
"""Rows of a segment."""


class DrivenWrite:
    """One insert of one row. ``view``: how far it has come."""

    def __init__(self, program: DrivenAllocation, number: int) -> None:
        self.name = f"row {number}"
        self.view = InsertView()
        self.task: asyncio.Task[None] | None = None
        self._program = program
        self._number = number

    def begin(self, process: Process) -> None:
        """Start its task."""
        self.task = asyncio.create_task(self._live(process), name=self.name)

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
        await process.point("row.make")
        made: Any = decode_text(write.message(physical(CHANNEL)).payload)
        (row,) = rows_of(made)
        view.segment = row.segment_id
        await process.point("row.send")
        view.stage = "assigned"
        await program.world.operation("append", lambda: program.append(row))
        view.stage = "logged"


class DrivenAllocation(Program):
    """One channel. ``writes``: how many."""

    settings = Settings(clock=ClockOrder.UNTIMED)
    order: Callable[[], None]
    world: World

    def __init__(self, *, writes: int) -> None:
        self.writes = [DrivenWrite(self, number) for number in range(writes)]
        self.issued = self.since = self.crashes = self.number = 0
        self.rows: list[Row] = []
        self.packs: list[Pack] = []
        self.meta = MemoryMetaStore()
        self.log = MemoryLog()
        self.coordinator: Coordinator | None = None
        self.allocator: SegmentAllocator | None = None
        self.flushes: CollectionFlush | None = None
        self.work: list[asyncio.Task[None]] = []
        self.flush_of: dict[str, int] = {}
        """By task the timestamp of its flush, once the node is to be told of it."""
        self.asked: dict[int, set[SegmentId]] = {}
        """By its timestamp the segments that the node was to end for a flush, once it was asked."""
        self.segments_of: dict[str, Iterator[SegmentId]] = {}
        self.next_to_seal: dict[str, SegmentId] = {}
        """By task the segment that the node ends next, once it has looked at those before."""
        self.named: set[SegmentId] = set()
        """What a flush has ended."""

    def build(self, world: World) -> None:
        """Define the process."""
        self.world = world
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
        while True:
            await process.point(HAND)
            self.order()

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

        return int(await self.world.operation("allocate", give))

    def allocate(self, channel: str, rows: int, *, deletes: bool = False) -> SegmentId:
        """See SegmentSource."""
        assert self.allocator is not None
        return self.allocator.allocate(channel, rows, deletes=deletes)

    def append(self, row: Row) -> None:
        """The row is in the log."""
        self.rows.append(row)

    # The ticks.

    def send_tick(self, upto: int) -> None:
        """A tick is in the log, and the rows up to it are before it."""
        last = self.packs[-1].end.ts if self.packs else 0
        rows = tuple(sorted((row for row in self.rows if last < row.ts <= upto), key=lambda row: row.ts))
        self.packs.append(Pack(StartPosition(last), EndPosition(upto), rows))

    def let_read(self, upto: int) -> None:
        """The data node may read up to a tick."""

        async def grow() -> None:
            known = len(self.log.packs.get(CHANNEL, []))
            for pack in self.packs[known:]:
                if pack.end.ts <= upto:
                    await self.log.append(CHANNEL, pack)

        self._process.spawn(grow(), "log")

    # Calls between coordinator and node.

    async def flush_channel(self, channel: str, flush_ts: int, *, deadline: float) -> None:
        """See DataNodeClient."""
        del deadline
        self.flush_of[task_name()] = flush_ts
        await self._process.point("coordinator.tell")
        self.node.flush_channel(channel, flush_ts)

    async def seal_segments(
        self, channel: str, segments: Sequence[SegmentId], *, expires: int, deadline: float
    ) -> bool:
        """See DataNodeClient."""
        del deadline
        self.asked.setdefault(expires, set()).update(segments)
        self.segments_of[task_name()] = iter(sorted(segments)[1:])
        return await self.node.seal_segments(channel, segments, expires=expires)

    async def point(self, name: str) -> None:
        """See Preemption: the node may do something else between two segments that it is to end."""
        if name == "node.seal":
            self.next_to_seal[task_name()] = next(self.segments_of[task_name()])
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
        return self.node.buffers.get(CHANNEL)


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
