"""The ticker and the proxy's reports."""

import pytest

from tests.impl.time_tick_parts import Oracle
from tidemark.impl.proxy.statistics import Span
from tidemark.impl.proxy.task_queue import DmlTaskQueue
from tidemark.impl.proxy.ticker import ChannelsTimeTicker, TickStage
from tidemark.impl.proxy.values import DmlTask
from tidemark.impl.runtime import NoPreemption


def _ticker(oracle, *, interval=2):
    queue = DmlTaskQueue(oracle=oracle, preemption=NoPreemption(), capacity=10)
    ticker = ChannelsTimeTicker(queue=queue, oracle=oracle, preemption=NoPreemption(), interval_ts=interval)
    return queue, ticker


async def test_the_gate_moves_a_value_once_for_a_batch():
    queue, ticker = _ticker(Oracle())
    tasks = [DmlTask(("a",)) for _ in range(3)]
    for task in tasks:
        await queue.enqueue(task)
    await ticker.tick()
    assert (ticker.published, ticker.current) == ({"a": 0}, {"a": 4})
    for task in tasks[:2]:
        queue.active[task.place] = task
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
    queue.active[task.place] = task
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
