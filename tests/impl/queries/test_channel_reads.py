"""Reads over the channels of two shards: nodes that refuse, leave and come; further pages and searches."""

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from tests.impl.parts import run
from tests.impl.queries.parts import THINGS, Numbers
from tidemark.impl.errors import ReplicaClosedError, RpcError
from tidemark.impl.proxy.reads import ReadTask
from tidemark.impl.queries.channels import QueryChannels
from tidemark.impl.queries.reads import AskedRead, ChannelReads, HostNumbers, NodeFollower
from tidemark.impl.queries.requests import ChannelReader, ResultCollector
from tidemark.impl.queries.streams import QueryStreams
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.runtime import NoPreemption, Supervisor
from tidemark.impl.types import Row
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.nearest import Nearest

SHARDS = ("a", "b")
ROWS = {
    "a": (Row(8, 2, 4, "new"), Row(4, 1, 9, "far"), Row(3, 1, 4, "old"), Row(9, 1, 1, "since")),
    "b": (Row(6, 3, 6, "tie"), Row(2, 3, 5, "here"), Row(8, 3, 11, "since, and not above the other moment")),
}
FIRST, LATER = {"a": 8, "b": 7}, {"a": 12, "b": 11}


async def pause():
    await asyncio.sleep(0.001)


class Answering(Supervisor):
    """Knows the tasks that answer requests: those of the whole process may be many."""

    def __init__(self):
        super().__init__()
        self.answering = []

    def spawn(self, work, name):
        task = super().spawn(work, name)
        if name.startswith("request "):
            self.answering.append(task)
        return task


class Node:
    """A query node as its follower sees it. ``serves``: shards. ``asked``: what it was asked, by shard."""

    def __init__(self, number, serves):
        self.node_id, self.serves = str(number), serves
        self.supervisor = Answering()
        self.moments, self.asked = FIRST, []
        self.reader = None

    async def serve(self, channel, read, *, deadline):
        del deadline
        if channel not in self.serves:
            raise ReplicaClosedError(f"node {self.node_id} does not serve {channel}")
        self.asked.append((channel, read.guarantee, read.mvcc))
        moment = self.moments[channel] if read.mvcc is None else read.mvcc
        rows = tuple(row for row in ROWS[channel] if row.ts <= moment)
        return ShardAnswer(moment, rows if read.nearest is None else read.nearest.cut(rows))


class Cluster:
    """One proxy, and nodes that read the requests, but for one that comes later."""

    def __init__(self, *serves, late=None):
        self.channels, self.supervisor = QueryChannels(), Supervisor()
        self.channels.load(THINGS)
        self.heard = self.channels.results()
        self.reader = ChannelReader(
            numbers=Numbers(),
            streams=QueryStreams(
                coordinator=self.channels, spawn=self.supervisor.spawn, preemption=NoPreemption()
            ),
            collector=ResultCollector(),
            preemption=NoPreemption(),
            deadline=None,
        )
        self.supervisor.spawn(partial(self.reader.follow, self.channels.results()), "results")
        self.nodes = [Node(number, shards) for number, shards in enumerate(serves)]
        for number in range(len(serves)):
            if number != late:
                self.come(number)
        unused: Any = None
        self.reads = ChannelReads(oracle=unused, clock=unused, requests=self.reader)

    def come(self, number):
        node = self.nodes[number]
        node.reader = self.channels.subscribe(THINGS, node.node_id)
        node.supervisor.spawn(partial(NodeFollower(node, self).follow, node.reader), "requests")

    async def put(self, result):
        await pause()
        await self.channels.put(result)

    async def leave(self, number):
        """It is known at once that the node reads no more, and then its tasks end."""
        node, self.nodes[number].reader = self.nodes[number], None
        self.channels.unsubscribe(THINGS, node.node_id)
        await node.supervisor.stop()

    async def release(self):
        self.channels.release(THINGS)
        for number in range(len(self.nodes)):
            await self.leave(number)
        self.reader.release(THINGS)

    async def stop(self):
        for supervisor in (self.supervisor, *(node.supervisor for node in self.nodes)):
            await supervisor.stop()

    async def read(self, *channels, **more):
        task = ReadTask(ConsistencyLevel.EVENTUALLY, channels or SHARDS, collection=THINGS, **more)
        return await self.reads.execute(task)

    def refused_in_vain(self):
        """Whether a node still owes its answer, or each shard has been answered."""
        results = [self.heard.left.get_nowait() for _ in range(self.heard.left.qsize())]
        owes = any(node.reader is not None and node.reader.owed for node in self.nodes)
        return owes or {shard for result in results for shard in result.shards} == {*SHARDS}


