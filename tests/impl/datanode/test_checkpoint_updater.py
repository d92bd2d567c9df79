"""The checkpoint updater: merging, signal and timer, batches, failures, clean-up."""

import asyncio

import pytest

from tests.impl.parts import CHANNEL, OWNER, FaultyClient, HandClock, Script, run, settle
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.checkpoint_updater import CheckpointTask, CheckpointUpdater
from tidemark.impl.errors import RpcError
from tidemark.impl.runtime import Supervisor
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import CallStage, EndPosition


class RecordingCoordinator(FaultyClient):
    """Takes reports; fails, or waits at the gate, when told to."""

    def __init__(self):
        super().__init__(Coordinator(meta=MemoryMetaStore()))
        self.calls = []
        self.failures = 0
        self.gate = None
        self.at_once = 0
        self.most_at_once = 0

    async def update_channel_checkpoints(self, request, *, deadline):
        self.calls.append([(item.channel, item.position.ts) for item in request.positions])
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            await asyncio.sleep(0)
            if self.gate is not None:
                await self.gate.wait()
        finally:
            self.at_once -= 1
        if self.failures:
            self.failures -= 1
            raise RpcError("away")


class Bench:
    def __init__(self, **limits):
        self.coordinator = RecordingCoordinator()
        self.clock = HandClock()
        self.script = Script()
        self.updater = CheckpointUpdater(
            coordinator=self.coordinator,
            clock=self.clock,
            preemption=self.script,
            config=DataNodeConfig(checkpoint_tick_seconds=10.0, **limits),
        )
        self.called_back = []
        self.supervisor = Supervisor()

    def start(self):
        self.supervisor.spawn(self.updater.run_signal, "signal")
        self.supervisor.spawn(self.updater.run_timer, "timer")

    async def add(self, position, *, flush=False, channel=CHANNEL):
        async def callback(call):
            self.called_back.append((call.channel, call.position.ts, call.stage))

        await self.updater.add_task(
            CheckpointTask(
                channel=channel, owner=OWNER, position=EndPosition(position), flush=flush, callback=callback
            )
        )


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ((5, False), (7, False), (7, False)),
        ((5, False), (5, False), (5, False)),
        ((5, False), (5, True), (5, True)),
        ((5, True), (7, False), (7, True)),
        ((7, False), (5, True), (7, True)),
        ((7, True), (5, True), (7, True)),
    ],
)
def test_tasks_of_a_channel_merge(first, second, merged):
    async def scenario():
        bench = Bench()
        await bench.add(first[0], flush=first[1])
        await bench.add(second[0], flush=second[1])
        task = bench.updater.tasks[CHANNEL]
        assert (task.position.ts, task.flush) == merged

    run(scenario())


def test_a_flush_is_reported_at_once_and_the_rest_by_the_timer():
    async def scenario():
        bench = Bench()
        bench.start()
        await bench.add(5, channel="slow")
        await bench.add(6, channel="fast", flush=True)
        await settle()
        assert bench.coordinator.calls == [[("fast", 6)]]
        await bench.clock.advance(10.0)
        assert bench.coordinator.calls == [[("fast", 6)], [("slow", 5)]]
        assert (bench.updater.tasks, bench.updater.in_flight) == ({}, {})
        assert bench.called_back == [("fast", 6, CallStage.ACKED), ("slow", 5, CallStage.ACKED)]

    run(scenario())


def test_a_failed_report_stays_without_its_mark_and_is_repeated_by_the_timer():
    async def scenario():
        bench = Bench()
        bench.start()
        bench.coordinator.failures = 1
        await bench.add(5, flush=True)
        await settle()
        assert not bench.updater.tasks[CHANNEL].flush
        assert bench.updater.in_flight == {}
        assert bench.called_back == []
        await bench.clock.advance(9.0)
        assert len(bench.coordinator.calls) == 1
        await bench.clock.advance(1.0)
        assert bench.coordinator.calls == [[(CHANNEL, 5)], [(CHANNEL, 5)]]
        assert bench.updater.tasks == {}

    run(scenario())


@pytest.mark.parametrize(("later", "kept"), [(8, True), (5, False)])
def test_clean_up_keeps_only_what_is_newer_than_the_acknowledged(later, kept):
    async def scenario():
        bench = Bench()
        bench.start()
        bench.coordinator.gate = asyncio.Event()
        await bench.add(5)
        await bench.clock.advance(10.0)
        assert bench.updater.in_flight[CHANNEL].stage is CallStage.SENT
        await bench.add(later)
        bench.coordinator.gate.set()
        await settle()
        assert (CHANNEL in bench.updater.tasks) is kept

    run(scenario())


def test_an_urgent_task_of_the_same_position_added_during_the_call_is_deleted_with_it():
    async def scenario():
        bench = Bench()
        bench.start()
        bench.coordinator.gate = asyncio.Event()
        await bench.add(5, flush=True)
        await settle()
        await bench.add(5, flush=True)
        bench.coordinator.gate.set()
        await settle()
        assert bench.updater.tasks == {}
        assert len(bench.coordinator.calls) == 1
        assert not bench.updater.signal.is_set()

    run(scenario())


def test_rounds_exclude_each_other_and_the_second_is_a_step_of_its_own():
    async def scenario():
        bench = Bench()
        bench.start()
        bench.coordinator.gate = asyncio.Event()
        await bench.add(5)
        await bench.clock.advance(10.0)
        await bench.add(6, flush=True)
        await settle()
        assert bench.coordinator.calls == [[(CHANNEL, 5)]]
        bench.coordinator.gate.set()
        await settle()
        assert bench.coordinator.calls == [[(CHANNEL, 5)], [(CHANNEL, 6)]]
        assert bench.script.seen == [
            "updater.select",
            "updater.clean_up",
            "updater.next_round",
            "updater.clean_up",
        ]

    run(scenario())


def test_reports_are_batched_and_sent_in_parallel_up_to_the_limit():
    async def scenario():
        bench = Bench(max_positions_per_rpc=2, max_parallel_rpcs=3)
        bench.start()
        for number in range(9):
            await bench.add(number + 1, channel=f"c{number}")
        await bench.clock.advance(10.0)
        assert [len(call) for call in bench.coordinator.calls] == [2, 2, 2, 2, 1]
        assert bench.coordinator.most_at_once == 3
        assert bench.updater.tasks == {}

    run(scenario())


def test_one_failed_batch_does_not_hold_the_others():
    async def scenario():
        bench = Bench(max_positions_per_rpc=1)
        bench.start()
        bench.coordinator.failures = 1
        await bench.add(1, channel="a")
        await bench.add(2, channel="b")
        await bench.clock.advance(10.0)
        assert list(bench.updater.tasks) == ["a"]

    run(scenario())


def test_a_forgotten_channel_is_not_reported():
    async def scenario():
        bench = Bench()
        bench.start()
        await bench.add(5)
        bench.updater.forget(CHANNEL)
        await bench.clock.advance(10.0)
        assert bench.coordinator.calls == []

    run(scenario())
