"""A query node's part of one collection, and its answers to requests."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from tidemark.impl.ports import Preemption
from tidemark.impl.queries.streams import Spawn
from tidemark.impl.queries.values import QueryRequest, QueryResult, ShardName


class RowFiles(Protocol):
    """Files of flushed segments, and the log behind them."""

    async def fetch(self, shard: ShardName, row: int) -> None:
        """Bring a row into memory. Raise StoreError."""


class RequestChannel(Protocol):
    """The request channel for one node.

    Milvus: DqRequestChannel
    """

    async def next_request(self) -> QueryRequest:
        """Wait for the next one. A node that has crashed may read a request again."""


class ResultChannel(Protocol):
    """The result channel for a node.

    Milvus: DqResultChannel
    """

    async def put(self, result: QueryResult) -> None:
        """Write a result. Raise RpcError."""


class CollectionReplica:
    """One collection at one query node.

    Attributes:
        loaded: the collection is loaded and not released.
        rows: rows in memory by shard. fetching: by shard the row that is on the way.
        serving: the shards that it serves, each with every row of the load.
    """

    def __init__(self, *, files: RowFiles, spawn: Spawn, preemption: Preemption) -> None:
        self.loaded = False
        self.rows: dict[ShardName, list[int]] = {}
        self.fetching: dict[ShardName, int] = {}
        self.serving: dict[ShardName, bool] = {}
        self.loads: dict[ShardName, asyncio.Task[None]] = {}
        self._files = files
        self._spawn = spawn
        self._preemption = preemption

    def load(self, shard: ShardName, rows: Sequence[int]) -> None:
        """Begin to load these rows of a shard; it is served when all are in memory."""
        self.loaded = True
        self.loads[shard] = self._spawn(lambda: self._load(shard, rows), f"load {shard}")

    async def _load(self, shard: ShardName, rows: Sequence[int]) -> None:
        for row in rows:
            await self._preemption.point("queries.fetch")
            self.fetching[shard] = row
            await self._files.fetch(shard, row)
            del self.fetching[shard]
            self.rows.setdefault(shard, []).append(row)
        await self._preemption.point("queries.serve")
        self.serving[shard] = True

    def release(self) -> None:
        """Drop everything; loads under way end."""
        self.stop_loads()
        self.loaded = False
        self.fetching.clear()
        self.rows.clear()
        self.serving.clear()

    def stop_loads(self) -> None:
        """End the loads under way."""
        for task in self.loads.values():
            task.cancel()
        self.loads.clear()

    def answer(self, request: QueryRequest) -> QueryResult | None:
        """The rows of the shards that it serves; None if it serves none."""
        if not self.serving:
            return None
        shards = {shard: tuple(self.rows.get(shard, ())) for shard in self.serving}
        return QueryResult(request.number, shards)

    async def follow(self, requests: RequestChannel, results: ResultChannel) -> None:
        """Answer the requests of the channel, one after the other. Ends with the task."""
        while True:
            result = self.answer(await requests.next_request())
            if result is not None:
                await results.put(result)
