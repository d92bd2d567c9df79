"""Requests of the cluster's proxies and results of its query nodes: several nodes, slow ones, a release."""

import asyncio

import pytest

from tests.impl.cluster.parts import client, until
from tidemark.impl.errors import NotServableError
from tidemark.impl.system.connection import RequestRefusedError
from tidemark.impl.timestamp import MILLISECOND
from tidemark.impl.values.consistency import ConsistencyLevel

STRONG = ConsistencyLevel.STRONG


class Held:
    """A query node whose answers wait, or are refused for some shards. ``asked``: how many reads came."""

    def __init__(self, node):
        self.asked = 0
        self.answered = 0
        self.may_answer = asyncio.Event()
        self.refused: list[str] = []
        self._serve, node.serve = node.serve, self.serve

    async def serve(self, channel, read, *, deadline=None):
        self.asked += 1
        await self.may_answer.wait()
        self.answered += 1
        if channel in self.refused:
            raise NotServableError(f"{channel} is refused")
        return await self._serve(channel, read, deadline=deadline)


async def test_a_release_ends_a_request_in_flight(cluster):
    user, other = client(cluster, 0), client(cluster, 1)
    await user.create("c")
    await user.insert("c", {1: "a"})
    quick, slow = (Held(node) for node in cluster.replicas.nodes.values())
    quick.refused = cluster.replicas.channels
    quick.may_answer.set()
    asked = asyncio.create_task(user.query("c", level=STRONG))
    await until(lambda: quick.answered == 1 and slow.asked == 1)
    quick.refused = []
    ahead = await user.insert("c", {3: "c"}) + 2000 * MILLISECOND
    waits = asyncio.create_task(user.query("c", level=ConsistencyLevel.CUSTOMIZED, at_least=ahead))
    await until(lambda: quick.answered == 2)  # it waits for its guarantee: the release refuses it
    await other.release("c")
    for read in (asked, waits):
        with pytest.raises(RequestRefusedError, match=r"ReplicaClosedError: .*'c .* was released; load it"):
            await read
    with pytest.raises(RequestRefusedError, match=r"ReplicaClosedError: .* is not loaded; load it"):
        await other.query("c")
    slow.may_answer.set()
    for requests in cluster.requests:
        assert requests.collector.pending == {}
        assert requests.streams.streams == {}
        await until(lambda: requests.streams.removed == [])  # noqa: B023
    await user.insert("c", {2: "b"})
    quick.refused = []
    await user.load("c")
    await user.load("c")
    assert (await other.query("c", level=STRONG)).rows == {1: "a", 2: "b", 3: "c"}
