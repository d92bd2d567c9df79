"""A coordinator, its streams and a proxy's reader that these tests wind by hand."""

import asyncio
import itertools
from collections.abc import Mapping

from tidemark.impl.errors import ReplicaClosedError
from tidemark.impl.queries.requests import ChannelReader, ResultCollector
from tidemark.impl.queries.streams import QueryStreams
from tidemark.impl.queries.values import QueryRequest, QueryResult
from tidemark.impl.runtime import NoPreemption, Supervisor

THINGS = "things"
Rows = Mapping[str, tuple[int, ...]]


class Writer:
    """A stream. ``may_return``: writes return from now on."""

    def __init__(self) -> None:
        self.requests: list[QueryRequest] = []
        self.closed = False
        self.may_return = asyncio.Event()
        self.may_return.set()

    async def write(self, request: QueryRequest) -> None:
        """The request is in the channel at once; the write returns later."""
        assert not self.closed, f"request {request.number} is written to a closed stream"
        self.requests.append(request)
        await self.may_return.wait()

    def close(self) -> None:
        self.closed = True


class Coordinator:
    """Says where the channels are. ``loaded``: it has the collection. ``may_answer``: it answers now."""

    def __init__(self) -> None:
        self.loaded = True
        self.asked = 0
        self.made: list[Writer] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def channels(self, collection: str) -> Writer:
        """A stream of its own for each that asks."""
        self.asked += 1
        await self.may_answer.wait()
        if not self.loaded:
            raise ReplicaClosedError(f"collection {collection!r} is not loaded")
        self.made.append(Writer())
        return self.made[-1]


class Numbers:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    async def next_id(self) -> int:
        return next(self._numbers)


class Proxy:
    """A reader with its coordinator. Two shards, ``a`` and ``b``, are needed."""

    def __init__(self, *, deadline: float | None = None) -> None:
        self.coordinator = Coordinator()
        self.supervisor = Supervisor()
        self.collector = ResultCollector()
        self.streams = QueryStreams(
            coordinator=self.coordinator, spawn=self.supervisor.spawn, preemption=NoPreemption()
        )
        self.reader = ChannelReader(
            numbers=Numbers(),
            streams=self.streams,
            collector=self.collector,
            preemption=NoPreemption(),
            deadline=deadline,
        )

    def ask(self) -> asyncio.Task[Rows]:
        return asyncio.create_task(self.reader.query(THINGS, ("a", "b")))

    def bring(self, number: int, **shards: tuple[int, ...]) -> None:
        self.collector.take(QueryResult(number, shards))
