"""The three queues: order of changes of metadata, callers that leave, close, and the end without a close."""

import asyncio

import pytest

from tests.impl.parts import settle
from tests.impl.time_tick_parts import Oracle, Streams
from tidemark.impl.errors import ProxyClosedError, ProxyEndedError, QueueFullError, RpcTimeoutError
from tidemark.impl.proxy.queues import ProxyQueues, QueueKind, QueuesMode
from tidemark.impl.proxy.values import DmlTask, TaskPhase
from tidemark.impl.runtime import NoPreemption, Supervisor

DDL, DML = QueueKind.DDL, QueueKind.DML


def _queues(streams, *, oracle=None, capacity=10):
    supervisor = Supervisor()
    queues = ProxyQueues(
        oracle=oracle or Oracle(),
        streams=dict.fromkeys(QueueKind, streams),
        preemption=NoPreemption(),
        spawn=supervisor.spawn,
        parallel=4,
        capacity=capacity,
        deadline=1.0,
    )
    queues.start()
    return queues, supervisor


def _ask(queues, kind, task):
    return asyncio.create_task(queues.submit(kind, task))


@pytest.mark.parametrize(("kind", "most"), [(DDL, 1), (DML, 2)])
async def test_changes_go_one_by_one_and_writes_side_by_side(kind, most):
    gate = asyncio.Event()
    streams = Streams(gates={"a": gate})
    queues, supervisor = _queues(streams)
    callers = [_ask(queues, kind, DmlTask(("a",))) for _ in range(2)]
    await settle()
    assert streams.running == most
    gate.set()
    await asyncio.gather(*callers)
    assert streams.most == most
    assert [message.ts for message in streams.appended] == [1, 2]
    await supervisor.stop()


async def test_requests_are_numbered_and_pending_until_their_callers_are_answered():
    streams = Streams(gates={"a": asyncio.Event()})
    queues, supervisor = _queues(streams)
    tasks = [DmlTask(("a",)), DmlTask(("b",))]
    callers = [_ask(queues, DML, task) for task in tasks]
    await asyncio.sleep(0)
    assert queues.pending == dict(enumerate(tasks, start=1))
    await callers[1]
    assert queues.pending == {1: tasks[0]}
    streams.gates["a"].set()
    await callers[0]
    assert queues.pending == {}
    assert [task.number for task in tasks] == [1, 2]
    await supervisor.stop()


async def test_a_change_waits_until_the_one_before_is_settled_although_its_caller_was_told():
    streams = Streams(late={"a"}, settle_gate=asyncio.Event())
    queues, supervisor = _queues(streams)
    first, second = DmlTask(("a",)), DmlTask(("b",))
    await queues.submit(DDL, first)
    assert not first.succeeded
    caller = _ask(queues, DDL, second)
    await settle()
    assert second.phase is TaskPhase.QUEUED
    streams.settle_gate.set()
    await caller
    assert second.succeeded
    await supervisor.stop()


async def test_a_caller_that_leaves_while_the_oracle_is_asked_leaves_no_lock_behind():
    oracle = Oracle(held=asyncio.Event())
    streams = Streams()
    queues, supervisor = _queues(streams, oracle=oracle)
    gone, task = DmlTask(("a",)), DmlTask(("a",))
    caller = _ask(queues, DML, gone)
    await settle()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    other = _ask(queues, DML, task)
    oracle.held.set()
    await other
    await settle()
    assert [message.ts for message in streams.appended] == [task.ts]
    assert gone.phase is TaskPhase.POPPED
    assert gone.answered.times == 1
    assert queues.queues[DML].statistics.snapshot() == {}
    assert not queues.pending
    await supervisor.stop()


async def test_a_close_drops_what_is_queued_and_waits_for_what_has_begun():
    gate = asyncio.Event()
    streams = Streams(gates={"a": gate})
    queues, supervisor = _queues(streams)
    begun, queued = DmlTask(("a",)), DmlTask(("a",))
    callers = [_ask(queues, DDL, task) for task in (begun, queued)]
    await settle()
    closing = asyncio.create_task(queues.close())
    await settle()
    assert not closing.done()
    with pytest.raises(ProxyClosedError, match="ask another one"):
        await queues.submit(DML, DmlTask(("a",)))
    gate.set()
    await closing
    assert queues.mode is QueuesMode.CLOSED
    assert begun.succeeded
    assert not queued.succeeded
    found = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(one) for one in found] == [type(None), ProxyClosedError]
    assert [task.answered.times for task in (begun, queued)] == [1, 1]
    await supervisor.stop()


async def test_refusals_are_told():
    gate = asyncio.Event()
    queues, supervisor = _queues(Streams(gates={"a": gate}), oracle=Oracle(fails=1), capacity=1)
    with pytest.raises(RpcTimeoutError):
        await queues.submit(DDL, DmlTask(("a",)))
    callers = [_ask(queues, DDL, DmlTask(("a",)))]
    await settle()
    callers += [_ask(queues, DDL, DmlTask(("a",))) for _ in range(2)]
    await settle()
    gate.set()
    found = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(one) for one in found].count(QueueFullError) == 1
    await supervisor.stop()


async def test_callers_of_a_proxy_that_ends_are_told():
    queues, supervisor = _queues(Streams(gates={"a": asyncio.Event()}))
    task = DmlTask(("a",))
    caller = _ask(queues, DML, task)
    await settle()
    await supervisor.stop()
    queues.cut()
    with pytest.raises(ProxyEndedError, match="outcome is unknown"):
        await caller
    assert task.answered.times == 1
    with pytest.raises(ProxyClosedError, match="nothing was done"):
        await queues.submit(DML, DmlTask(("a",)))
