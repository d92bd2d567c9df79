"""Reads over channels: the requests of proxies, and the answers of query nodes (seed 004, 6.2 and 6.6.1)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.gateway import Host
from tidemark.impl.proxy.reads import ReadClock, ReaderConfig, ReadPath, ReadTask
from tidemark.impl.queries.replica import RequestChannel, ResultChannel
from tidemark.impl.queries.requests import ChannelReader
from tidemark.impl.queries.values import QueryRequest, QueryResult
from tidemark.impl.querynode.query_node import QueryNode
from tidemark.impl.querynode.values import ShardAnswer, ShardRead
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.nearest import Nearest
from tidemark.impl.values.oracle import Oracle


@dataclass(frozen=True)
class AskedRead:
    """The request of a read to each channel: see ShardRead.

    moments: by channel the moment that a further page shows; empty if this is none. deadline: in seconds, of
    the node.
    """

    channels: tuple[ChannelName, ...]
    guarantee: Timestamp
    moments: Mapping[ChannelName, Timestamp]
    keys: tuple[int, ...] | None
    deadline: float
    nearest: Nearest | None = None


class NodeFollower:
    """Answers the requests of one collection at one query node, each in a task of its own."""

    def __init__(self, node: QueryNode, results: ResultChannel) -> None:
        self._node = node
        self._results = results

    async def follow(self, requests: RequestChannel) -> None:
        """Take up one request after the other. Ends with the task."""
        while True:
            request = await requests.next_request()
            self._node.supervisor.spawn(partial(self._answer, request), f"request {request.number}")

    async def _answer(self, request: QueryRequest) -> None:
        asked: AskedRead = request.asked
        found = await asyncio.gather(*(self._serve(asked, channel) for channel in asked.channels))
        answers = dict(zip(asked.channels, found, strict=True))
        refusals = [answer for answer in found if isinstance(answer, RpcError)]
        shards = {c: answer for c, answer in answers.items() if not isinstance(answer, RpcError)}
        refusal = refusals[0] if refusals else None
        await self._results.put(QueryResult(request.number, shards, self._node.node_id, refusal))

    async def _serve(self, asked: AskedRead, channel: ChannelName) -> ShardAnswer | RpcError:
        moment = asked.moments.get(channel)
        guarantee = asked.guarantee if moment is None else moment
        read = ShardRead(guarantee, mvcc=moment, keys=asked.keys, nearest=asked.nearest)
        try:
            return await self._node.serve(channel, read, deadline=asked.deadline)
        except RpcError as refusal:
            return refusal


class HostNumbers:
    """Numbers of requests: ids of the present proxy. Two proxies never have one number."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def next_id(self) -> int:
        """See Numbers."""
        ids = (await self._host.serving()).ids
        if ids is None:
            raise RpcError("this proxy has no source of ids; a request needs one as its number")
        ((first, _),) = await ids.take(1)
        return first


class ChannelReads(ReadPath):
    """Reads that ask every node of the collection at once, and wait for a result of each channel."""

    def __init__(
        self,
        *,
        oracle: Oracle,
        clock: ReadClock,
        requests: ChannelReader,
        config: ReaderConfig | None = None,
    ) -> None:
        super().__init__(oracle=oracle, clock=clock, config=config)
        self.requests = requests

    async def _answers(self, task: ReadTask) -> Mapping[ChannelName, ShardAnswer]:
        asked = AskedRead(
            task.channels, task.guarantee, task.moments, task.keys, self._config.deadline, task.nearest
        )
        found = await self.requests.query(task.collection, task.channels, asked)
        return {channel: found[channel] for channel in task.channels}
