"""The channels of the query coordinator, and refusals that come before a write returns."""

import pytest

from tests.impl.parts import VirtualLoop
from tests.impl.queries.parts import THINGS
from tests.impl.queries.test_channel_reads import Cluster
from tidemark.impl.errors import ReplicaClosedError, RpcError
from tidemark.impl.queries.channels import QueryChannels
from tidemark.impl.queries.requests import PendingQuery, ResultCollector
from tidemark.impl.queries.values import QueryRequest, QueryResult

LOOP = VirtualLoop


async def test_a_request_that_no_node_reads_is_refused():
    channels = QueryChannels()
    channels.load("others")
    channels.load(THINGS)
    writer = await channels.channels(THINGS)
    with pytest.raises(ReplicaClosedError, match=r"request 1 .*no query node serves it"):
        await writer.write(QueryRequest(1, THINGS))
    channels.subscribe("others", "n")
    reader = channels.subscribe(THINGS, "n")
    assert await writer.write(QueryRequest(2, THINGS)) == ("n",)
    writer.close()
    with pytest.raises(ReplicaClosedError, match=r"request 3 .*its stream is closed"):
        await writer.write(QueryRequest(3, THINGS))
    assert list(reader.owed) == [2]
    await channels.put(QueryResult(2, {}, "n"))
    assert not reader.owed


async def test_a_released_collection_has_no_channels():
    channels = QueryChannels()
    channels.load(THINGS)
    channels.subscribe(THINGS, "n")
    channels.release(THINGS)
    with pytest.raises(ReplicaClosedError, match="not loaded"):
        channels.subscribe(THINGS, "m")
    with pytest.raises(ReplicaClosedError, match="not loaded"):
        await channels.channels(THINGS)
    channels.load(THINGS)
    with pytest.raises(ReplicaClosedError, match="no query node serves it"):
        await (await channels.channels(THINGS)).write(QueryRequest(1, THINGS))


async def test_a_refusal_that_comes_before_the_write_returns_ends_the_request_then():
    collector, query = ResultCollector(), PendingQuery(THINGS, ("a",))
    collector.enter(1, query)
    collector.take(QueryResult(1, {}, "n", RpcError("refused")))
    assert not query.over.is_set()
    collector.ask(1, ("n",))
    assert (query.over.is_set(), query.refused, collector.pending) == (True, True, {})


async def test_a_client_hears_why_its_node_refuses_one_of_two_shards():
    cluster = Cluster("b")
    with pytest.raises(RpcError, match="node 0 does not serve a"):
        await cluster.read()
    await cluster.stop()
