"""The DDL minimum: scheduler, background lock manager, and the whole coordinator."""

import asyncio

import pytest

from tests.impl.parts import HandClock, run, settle
from tests.impl.time_tick_parts import Oracle, SessionsStub, Ticks
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.ddl_lock_manager import DdlTsLockManager
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.impl.rootcoord.ports import RootCoordPorts
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.values.report import TimeTickReport


def _scheduler():
    return DdlScheduler(oracle=Oracle(), preemption=NoPreemption())


def _manager(oracle=None):
    return DdlTsLockManager(oracle=oracle or Oracle(), preemption=NoPreemption())


def test_the_minimum_is_the_last_task_before_the_first_unfinished_one():
    async def work():
        scheduler = _scheduler()
        one, two, three = [await scheduler.begin() for _ in range(3)]
        scheduler.finish(two)
        assert scheduler.min_ddl_ts == 0
        scheduler.finish(one)
        assert scheduler.min_ddl_ts == 2
        scheduler.finish(three)
        assert scheduler.min_ddl_ts == 3

    run(work())


def test_a_dummy_moves_the_minimum():
    async def work():
        scheduler = _scheduler()
        await scheduler.run_dummy()
        assert scheduler.min_ddl_ts == 1

    run(work())


def test_a_task_that_fails_is_finished():
    async def work():
        scheduler = _scheduler()

        async def fails(ts):
            raise ValueError(ts)

        with pytest.raises(ValueError, match="1"):
            await scheduler.run_task(fails)
        assert scheduler.min_ddl_ts == 1

    run(work())


def test_background_work_holds_the_minimum_back():
    async def work():
        manager, ends = _manager(), asyncio.Event()
        assert await manager.min_ddl_ts() == 1

        async def append(ts):
            assert ts == 2
            await ends.wait()

        job = asyncio.create_task(manager.run_task(append))
        await settle()
        assert manager.in_progress == 1
        assert await manager.min_ddl_ts() == 1
        ends.set()
        assert await job == 2
        assert manager.in_progress == 0
        assert await manager.min_ddl_ts() == 3

    run(work())


def test_a_minimum_that_waits_for_the_lock_is_above_the_work():
    async def work():
        oracle = Oracle(held=asyncio.Event())
        manager = _manager(oracle)
        minimum = asyncio.create_task(manager.min_ddl_ts())
        await settle()

        async def append(ts):
            assert ts == 2

        job = asyncio.create_task(manager.run_task(append))
        await settle()
        assert manager.in_progress == 0
        oracle.held.set()
        assert await minimum == 1
        await job

    run(work())


def test_without_an_answer_the_last_minimum_stays_true():
    async def work():
        oracle = Oracle()
        manager = _manager(oracle)
        await manager.min_ddl_ts()
        oracle.fails = 1
        assert await manager.min_ddl_ts() == 1

    run(work())


def test_the_lesser_of_both_is_reported():
    async def work():
        source = DdlSource(oracle=Oracle(), preemption=NoPreemption())
        assert await source.minimum() == 0
        task = await source.scheduler.begin()
        await source.run_dummy()
        assert await source.minimum() == 0
        source.scheduler.finish(task)
        assert await source.minimum() == 3

    run(work())


def _coordinator(sessions, ticks, clock):
    ports = RootCoordPorts(oracle=Oracle(), sessions=sessions, ticks=ticks, clock=clock)
    config = RootCoordConfig(ddl_tick_seconds=0.2, dummy_seconds=0.1)
    return RootCoord(channels=("a",), ports=ports, config=config)


def test_ticks_go_out_by_themselves_while_there_is_no_proxy():
    async def work():
        ticks, clock = Ticks(), HandClock()
        coordinator = _coordinator(SessionsStub(), ticks, clock)
        await coordinator.start()
        for _ in range(6):
            await clock.advance(0.1)
        values = [ts for _, ts in ticks.sent]
        assert len(values) >= 2
        assert values == sorted(set(values))
        coordinator.supervisor.check()
        await coordinator.stop()

    run(work())


def test_a_proxy_holds_the_ticks_until_it_reports_or_goes():
    async def work():
        sessions, ticks, clock = SessionsStub(live=[4]), Ticks(), HandClock()
        coordinator = _coordinator(sessions, ticks, clock)
        await coordinator.start()
        for _ in range(4):
            await clock.advance(0.1)
        assert not ticks.sent
        await coordinator.update_channel_time_tick(TimeTickReport(4, (("a", 1),), 9))
        await settle()
        assert ticks.sent == [("a", 1)]
        sessions.live.append(5)
        sessions.change(4, alive=False)
        for _ in range(4):
            await clock.advance(0.1)
        assert sessions.fenced == [4]
        assert len(ticks.sent) > 1
        await coordinator.stop()

    run(work())


@pytest.mark.parametrize("wrong", [{"ddl_tick_seconds": 0}, {"dummy_seconds": -1}, {"round_capacity": 0}])
def test_a_wrong_threshold_is_named(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{name} is {value}"):
        RootCoordConfig(**wrong)
