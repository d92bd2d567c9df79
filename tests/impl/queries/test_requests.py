"""Requests and streams of a proxy on a plain event loop."""

import asyncio

import pytest

from tests.impl.parts import settle
from tests.impl.queries.parts import THINGS, Proxy
from tidemark.impl.errors import ReplicaClosedError, RpcTimeoutError
from tidemark.impl.queries.streams import StreamPhase


async def test_a_request_that_is_late_keeps_nothing():
    proxy = Proxy(deadline=0.2)
    stream = await proxy.streams.hold(THINGS, 99)
    proxy.coordinator.made[0].may_return.clear()
    asked = proxy.ask()
    await settle()
    assert (stream.writers, list(proxy.collector.pending)) == ([99, 1], [1])
    with pytest.raises(RpcTimeoutError, match=r"request 1 .* 0\.2 s"):
        await asked
    assert (stream.writers, proxy.collector.pending) == ([99], {})
    proxy.bring(1, a=(), b=())


async def test_a_release_ends_requests_and_closes_the_stream_after_its_last_writer():
    proxy = Proxy()
    waits = proxy.ask()
    await settle()
    [writer] = proxy.coordinator.made
    writer.may_return.clear()
    writes = proxy.ask()
    await settle()
    proxy.coordinator.loaded = False
    proxy.reader.release("others")
    assert list(proxy.collector.pending) == [1, 2]
    proxy.reader.release(THINGS)
    proxy.reader.release(THINGS)  # once more: there is nothing left to remove
    with pytest.raises(ReplicaClosedError, match="'things' was released"):
        await waits
    await settle()
    assert (writes.done(), writer.closed, len(proxy.streams.removed)) == (False, False, 1)
    writer.may_return.set()
    with pytest.raises(ReplicaClosedError, match="'things' was released"):
        await writes
    await settle()
    assert (writer.closed, proxy.streams.removed, proxy.streams.streams) == (True, [], {})
    with pytest.raises(ReplicaClosedError, match="not loaded"):
        await proxy.ask()
    proxy.supervisor.check()


async def test_a_stream_that_is_released_in_the_making_is_made_anew():
    proxy = Proxy()
    stopped = asyncio.Event()

    class Stops:
        async def point(self, name):
            if name == "queries.open":
                await stopped.wait()

    proxy.streams._preemption = Stops()
    asked = proxy.ask()
    await settle()
    proxy.reader.release(THINGS)
    assert proxy.coordinator.made[0].closed
    assert proxy.streams.removed == []
    stopped.set()
    await settle()
    first, second = proxy.coordinator.made
    assert (first.requests, len(second.requests)) == ([], 1)
    proxy.bring(1, a=(), b=())
    assert await asked == {"a": (), "b": ()}


async def test_the_request_that_asked_hears_the_refusal_and_the_other_one_asks_itself():
    proxy = Proxy()
    proxy.coordinator.may_answer.clear()
    proxy.coordinator.loaded = False
    first, second = proxy.ask(), proxy.ask()
    await settle()
    proxy.reader.release(THINGS)  # nothing is known of the stream yet: it stays
    assert proxy.streams.streams[THINGS].phase is StreamPhase.NEW
    assert proxy.coordinator.asked == 1
    proxy.coordinator.may_answer.set()
    for asked in (first, second):
        with pytest.raises(ReplicaClosedError, match="'things' is not loaded"):
            await asked
    assert proxy.coordinator.asked == 2
    assert proxy.streams.streams == {}
