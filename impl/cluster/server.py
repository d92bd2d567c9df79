"""The cluster as clients reach it: lines of JSON, over TCP or as plain calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tidemark.impl.client.connection import LINE_LIMIT, Json, RequestRefusedError
from tidemark.impl.errors import ImplementationError
from tidemark.impl.proxy.gateway import Gateway
from tidemark.impl.proxy.reads import ConsistencyLevel


async def answer(gateway: Gateway, method: str, arguments: Json) -> Json:
    """Answer one request. Raises what the gateway raises, and ValueError for a request that is none."""
    given = dict(arguments)
    match method:
        case "create":
            return {"ts": await gateway.create(given["collection"], shards=given["shards"])}
        case "insert":
            rows = [(int(key), str(value)) for key, value in given["rows"]]
            return {"ts": await gateway.insert(given["collection"], rows)}
        case "delete":
            return {"ts": await gateway.delete(given["collection"], given["keys"])}
        case "flush":
            return {"ts": await gateway.flush(given["collection"])}
        case "read":
            reply = await gateway.read(
                given["collection"],
                ConsistencyLevel(given["level"]),
                keys=given["keys"],
                client_ts=given["ts"],
            )
            return {"rows": list(reply.rows), "guarantee": reply.guarantee, "moments": reply.moments}
    raise ValueError(f"method {method!r} is none of create, insert, delete, flush, read")


class LocalConnection:
    """A client's way to a proxy of its own process."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def call(self, method: str, **arguments: Any) -> Json:
        """See Connection."""
        try:
            return await answer(self._gateway, method, arguments)
        except ImplementationError as failure:
            raise RequestRefusedError(type(failure).__name__, str(failure)) from failure

    async def close(self) -> None:
        """Nothing to let go of."""


class ClusterServer:
    """Listens at a free port of the loopback interface; each connection speaks to the proxy that it names."""

    def __init__(self, gateways: Sequence[Gateway]) -> None:
        self._gateways = gateways
        self._requests: set[asyncio.Task[None]] = set()
        self._connections: dict[asyncio.StreamWriter, asyncio.Event] = {}
        self._server: asyncio.Server | None = None

    async def start(self) -> int:
        """Listen. The port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=LINE_LIMIT)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Take no more requests, and drop those under way."""
        if self._server is not None:
            self._server.close()
        for request in list(self._requests):
            request.cancel()
        await asyncio.gather(*self._requests, return_exceptions=True)
        for writer, ended in list(self._connections.items()):
            writer.close()
            await ended.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended = self._connections[writer] = asyncio.Event()
        try:
            await self._take_requests(reader, writer)
        except OSError:
            pass  # the client has gone
        finally:
            writer.close()
            del self._connections[writer]
            ended.set()

    async def _take_requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gateway = self._gateways[0]
        while line := await reader.readline():
            request = json.loads(line)
            if request["method"] == "use":
                gateway = self._gateways[request["arguments"]["proxy"] % len(self._gateways)]
                writer.write(_line({"id": request["id"], "result": {"proxy": gateway.name}}))
                continue
            task = asyncio.create_task(self._answer(gateway, request, writer))
            self._requests.add(task)
            task.add_done_callback(self._requests.discard)

    async def _answer(self, gateway: Gateway, request: Json, writer: asyncio.StreamWriter) -> None:
        found: Json = {"id": request["id"]}
        try:
            found["result"] = await answer(gateway, request["method"], request["arguments"])
        except (ImplementationError, ValueError, KeyError) as failure:
            found |= {"kind": type(failure).__name__, "error": str(failure)}
        with suppress(OSError):  # the client has gone
            writer.write(_line(found))
            await writer.drain()


def _line(document: Json) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"
