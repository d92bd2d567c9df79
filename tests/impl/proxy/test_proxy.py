"""One proxy: what its configuration reaches, when it serves, its calls, its ids, and its end."""

import asyncio
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import AsyncMock

import pytest

from tests.impl.parts import HandClock, settle
from tests.impl.time_tick_parts import Oracle, RootCoordStub, Streams
from tidemark.impl.errors import (
    CollectionError,
    ProxyClosedError,
    ProxyEndedError,
    QueueFullError,
    RpcError,
    RpcTimeoutError,
)
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.ports import ProxyPorts
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.queues import QueueKind
from tidemark.impl.proxy.task_queue import QueryTaskQueue
from tidemark.impl.proxy.values import CallTask, DmlTask, TaskPhase
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.timestamp import Batch

CONFIG = ProxyConfig(
    max_tasks=1, parallel_tasks=2, tick_seconds=2, report_seconds=3, tick_interval_ts=1, produce_timeout=11,
    report_timeout=13, id_batch=3, id_timeout=17,
)  # fmt: skip


class World:
    def __init__(self, *, ids=None):
        self.oracle, self.streams, self.clock = Oracle(), Streams(), HandClock()
        self.root_coord = RootCoordStub()
        ports = ProxyPorts(
            oracle=self.oracle, streams=self.streams, root_coord=self.root_coord, clock=self.clock, ids=ids
        )
        self.proxy = Proxy(source=7, ports=ports, config=CONFIG)
        self.proxy.start()

    def write(self, channel="a"):
        return asyncio.create_task(self.proxy.write((channel,), "row"))

    async def serves(self):
        """Let the first report be accepted."""
        await self.clock.advance(2)
        await self.clock.advance(1)


@asynccontextmanager
async def at_work(**options):
    world = World(**options)
    try:
        yield world
    finally:
        await world.proxy.stop()


@pytest.fixture
def world():
    return at_work()


async def errors_of(*callers):
    await settle()
    assert all(caller.done() for caller in callers)
    return [type(one) for one in await asyncio.gather(*callers, return_exceptions=True)]


async def held(world):
    await world.serves()
    world.streams.gates["a"] = asyncio.Event()
    begun = world.write()
    await settle()
    return begun


async def test_ticks_and_reports_come_after_their_pauses_whatever_became_of_the_last_one(world):
    world.oracle.fails = 1
    world.root_coord.known = False
    given = []
    for second in range(1, 13):
        if second == 7:
            world.root_coord.known = True
        await world.clock.advance(1)
        given.append((world.oracle.given, len(world.root_coord.reports), world.proxy.serving.is_set()))
    assert given == [
        (0, 0, False), (0, 0, False), (0, 0, False), (1, 0, False), (1, 0, False), (2, 0, False),
        (2, 0, False), (3, 0, False), (3, 1, True), (4, 1, True), (4, 1, True), (5, 2, True),
    ]  # fmt: skip


async def test_calls_have_their_deadlines(world):
    world.root_coord.update_channel_time_tick = report = AsyncMock()
    world.streams.append = append = AsyncMock()
    await world.serves()
    await world.proxy.write(("a",))
    assert [one.await_args_list[0].kwargs for one in (report, append)] == [
        {"deadline": 13}, {"deadline": 11},
    ]  # fmt: skip


@pytest.mark.parametrize("part", ["ticker", "reports"])
async def test_an_error_that_no_edge_should_have_is_the_failure_of_the_proxy(world, part):
    broken = AsyncMock(side_effect=RuntimeError("a defect"))
    if part == "ticker":
        world.oracle.alloc = broken
    else:
        world.root_coord.update_channel_time_tick = broken
    await world.serves()
    assert str(world.proxy.supervisor.failure) == "a defect"
    assert not world.proxy.serving.is_set()


async def test_so_many_tasks_run_and_so_many_wait(world):
    await world.serves()
    world.streams.gates["a"] = asyncio.Event()
    writes = []
    for _ in range(5):
        writes.append(world.write())
        await settle()
    assert (world.streams.running, len(world.proxy.queue.unissued)) == (2, 1)
    world.streams.gates["a"].set()
    # The scheduler holds one task more: it takes the next worker that is free.
    assert (await errors_of(*writes)).count(QueueFullError) == 2
    world.streams.gates["a"].clear()
    writes = [world.write() for _ in range(3)]
    await settle()
    assert (world.streams.running, world.streams.most) == (2, 2), "a worker that has ended is one worker"
    world.streams.gates["a"].set()
    await errors_of(*writes)


CALLS = [
    (None, "an answer", None),
    (CollectionError("no such collection"), None, CollectionError),
    (RpcTimeoutError("late"), None, RpcTimeoutError),
]


@pytest.mark.parametrize(("error", "answer", "failure"), CALLS)
@pytest.mark.parametrize(("kind", "stamps"), [(QueueKind.DDL, [2, 3]), (QueueKind.QUERY, [0, 0])])
async def test_a_call_is_made_once_at_its_timestamp_and_keeps_its_answer(
    world, kind, stamps, error, answer, failure
):
    """A read has no timestamp."""
    await world.serves()
    call = AsyncMock(return_value="an answer", side_effect=error)
    for made in (1, 2):
        task = CallTask(("component",), call=call)
        await world.proxy.submit(task, kind)
        assert (task.answer, type(task.failure) if task.failure else None) == (answer, failure)
        assert task.succeeded == (failure is None)
        assert [one.args for one in call.await_args_list] == [(stamp,) for stamp in stamps[:made]]


