"""Reads over channels: what a request asks of the nodes, and what a node answers."""

import asyncio
from typing import Any, cast

import pytest

from tests.impl.parts import run, settle
from tidemark.impl.errors import NotServableError, ReplicaClosedError, RpcError
from tidemark.impl.proxy.reads import ReadAnswer, ReaderConfig, ReadTask
from tidemark.impl.queries.reads import AskedRead, ChannelReads, HostNumbers, NodeFollower
from tidemark.impl.queries.values import QueryRequest, QueryResult
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.runtime import Supervisor
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.nearest import Nearest

FIRST = ReadAnswer((), {"a": 8, "b": 7, "c": 9})
NEAREST = Nearest(4, 2)


class Node:
    """A node that answers for the channels a and b, and the channel into which results are put."""

    node_id = "n"

    def __init__(self):
        self.supervisor = Supervisor()
        self.requests: asyncio.Queue[QueryRequest] = asyncio.Queue()
        self.next_request, self.asked, self.results, self.fault = self.requests.get, [], [], None

    async def serve(self, channel, read, *, deadline):
        self.asked.append((channel, read.guarantee, read.mvcc, read.keys, read.nearest, deadline))
        if self.fault:
            raise self.fault
        if channel not in "ab":
            raise ReplicaClosedError(f"{channel} is not here")
        if channel == "b":
            await asyncio.sleep(0)
        return ShardAnswer(12, ()) if channel == "a" else ShardAnswer(11, ())

    async def put(self, result):
        self.results.append(result)


@pytest.mark.parametrize(
    ("more", "guarantee", "moments"),
    [
        ({}, 5, {}),
        ({"keys": (2, 3)}, 5, {}),
        ({"nearest": NEAREST}, 5, {}),
        ({"page_of": FIRST}, 8, {"a": 8, "b": 7}),
    ],
)
def test_a_request_asks_for_its_channels_and_an_answer_has_no_others(more, guarantee, moments):
    async def scenario():
        asked = []

        class Requests:
            async def query(self, collection, channels, read):
                asked.append((collection, channels, read))
                return {channel: ShardAnswer(12, ()) for channel in "abc"}

        requests, nothing = cast("Any", Requests()), cast("Any", None)
        reads = ChannelReads(
            oracle=nothing, clock=nothing, requests=requests, config=ReaderConfig(deadline=2.5)
        )
        task = ReadTask(ConsistencyLevel.SESSION, ("a", "b"), collection="things", client_ts=5, **more)
        assert (await reads.execute(task)).moments == {"a": 12, "b": 12}
        keys, nearest = more.get("keys"), more.get("nearest")
        read = AskedRead(("a", "b"), guarantee, moments, keys, 2.5, nearest)
        assert asked == [("things", ("a", "b"), read)]

    run(scenario())


def test_a_node_answers_each_request_with_what_it_serves():
    async def scenario():
        node: Any = Node()
        following = asyncio.create_task(NodeFollower(node, node).follow(node))
        page = AskedRead(("a", "b"), 8, {"a": 8, "b": 7}, (2,), 2.5, NEAREST)
        await node.requests.put(QueryRequest(1, "things", page))
        await settle()
        assert node.asked == [("a", 8, 8, (2,), NEAREST, 2.5), ("b", 7, 7, (2,), NEAREST, 2.5)]
        assert node.results == [
            QueryResult(1, {"a": ShardAnswer(12, ()), "b": ShardAnswer(11, ())}, "n", None)
        ]
        await node.requests.put(QueryRequest(2, "things", AskedRead(("c", "a", "d"), 5, {}, None, 2.5)))
        await settle()
        assert node.asked[2] == ("c", 5, None, None, None, 2.5)
        result = node.results[1]
        assert (result.shards, str(result.refusal)) == ({"a": ShardAnswer(12, ())}, "c is not here")
        node.fault = NotServableError("busy")
        await node.requests.put(QueryRequest(3, "things", AskedRead(("a",), 5, {}, None, 2.5)))
        await settle()
        assert (node.results[2].shards, node.results[2].refusal) == ({}, node.fault)
        following.cancel()
        node.supervisor.check()

    run(scenario())


def test_a_request_has_an_id_of_the_proxy_as_its_number():
    async def scenario():
        class Proxy:
            ids = None

            async def serving(self):
                return self

            async def take(self, count):
                return [(7, 6 + count)] if count else []

        proxy: Any = Proxy()
        with pytest.raises(RpcError, match="this proxy has no source of ids"):
            await HostNumbers(proxy).next_id()
        proxy.ids = proxy
        assert await HostNumbers(proxy).next_id() == 7

    run(scenario())
