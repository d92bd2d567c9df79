"""The ticker and the proxy's reports."""

import asyncio

import pytest

from tests.impl.parts import HandClock, settle
from tests.impl.time_tick_parts import Oracle, RootCoordStub, Streams
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.ports import ProxyPorts
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.statistics import Span
from tidemark.impl.proxy.task_queue import DmlTaskQueue
from tidemark.impl.proxy.ticker import ChannelsTimeTicker, TickStage
from tidemark.impl.proxy.values import DmlTask
from tidemark.impl.runtime import NoPreemption


def _ticker(oracle, *, interval=2):
    queue = DmlTaskQueue(oracle=oracle, preemption=NoPreemption(), capacity=10)
    ticker = ChannelsTimeTicker(queue=queue, oracle=oracle, preemption=NoPreemption(), interval_ts=interval)
    return queue, ticker


async def test_a_channel_without_tasks_has_the_default():
    _, ticker = _ticker(Oracle())
    assert ticker.report(1) is None
    await ticker.tick()
    report = ticker.report(1)
    assert (report.channels, report.default, report.value("a")) == ((), 1, 1)


async def test_a_channel_with_tasks_stays_below_the_least_one():
    queue, ticker = _ticker(Oracle())
    for channels in (("a",), ("a", "b")):
        await queue.enqueue(DmlTask(channels))
    await ticker.tick()
    report = ticker.report(1)
    assert (report.value("a"), report.value("b"), report.value("c")) == (0, 1, 3)


async def test_the_gate_moves_a_value_once_for_a_batch():
    queue, ticker = _ticker(Oracle())
    tasks = [DmlTask(("a",)) for _ in range(3)]
    for task in tasks:
        await queue.enqueue(task)
    await ticker.tick()
    assert (ticker.published, ticker.current) == ({"a": 0}, {"a": 4})
    for task in tasks[:2]:
        queue.active[task.ts] = task
        await queue.pop(task)
    await ticker.tick()
    assert ticker.published == {"a": 0}
    later = DmlTask(("a",))
    await queue.enqueue(later)
    queue.active[3] = tasks[2]
    await queue.pop(tasks[2])
    await ticker.tick()
    assert (ticker.published, ticker.current) == ({"a": 5}, {"a": 6})


@pytest.mark.parametrize(("interval", "gate"), [(0, 9), (2, 11), (50, 20)])
def test_the_gate_runs_ahead_of_now_but_not_of_the_greatest(interval, gate):
    _, ticker = _ticker(Oracle(), interval=interval)
    ticker.published, ticker.current = {"a": 1}, {"a": 3}
    ticker._publish(9, {"a": Span(8, 20)})  # the rule itself
    assert (ticker.published, ticker.current) == ({"a": 7}, {"a": gate})


def test_the_gate_is_passed_by_a_greater_timestamp_alone():
    _, ticker = _ticker(Oracle())
    ticker.published, ticker.current = {"a": 1}, {"a": 8}
    ticker._publish(9, {"a": Span(8, 20)})
    assert (ticker.published, ticker.current) == ({"a": 1}, {"a": 8})


async def test_a_channel_whose_tasks_are_over_falls_back_to_the_default():
    queue, ticker = _ticker(Oracle())
    task = DmlTask(("a",))
    await queue.enqueue(task)
    await ticker.tick()
    queue.active[task.ts] = task
    await queue.pop(task)
    await ticker.tick()
    assert ticker.report(1).value("a") == 3
    assert (ticker.published, ticker.current) == ({}, {})


async def test_a_tick_without_a_timestamp_changes_nothing():
    oracle = Oracle()
    _, ticker = _ticker(oracle)
    await ticker.tick()
    oracle.fails = 1
    with pytest.raises(Exception, match="no answer"):
        await ticker.tick()
    assert (ticker.default, ticker.stage) == (1, TickStage.IDLE)


async def test_the_timestamp_is_fetched_before_the_snapshot():
    """A task that comes while the oracle answers is in the snapshot or above ``now``."""

    oracle = Oracle(held=asyncio.Event())
    queue, ticker = _ticker(oracle)
    tick = asyncio.create_task(ticker.tick())
    await settle()
    assert ticker.stage is TickStage.ASKED
    enqueue = asyncio.create_task(queue.enqueue(DmlTask(("a",))))
    await settle()
    oracle.held.set()
    await asyncio.gather(tick, enqueue)
    assert ticker.report(1).value("a") == 1
    assert queue.unissued[0].ts == 2


def _proxy(root_coord, oracle, clock):
    ports = ProxyPorts(oracle=oracle, streams=Streams(), root_coord=root_coord, clock=clock)
    return Proxy(source=7, ports=ports, config=ProxyConfig())


async def test_a_proxy_takes_writes_once_a_report_was_accepted():
    root_coord, clock = RootCoordStub(known=False), HandClock()
    proxy = _proxy(root_coord, Oracle(), clock)
    proxy.start()
    write = asyncio.create_task(proxy.write(("a", "b"), "row"))
    await clock.advance(0.2)
    await clock.advance(0.2)
    assert not root_coord.reports
    assert not write.done()
    root_coord.known = True
    await clock.advance(0.2)
    task = await write
    assert task.succeeded
    assert {report.source for report in root_coord.reports} == {7}
    proxy.supervisor.check()
    await proxy.stop()


async def test_a_proxy_goes_on_ticking_when_the_oracle_was_silent():
    root_coord, clock, oracle = RootCoordStub(), HandClock(), Oracle(fails=2)
    proxy = _proxy(root_coord, oracle, clock)
    proxy.start()
    for _ in range(8):
        await clock.advance(0.1)
    defaults = [report.default for report in root_coord.reports]
    assert len(defaults) >= 2
    assert defaults == sorted(set(defaults))
    proxy.supervisor.check()
    await proxy.stop()


@pytest.mark.parametrize(
    "wrong", [{"max_tasks": 0}, {"parallel_tasks": 0}, {"tick_seconds": 0}, {"tick_interval_ts": -1}]
)
def test_a_wrong_threshold_is_named(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{name} is {value}"):
        ProxyConfig(**wrong)
