"""Task queue and scheduler: order, lock, parallel execution, unknown outcomes."""

import asyncio

import pytest

from tests.impl.parts import settle
from tests.impl.time_tick_parts import Oracle, Streams
from tidemark.impl.errors import QueueFullError, RpcTimeoutError
from tidemark.impl.proxy.scheduler import TaskScheduler
from tidemark.impl.proxy.task_queue import DmlTaskQueue
from tidemark.impl.proxy.values import AppendOutcome, DmlTask, TaskPhase
from tidemark.impl.runtime import NoPreemption, Supervisor


def _queue(oracle, *, capacity=10):
    return DmlTaskQueue(oracle=oracle, preemption=NoPreemption(), capacity=capacity)


def _scheduler(queue, streams, *, parallel=4):
    supervisor = Supervisor()
    scheduler = TaskScheduler(
        queue=queue,
        streams=streams,
        preemption=NoPreemption(),
        spawn=supervisor.spawn,
        parallel=parallel,
        produce_timeout=1.0,
    )
    supervisor.spawn(scheduler.run, "scheduler")
    return supervisor


async def test_tasks_stand_in_the_order_of_their_timestamps():
    queue = _queue(Oracle())
    tasks = [DmlTask(("a",)) for _ in range(5)]
    await asyncio.gather(*(queue.enqueue(task) for task in tasks))
    assert [task.ts for task in queue.unissued] == [1, 2, 3, 4, 5]
    assert all(task.committed for task in tasks)


async def test_a_snapshot_waits_for_a_task_that_has_asked():
    oracle = Oracle(held=asyncio.Event())
    queue = _queue(oracle)
    enqueue = asyncio.create_task(queue.enqueue(DmlTask(("a",))))
    await settle()
    snapshot = asyncio.create_task(queue.snapshot())
    await settle()
    assert not snapshot.done()
    oracle.held.set()
    assert (await snapshot)["a"].min_ts == 1
    await enqueue


async def test_a_task_without_a_timestamp_leaves_nothing_behind():
    queue = _queue(Oracle(fails=1))
    task = DmlTask(("a",))
    with pytest.raises(RpcTimeoutError):
        await queue.enqueue(task)
    assert task.phase is TaskPhase.NEW
    assert not queue.unissued
    assert await queue.snapshot() == {}
    await queue.enqueue(task)
    assert task.ts == 1


async def test_a_full_queue_refuses():
    oracle = Oracle()
    queue = _queue(oracle, capacity=1)
    await queue.enqueue(DmlTask(("a",)))
    with pytest.raises(QueueFullError, match="1 tasks wait"):
        await queue.enqueue(DmlTask(("a",)))
    assert oracle.given == 1


async def test_tasks_run_side_by_side_up_to_the_limit():
    queue, streams = _queue(Oracle()), Streams(gates={"a": asyncio.Event()})
    supervisor = _scheduler(queue, streams, parallel=2)
    tasks = [DmlTask(("a",)) for _ in range(3)]
    for task in tasks:
        await queue.enqueue(task)
    await settle()
    assert sorted(queue.active) == [1, 2]
    streams.gates["a"].set()
    await settle()
    assert [task.phase for task in tasks] == [TaskPhase.POPPED] * 3
    assert streams.most == 2
    assert await queue.snapshot() == {}
    streams.gates["a"].clear()
    for _ in range(4):
        await queue.enqueue(DmlTask(("a",)))
    await settle()
    assert streams.running == 2, "a worker that has ended is one worker"
    await supervisor.stop()


async def test_a_client_is_answered_before_the_outcome_is_known_and_the_timestamp_stays():
    queue = _queue(Oracle())
    streams = Streams(late={"b"}, settle_gate=asyncio.Event())
    supervisor = _scheduler(queue, streams)
    task = DmlTask(("a", "b"))
    await queue.enqueue(task)
    await settle()
    assert task.answered.is_set()
    assert not task.succeeded
    assert task.unknown() == ("b",)
    assert (await queue.snapshot())["b"].min_ts == 1
    streams.settle_gate.set()
    await settle()
    assert task.outcomes == {"a": AppendOutcome.APPENDED, "b": AppendOutcome.REFUSED}
    assert [message.channel for message in streams.settled] == ["b"]
    assert await queue.snapshot() == {}
    await supervisor.stop()


async def test_a_refused_message_is_not_settled():
    queue, streams = _queue(Oracle()), Streams(refused={"a"})
    supervisor = _scheduler(queue, streams)
    task = DmlTask(("a",))
    await queue.enqueue(task)
    await settle()
    assert task.phase is TaskPhase.POPPED
    assert not task.succeeded
    assert not streams.settled
    await supervisor.stop()
