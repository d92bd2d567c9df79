"""Between proxies that ask all nodes of a collection and these: the real channels of requests and results,
and a step for each request and each result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from functools import partial

from tidemark.impl.queries.channels import QueryChannels, RequestReader, RequestWriter, ResultReader
from tidemark.impl.queries.requests import ChannelReader, ResultCollector
from tidemark.impl.queries.streams import QueryStreams
from tidemark.impl.queries.values import QueryRequest, QueryResult
from tidemark.impl.runtime import NoPreemption, Work
from tidemark.models.protocols.common.gate import Gate
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

COLLECTION = "things"
NUMBER: ContextVar[int] = ContextVar("number")
"""The request that the present task of a node answers."""


class Between:
    """The channels of requests and results.

    Attributes:
        readers: by node what it reads. results: what the proxies read.
        writes: what the step of a request is called.
    """

    writes = "ask"

    def __init__(self, world: World) -> None:
        self.channels = QueryChannels()
        self.channels.load(COLLECTION)
        self.gate = Gate(world)
        self.readers: dict[str, RequestReader] = {}
        self.world = world
        self.results: list[ResultReader] = []
        self._put: list[tuple[int, str, bool, str]] = []

    def changed(self) -> None:
        """Something has changed here: those who wait look again."""
        self.gate.look()

    def written(self, number: int) -> None:
        """A request is in the channel."""
        del number
        self.changed()

    def content(self, result: QueryResult) -> str:
        """What a result holds that influences what happens next."""
        return repr(sorted(result.shards.items()))

    def come(self, node: str) -> RequestsOf:
        """A node reads requests from now on."""
        reader = self.readers[node] = self.channels.subscribe(COLLECTION, node)
        self.changed()
        return RequestsOf(self, reader)

    def leave(self, node: str) -> None:
        """The node is known to have left: what it owes is refused."""
        self._put += [(number, node, False, "") for number in sorted(self.readers[node].owed)]
        self.channels.unsubscribe(COLLECTION, node)
        self.changed()

    def proxy(self) -> ResultsFor:
        """A proxy reads results from now on."""
        self.results.append(self.channels.results())
        return ResultsFor(self, self.results[-1])

    async def put(self, result: QueryResult) -> None:
        """See ResultChannel. It is there in the step in which its rows were collected; the proxy may hear it
        at any time.
        """
        self._put.append((result.number, result.node, result.refusal is None, self.content(result)))
        await self.channels.put(result)
        self.changed()

    def memory(self) -> Hashable:
        """What influences what happens next."""
        readers = ((name, one.left.qsize(), tuple(one.owed)) for name, one in sorted(self.readers.items()))
        unread = (tuple(self._put[len(self._put) - one.left.qsize() :]) for one in self.results)
        return tuple(readers), tuple(unread), self.gate.view()


class RequestsOf:
    """The request channel as one node reads it."""

    def __init__(self, between: Between, reader: RequestReader) -> None:
        self._between = between
        self._reader = reader

    async def next_request(self) -> QueryRequest:
        """See RequestChannel. What the node does for it knows its number."""
        queue = self._reader.left
        found: QueryRequest = await self._between.gate.operation(
            "request", lambda: not queue.empty(), queue.get_nowait
        )
        NUMBER.set(found.number)
        return found


class ResultsFor:
    """The result channel as one proxy reads it."""

    def __init__(self, between: Between, reader: ResultReader) -> None:
        self._between = between
        self._reader = reader

    async def next_result(self) -> QueryResult:
        """See Results."""
        queue = self._reader.left
        found: QueryResult = await self._between.gate.operation(
            "hear", lambda: not queue.empty(), queue.get_nowait
        )
        return found


class Coordinator:
    """The query coordinator as a proxy sees it."""

    def __init__(self, between: Between) -> None:
        self._between = between

    async def channels(self, collection: str) -> Requests:
        """See QueryCoordinatorClient."""
        return Requests(self._between, await self._between.channels.channels(collection))


class Requests:
    """A stream into the request channel, with a step for each write."""

    def __init__(self, between: Between, writer: RequestWriter) -> None:
        self._between = between
        self._writer = writer

    async def write(self, request: QueryRequest) -> tuple[str, ...]:
        """See Writer."""
        await self._between.world.operation(f"{self._between.writes} {request.number}", lambda: None)
        nodes = await self._writer.write(request)
        self._between.written(request.number)
        return nodes

    def close(self) -> None:
        """See Writer."""
        self._writer.close()


class NumberOfTheRead:
    """A number of a request: that of the read."""

    async def next_id(self) -> int:
        """See Numbers."""
        task = asyncio.current_task()
        assert task is not None
        return int(task.get_name().removeprefix("read "))


def reader_over(
    between: Between,
    process: Process,
    spawn: Callable[[Work, str], asyncio.Task[None]],
    collector: ResultCollector,
) -> ChannelReader:
    """Who reads for one proxy over the channels. Its results are taken up by a task of its own."""
    streams = QueryStreams(coordinator=Coordinator(between), spawn=spawn, preemption=NoPreemption())
    reader = ChannelReader(
        numbers=NumberOfTheRead(), streams=streams, collector=collector, preemption=process, deadline=None
    )
    spawn(partial(reader.follow, between.proxy()), "results")
    return reader
