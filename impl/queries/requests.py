"""A proxy's requests over channels: written, then waiting until each shard has answered."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tidemark.impl.errors import ReplicaClosedError, RpcError, RpcTimeoutError
from tidemark.impl.ports import Preemption
from tidemark.impl.queries.streams import QueryStreams
from tidemark.impl.queries.values import Asked, Found, Numbers, QueryRequest, QueryResult, ShardName


class Results(Protocol):
    """The result channel for a proxy."""

    async def next_result(self) -> QueryResult:
        """Wait for the next one. It may come late, or twice."""


@dataclass(eq=False)
class PendingQuery:
    """A waiting request. ``shards``: whose rows it needs. ``rows``: those that have come, by shard.

    asked: the nodes that it is for; None until the write has returned, or if unknown. heard: the nodes whose
    results have come. refusal: why one of them does not answer.
    """

    collection: str
    shards: tuple[ShardName, ...]
    rows: dict[ShardName, Found] = field(default_factory=dict)
    asked: Collection[str] | None = None
    heard: set[str] = field(default_factory=set)
    refusal: RpcError | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def complete(self) -> bool:
        """Each shard has answered."""
        return all(shard in self.rows for shard in self.shards)

    @property
    def refused(self) -> bool:
        """No result is to come: all asked nodes have answered, and one has refused."""
        return self.refusal is not None and self.asked is not None and self.heard.issuperset(self.asked)


class ResultCollector:
    """The map of the waiting requests, by their numbers (seed 004, 6.6.1)."""

    def __init__(self) -> None:
        self.pending: dict[int, PendingQuery] = {}

    def enter(self, number: int, query: PendingQuery) -> None:
        """The request waits from now on."""
        self.pending[number] = query

    def leave(self, number: int) -> None:
        """The request has ended. Does nothing if it is not in the map."""
        self.pending.pop(number, None)

    def take(self, result: QueryResult) -> None:
        """Give a result to its request. It is dropped if the request has ended."""
        query = self.pending.get(result.number)
        if query is None:
            return
        query.rows.update(result.shards)
        query.heard.add(result.node)
        query.refusal = query.refusal or result.refusal
        self._end_if_told(result.number, query)

    def ask(self, number: int, nodes: Collection[str] | None) -> None:
        """The request is written, for these nodes. Some of their results may have come before."""
        query = self.pending.get(number)
        if query is not None:
            query.asked = nodes
            self._end_if_told(number, query)

    def _end_if_told(self, number: int, query: PendingQuery) -> None:
        if query.complete or query.refused:
            del self.pending[number]
            query.over.set()

    def end(self, collection: str) -> None:
        """The collection is released: its requests end."""
        for number, query in list(self.pending.items()):
            if query.collection == collection:
                del self.pending[number]
                query.over.set()


class ChannelReader:
    """Queries of the clients of one proxy, over channels.

    Milvus: ReleaseCollection, ReleaseDqlMessageStream

    Args:
        deadline: how long a request may take, in seconds; None: as long as it needs.
    """

    def __init__(
        self,
        *,
        numbers: Numbers,
        streams: QueryStreams,
        collector: ResultCollector,
        preemption: Preemption,
        deadline: float | None,
    ) -> None:
        self.streams = streams
        self.collector = collector
        self._numbers = numbers
        self._preemption = preemption
        self._deadline = deadline

    async def follow(self, results: Results) -> None:
        """Distribute the results of the channel, one after the other. Ends with the task."""
        while True:
            self.collector.take(await results.next_result())

    async def query(
        self, collection: str, shards: Sequence[ShardName], asked: Asked = None
    ) -> Mapping[ShardName, Found]:
        """The rows of each shard.

        Raise ReplicaClosedError if the collection is not loaded or is released meanwhile, RpcTimeoutError
        after the deadline, RpcError if there is no number, and the refusal of a node.
        """
        number = await self._numbers.next_id()
        query = PendingQuery(collection, tuple(shards))
        try:
            async with asyncio.timeout(self._deadline):
                await self._write(QueryRequest(number, collection, asked), query)
                await query.over.wait()
                await self._preemption.point("queries.reply")
        except TimeoutError as late:
            raise RpcTimeoutError(
                f"request {number} was not answered within {self._deadline} s; ask again"
            ) from late
        finally:
            self.collector.leave(number)
        if query.refused and not query.complete:
            assert query.refusal is not None
            raise query.refusal
        if not query.complete:
            raise ReplicaClosedError(f"collection {collection!r} was released; load it and ask again")
        return query.rows

    async def _write(self, request: QueryRequest, query: PendingQuery) -> None:
        """Enter the map, and then write: an early result finds its request."""
        stream = await self.streams.hold(request.collection, request.number)
        try:
            self.collector.enter(request.number, query)
            assert stream.writer is not None
            nodes = await stream.writer.write(request)
            self.collector.ask(request.number, nodes)
            await self._preemption.point("queries.written")
        finally:
            stream.let_go(request.number)

    def release(self, collection: str) -> None:
        """A release of the query coordinator: streams are removed, requests end."""
        self.streams.remove(collection)
        self.collector.end(collection)
