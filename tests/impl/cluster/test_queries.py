"""Requests of the cluster's proxies and results of its query nodes: several nodes, slow ones, a release."""

import asyncio

import pytest

from tests.impl.cluster.parts import client, running, until
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


async def test_a_read_needs_each_shard_from_some_node_and_no_slow_one(tmp_path):
    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        await user.create("c", shards=2)
        rows = dict.fromkeys(range(6), "v")
        await user.insert("c", rows)
        first, second = (Held(node) for node in cluster.replicas.nodes.values())
        pending = cluster.requests[0].collector.pending
        first.may_answer.set()
        assert (await user.query("c", level=STRONG)).rows == rows
        await until(lambda: second.asked == 2)
        assert (pending, second.answered) == ({}, 0)
        first.refused, second.refused = ([name] for name in cluster.replicas.channels)
        asked = asyncio.create_task(user.query("c", level=STRONG))
        await until(lambda: first.answered == 4 and second.asked == 4)
        assert len(pending) == 1
        second.may_answer.set()  # also the result that comes too late
        assert (await asked).rows == rows
        second.refused = first.refused
        with pytest.raises(RequestRefusedError, match=r"NotServableError: .* is refused"):
            await user.query("c", level=STRONG)
        assert pending == {}
        for number in (0, 1):
            await cluster.replicas.kill(number)
        with pytest.raises(RequestRefusedError, match="no query node serves it; ask again"):
            await user.query("c", level=STRONG)
        await cluster.replicas.revive(1)
        assert (await user.query("c", level=STRONG)).rows == rows


async def test_a_release_ends_a_request_in_flight(tmp_path):
    async with running(tmp_path) as cluster:
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
            with pytest.raises(
                RequestRefusedError, match=r"ReplicaClosedError: .*'c .* was released; load it"
            ):
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
