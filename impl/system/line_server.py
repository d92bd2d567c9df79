"""Answers calls of other processes: one line of JSON a request, in any order."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress

from tidemark.impl.system.connection import LINE_LIMIT, Json

Handler = Callable[[str, Json], Awaitable[Json]]
"""The answer to a method with arguments. Its error is the caller's error."""


class LineServer:
    """Listens at a free port of the loopback interface."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._requests: set[asyncio.Task[None]] = set()
        self._connections: dict[asyncio.StreamWriter, asyncio.Event] = {}
        self._server: asyncio.Server | None = None
        self._stopped = False

    async def start(self) -> int:
        """Listen. The port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=LINE_LIMIT)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Take no more requests, and drop those under way. Later ones are not taken."""
        self._stopped = True
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
        while (line := await reader.readline()) and not self._stopped:
            task = asyncio.create_task(self._answer(json.loads(line), writer))
            self._requests.add(task)
            task.add_done_callback(self._requests.discard)

    async def _answer(self, request: Json, writer: asyncio.StreamWriter) -> None:
        found: Json = {"id": request["id"]}
        try:
            found["result"] = await self._handler(request["method"], request["arguments"])
        except Exception as failure:  # noqa: BLE001  # after any error the caller must not wait for ever
            found |= {"kind": type(failure).__name__, "error": str(failure)}
        with suppress(OSError):  # the client has gone
            writer.write(_line(found))
            await writer.drain()


def _line(document: Json) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"
