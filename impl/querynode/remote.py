"""A query node in another process: its answers, and a proxy's calls."""

import asyncio
from collections.abc import Awaitable, Callable

from tidemark.impl.errors import NotServableError, RpcTimeoutError
from tidemark.impl.querynode.query_node import QueryNode
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.system.connection import ConnectionLostError, Json, RequestRefusedError, TcpConnection
from tidemark.impl.system.line_server import Handler
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, Row

Connect = Callable[[int], Awaitable[TcpConnection]]
"""Connects to a port. Raises ConnectionLostError."""


def answers_of(node: QueryNode) -> Handler:
    """Answers the calls of ``RemoteReplica``."""

    async def handle(method: str, given: Json) -> Json:
        if method != "query":
            raise ValueError(f"method {method!r} is not known; query is")
        answer = await node.query(
            given["channel"],
            guarantee=given["guarantee"],
            mvcc=given["mvcc"],
            keys=None if given["keys"] is None else tuple(given["keys"]),
            deadline=given["deadline"],
        )
        rows = [[row.ts, row.segment_id, row.key, row.value] for row in answer.rows]
        return {"moment": answer.moment, "rows": rows}

    return handle


class RemoteReplica:
    """A ``Replica`` of the proxy's read path, at a port of this machine. ``answered``: how many reads."""

    def __init__(self, port: int, *, connect: Connect = TcpConnection.to) -> None:
        self.answered = 0
        self._port = port
        self._connect_to = connect
        self._connection: TcpConnection | None = None
        self._connecting = asyncio.Lock()

    async def query(
        self,
        channel: ChannelName,
        *,
        guarantee: Timestamp,
        mvcc: Timestamp | None,
        keys: tuple[int, ...] | None,
        deadline: float,
    ) -> ShardAnswer:
        """See Replica. The deadline holds here, too: a stopped process does not answer."""
        asked = {"channel": channel, "guarantee": guarantee, "mvcc": mvcc, "keys": keys, "deadline": deadline}
        try:
            async with asyncio.timeout(deadline):
                found = await (await self._connect()).call("query", **asked)
        except TimeoutError as late:
            raise RpcTimeoutError(f"query node at port {self._port}: no answer in {deadline} s") from late
        except ConnectionLostError as lost:
            raise NotServableError(f"query node at port {self._port}: {lost}") from lost
        except RequestRefusedError as refused:
            if refused.kind == RpcTimeoutError.__name__:
                raise RpcTimeoutError(str(refused)) from refused
            raise NotServableError(f"query node at port {self._port}: {refused}") from refused
        self.answered += 1
        rows = tuple(Row(ts, segment, key, value) for ts, segment, key, value in found["rows"])
        return ShardAnswer(found["moment"], rows)

    async def _connect(self) -> TcpConnection:
        """The connection that all calls share; a new one if it has ended."""
        async with self._connecting:
            if self._connection is None or self._connection.ended:
                self._connection = await self._connect_to(self._port)
            return self._connection

    async def close(self) -> None:
        """Close the connection, also one that is being made. A later call makes another one."""
        async with self._connecting:
            if self._connection is not None:
                await self._connection.close()
