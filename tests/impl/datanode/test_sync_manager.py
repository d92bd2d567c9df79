"""Sync tasks: order within a segment, parallel segments, retries, and what is not counted as success."""

import asyncio

import pytest

from tests.impl.parts import CHANNEL, FaultyClient, FaultyStore, HandClock, Script, run, settle
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.sync_manager import SyncManager
from tidemark.impl.datanode.sync_task import SyncStage, SyncTask
from tidemark.impl.errors import SegmentMissingError
from tidemark.impl.runtime import Supervisor
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import EndPosition, Row, StartPosition


class Sink:
    def __init__(self, known=(1, 2)):
        self.known = known
        self.done = []

    def knows_segment(self, segment_id):
        return segment_id in self.known

    def on_synced(self, task):
        self.done.append(task.key)


class Bench:
    def __init__(self, *, failures=0, known=(1, 2)):
        self.coordinator = Coordinator(meta=MemoryMetaStore())
        self.client = FaultyClient(self.coordinator)
        self.store = FaultyStore(failures=failures)
        self.clock = HandClock()
        self.supervisor = Supervisor()
        self.sink = Sink(known)
        self.manager = SyncManager(
            store=self.store,
            coordinator=self.client,
            clock=self.clock,
            preemption=Script(),
            spawn=self.supervisor.spawn,
            config=DataNodeConfig(retry_initial_seconds=1.0, retry_max_seconds=4.0),
        )

    async def start(self):
        await self.coordinator.assign(CHANNEL, "node-1")
        self.owner = (await self.coordinator.recover_channel(CHANNEL, "node-1")).owner
        return self

    def submit(self, segment, position, *, rows=1, flush=False):
        task = SyncTask(
            channel=CHANNEL,
            owner=self.owner,
            segment_id=segment,
            position=EndPosition(position),
            start=StartPosition(position - 1) if rows else None,
            rows=tuple(Row(position, segment, position) for _ in range(rows)),
            sink=self.sink,
            is_flush=flush,
        )
        self.manager.submit(task)
        return task


def test_tasks_of_a_segment_run_in_order_and_others_do_not_wait():
    async def scenario():
        bench = await Bench().start()
        bench.store.gates[1] = asyncio.Event()
        first, second, other = bench.submit(1, 5), bench.submit(1, 8), bench.submit(2, 8)
        await settle()
        assert bench.sink.done == [other.key]
        assert bench.store.started == [first.path, other.path]
        bench.store.gates[1].set()
        await settle()
        assert bench.sink.done == [other.key, first.key, second.key]
        assert bench.coordinator.segments[1].dml_position == EndPosition(8)
        assert bench.manager.queues == {}

    run(scenario())


def test_a_failed_upload_is_repeated_with_growing_pauses_and_nothing_is_recorded_before():
    async def scenario():
        bench = await Bench(failures=4).start()
        task = bench.submit(1, 5)
        pauses = []
        for _ in range(4):
            await settle()
            assert (task.stage, bench.client.saves) == (SyncStage.QUEUED, [])
            pauses.append(bench.clock.waiting[0][0] - bench.clock.now)
            await bench.clock.advance(pauses[-1])
        assert pauses == [1.0, 2.0, 4.0, 4.0]
        assert bench.sink.done == [task.key]
        assert task.finished.is_set()

    run(scenario())


@pytest.mark.parametrize("fault", ["lose_saves_before", "lose_saves_after"])
def test_a_lost_save_is_repeated_and_recorded_once(fault):
    async def scenario():
        bench = await Bench().start()
        setattr(bench.client, fault, 1)
        task = bench.submit(1, 5)
        await settle()
        assert (task.stage, bench.sink.done) == (SyncStage.UPLOADED, [])
        await bench.clock.advance(1.0)
        assert (task.stage, bench.sink.done) == (SyncStage.FINISHED, [task.key])
        assert [record.row_positions for record in bench.coordinator.segments[1].binlogs] == [(5,)]
        assert len(bench.client.saves) == 2

    run(scenario())


def test_a_refused_save_is_no_success():
    async def scenario():
        bench = await Bench().start()
        await bench.coordinator.unassign(CHANNEL)
        task = bench.submit(1, 5)
        await settle()
        assert (task.stage, bench.sink.done) == (SyncStage.UPLOADED, [])
        await bench.coordinator.assign(CHANNEL, "node-1")
        await bench.clock.advance(1.0)
        assert bench.sink.done == [task.key]
        assert len(bench.coordinator.segments[1].binlogs) == 1

    run(scenario())


def test_a_task_of_an_unknown_segment_fails_the_node():
    async def scenario():
        bench = await Bench(known=()).start()
        bench.submit(1, 5)
        await settle()
        assert bench.sink.done == []
        with pytest.raises(SegmentMissingError, match="segment 1 at 5"):
            bench.supervisor.check()

    run(scenario())


def test_the_last_task_without_rows_writes_no_object_and_flushes():
    async def scenario():
        bench = await Bench().start()
        bench.submit(1, 5)
        bench.submit(1, 6, rows=0, flush=True)
        await settle()
        record = bench.coordinator.segments[1]
        assert record.flushed
        assert len(record.binlogs) == len(bench.store.objects) == 1

    run(scenario())