async def test_a_defect_of_a_component_ends_the_proxy(world):
    await world.serves()
    task = CallTask(("component",), call=AsyncMock(side_effect=RuntimeError("a defect")))
    caller = asyncio.create_task(world.proxy.submit(task, QueueKind.DDL))
    await settle()
    assert str(world.proxy.supervisor.failure) == "a defect"
    await world.proxy.stop()
    assert await errors_of(caller) == [ProxyEndedError]


async def test_a_task_that_drops_itself_is_not_sent(world):
    class Dropped(DmlTask):
        async def prepare(self):
            self.drop(RpcError("not any more"))

    await world.serves()
    task = Dropped(("a", "b"))
    with pytest.raises(RpcError, match="not any more"):
        await world.proxy.submit(task)
    await settle()
    assert (task.phase, task.succeeded, world.streams.appended) == (TaskPhase.POPPED, False, [])


class Ids:
    """Gives ids from 1, once it may."""

    def __init__(self):
        self.asked, self.may_answer = [], asyncio.Event()

    async def allocate(self, count, *, deadline):
        self.asked.append((count, deadline))
        await self.may_answer.wait()
        return Batch(3 * len(self.asked) - 2, 3 * len(self.asked) - 3 + count)


async def test_each_task_has_an_id_of_its_own():
    ids = Ids()
    async with at_work(ids=ids) as world:
        ids.may_answer.set()
        await world.serves()
        tasks = [await world.proxy.write(("a",)) for _ in range(4)]
        assert [(task.id, task.number) for task in tasks] == [(1, 1), (2, 2), (3, 3), (4, 4)]
        assert (ids.asked, world.proxy.queues.pending) == ([(3, 17), (3, 17)], {})


async def test_a_caller_that_waits_for_an_id_hears_that_the_proxy_has_ended():
    ids = Ids()
    async with at_work(ids=ids) as world:
        await world.serves()
        write = world.write()
        await settle()
        assert (world.proxy.ids.asking, bool(ids.asked)) == (True, True)
        await world.proxy.stop()
        assert await errors_of(write) == [RpcError]


async def test_a_stop_ends_all_work_and_tells_the_callers(world):
    early = world.write()
    await settle()
    await world.proxy.stop()
    assert await errors_of(early) == [ProxyClosedError]
    world = World()
    begun = await held(world)
    await world.proxy.stop()
    assert await errors_of(begun, world.write()) == [ProxyEndedError, ProxyClosedError]
    assert (world.streams.running, world.proxy.meta.closed) == (0, True)
    given = world.oracle.given
    await world.clock.advance(6)
    assert (world.oracle.given, len(world.root_coord.reports)) == (given, 1)


async def test_a_close_waits_for_what_has_begun_and_then_ends_all_work(world):
    begun = await held(world)
    closing = asyncio.create_task(world.proxy.close())
    assert await errors_of(world.write()) == [ProxyClosedError]
    assert not closing.done()
    assert not world.proxy.meta.closed
    world.streams.gates["a"].set()
    assert await errors_of(begun, closing) == [DmlTask, type(None)]
    assert world.proxy.meta.closed


async def test_a_close_returns_when_the_proxy_ends_meanwhile(world):
    begun = await held(world)
    closing = asyncio.create_task(world.proxy.close())
    await settle()
    await world.proxy.stop()
    assert await errors_of(begun, closing) == [ProxyEndedError, type(None)]


async def test_a_read_is_refused_by_a_full_queue_and_by_a_proxy_that_closes():
    oracle: Any = None
    queue = QueryTaskQueue(oracle=oracle, preemption=NoPreemption(), capacity=1)
    first, late = DmlTask(("a",)), DmlTask(("a",))
    await queue.enqueue(first)
    with pytest.raises(QueueFullError):
        await queue.enqueue(late)
    queue.closing = True
    with pytest.raises(ProxyClosedError):
        await queue.enqueue(late)
    assert (list(queue.unissued), queue.entered) == ([first], 1)


async def test_a_caller_keeps_an_answer_that_it_has_not_read_yet_when_the_proxy_ends(world):
    begun = await held(world)
    [task] = world.proxy.queues.pending.values()
    task.answered.set()
    world.proxy.queues.cut()
    assert await errors_of(begun) == [DmlTask]


async def test_a_close_returns_when_the_last_read_has_ended(world):
    await world.serves()
    gate = asyncio.Event()
    caller = asyncio.create_task(
        world.proxy.submit(CallTask(("nodes",), call=lambda ts: gate.wait()), QueueKind.QUERY)
    )
    await settle()
    closing = asyncio.create_task(world.proxy.close())
    await settle()
    assert not closing.done()
    gate.set()
    await asyncio.wait_for(closing, 5)
    await caller