@pytest.mark.every_order(merge=True)
@pytest.mark.parametrize(
    ("serves", "happens", "fates"),
    [
        (("a", "b"), None, {"answered"}),
        (("a", "ab"), ("leave", 1), {"answered", "refused"}),
        (("", "ab"), ("come", 1), {"answered", "refused"}),
        (("ab",), ("leave", 0), {"answered", "refused"}),
        (("ab",), ("release",), {"answered", "refused"}),
    ],
)
async def test_a_request_ends_when_the_nodes_that_it_was_written_for_have_answered_or_left(
    serves, happens, fates
):
    cluster = Cluster(*serves, late=1 if happens and happens[0] == "come" else None)

    async def ask():
        try:
            answer = await cluster.reader.query(THINGS, SHARDS, AskedRead(SHARDS, 0, {}, None, 0.0))
        except RpcError:
            assert happens == ("release",) or not cluster.refused_in_vain()
            return "refused"
        assert set(answer) == {*SHARDS}
        return "answered"

    async def happen():
        await pause()
        found = getattr(cluster, happens[0])(*happens[1:]) if happens else None
        if found is not None:
            await found

    fate, _ = await asyncio.gather(ask(), happen())
    assert fate in fates
    answering = [task for node in cluster.nodes for task in node.supervisor.answering]
    await asyncio.gather(*answering, return_exceptions=True)
    assert not any(node.reader is not None and node.reader.owed for node in cluster.nodes)
    assert cluster.reader.collector.pending == {}
    await cluster.stop()


@pytest.mark.parametrize(("serves", "further"), [(("a", "b"), SHARDS), (("ab", "b"), ("b",))])
def test_a_further_page_asks_each_shard_for_the_moment_of_the_first(serves, further):
    async def read():
        cluster = Cluster(*serves)
        first = await cluster.read()
        for node in cluster.nodes:
            node.moments, node.asked = LATER, []
        found = await cluster.read(*further, page_of=first)
        await cluster.stop()
        assert found.moments == {shard: FIRST[shard] for shard in further}
        assert set(found.rows) == {row for shard in further for row in ROWS[shard] if row.ts <= FIRST[shard]}
        asked = {one for node in cluster.nodes for one in node.asked}
        assert asked >= {(shard, FIRST[shard], FIRST[shard]) for shard in further}
        assert asked <= {(shard, FIRST[shard], FIRST[shard]) for shard in SHARDS}

    run(read())


@pytest.mark.parametrize("serves", [("a", "ab"), ("a", "b")])
@pytest.mark.parametrize(
    ("place", "limit", "values"), [(5, 3, ["here", "new", "tie"]), (7, 9, ["tie", "here", "far", "new"])]
)
def test_a_search_brings_the_nearest_rows_of_all_shards_each_key_once(serves, place, limit, values):
    async def read():
        cluster = Cluster(*serves)
        found = await cluster.read(nearest=Nearest(place, limit))
        await cluster.stop()
        assert [row.value for row in found.rows] == values
        assert found.moments == FIRST

    run(read())


def test_a_request_has_an_id_of_the_proxy_that_serves():
    async def ask(taken):
        async def take(count):
            assert count == 1
            return [(7, 8)]

        async def serving():
            return SimpleNamespace(ids=SimpleNamespace(take=take) if taken else None)

        return await HostNumbers(SimpleNamespace(serving=serving)).next_id()

    async def both():
        assert await ask(taken=True) == 7
        with pytest.raises(RpcError, match="no source of ids"):
            await ask(taken=False)

    run(both())
