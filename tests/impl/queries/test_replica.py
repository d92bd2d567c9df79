"""What a query node answers while it loads, serves and releases."""

from __future__ import annotations

import asyncio

from tests.impl.parts import run, settle
from tidemark.impl.queries.replica import CollectionReplica
from tidemark.impl.queries.values import QueryRequest, QueryResult
from tidemark.impl.runtime import NoPreemption, Supervisor

REQUEST = QueryRequest(7, "things")


class Files:
    """Rows that are fetched when they may be."""

    def __init__(self) -> None:
        self.may_come = asyncio.Semaphore(0)

    async def fetch(self, shard: str, row: int) -> None:
        """Wait for its turn."""
        del shard, row
        await self.may_come.acquire()


def _node(files: Files) -> CollectionReplica:
    return CollectionReplica(files=files, spawn=Supervisor().spawn, preemption=NoPreemption())


def test_a_node_answers_for_a_shard_when_all_its_rows_are_loaded():
    run(_a_node_answers_for_a_shard_when_all_its_rows_are_loaded())


async def _a_node_answers_for_a_shard_when_all_its_rows_are_loaded():
    files = Files()
    node = _node(files)
    node.load("a", [1, 2])
    node.load("b", [])
    await settle()
    assert node.answer(REQUEST) == QueryResult(7, {"b": ()})
    files.may_come.release()
    await settle()
    assert (node.rows, node.fetching) == ({"a": [1]}, {"a": 2})
    assert node.answer(REQUEST) == QueryResult(7, {"b": ()})
    files.may_come.release()
    await settle()
    assert node.answer(REQUEST) == QueryResult(7, {"b": (), "a": (1, 2)})


def test_a_release_in_the_middle_of_a_load_leaves_nothing():
    run(_a_release_in_the_middle_of_a_load_leaves_nothing())


async def _a_release_in_the_middle_of_a_load_leaves_nothing():
    files = Files()
    node = _node(files)
    node.load("a", [1])
    node.load("b", [])
    await settle()
    node.release()
    files.may_come.release()
    await settle()
    assert (node.loaded, node.rows, node.fetching, node.serving, node.loads) == (False, {}, {}, {}, {})
    assert node.answer(REQUEST) is None


def test_a_node_writes_a_result_for_each_request_that_it_can_answer():
    run(_a_node_writes_a_result_for_each_request_that_it_can_answer())


async def _a_node_writes_a_result_for_each_request_that_it_can_answer():
    requests: asyncio.Queue[QueryRequest] = asyncio.Queue()
    results: list[QueryResult] = []
    node = _node(Files())

    class Channels:
        async def next_request(self) -> QueryRequest:
            return await requests.get()

        async def put(self, result: QueryResult) -> None:
            results.append(result)

    following = asyncio.create_task(node.follow(Channels(), Channels()))
    requests.put_nowait(QueryRequest(1, "things"))
    await settle()
    node.load("a", [])
    await settle()
    requests.put_nowait(QueryRequest(2, "things"))
    requests.put_nowait(QueryRequest(2, "things"))  # read again after a crash
    await settle()
    assert results == [QueryResult(2, {"a": ()}), QueryResult(2, {"a": ()})]
    following.cancel()
