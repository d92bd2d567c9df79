"""Calls to another process: requests as lines of JSON over TCP, each with the number of its answer."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping
from typing import Any, Protocol

from tidemark.impl.errors import ImplementationError

Json = dict[str, Any]
LINE_LIMIT = 64 * 1024 * 1024
"""Bytes of the longest line: an answer with many rows."""


class RequestRefusedError(ImplementationError):
    """The cluster has answered with an error. ``kind``: the class of the error there."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class ConnectionLostError(ImplementationError):
    """The connection has ended before the answer came: the call may have taken effect."""


class Connection(Protocol):
    """A client's connection to one server."""

    async def call(self, method: str, **arguments: Any) -> Json:
        """Ask and wait for the answer. Raise RequestRefusedError, ConnectionLostError."""

    async def close(self) -> None:
        """Close it."""


class TcpConnection:
    """A connection to another process. Several calls may be under way. ``always``: arguments of each."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, always: Mapping[str, Any]
    ) -> None:
        self._always = dict(always)
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[Json]] = {}
        self._receiving = asyncio.create_task(self._receive(), name="answers")

    @classmethod
    async def to(cls, port: int, **always: Any) -> TcpConnection:
        """Connect to a port of this machine. Raise ConnectionLostError if no server listens."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=LINE_LIMIT)
        except OSError as failure:
            raise ConnectionLostError(f"nothing listens at port {port}: {failure}") from failure
        return cls(reader, writer, always)

    @property
    def ended(self) -> bool:
        """Whether no call can be answered any more."""
        return self._receiving.done()

    async def call(self, method: str, **arguments: Any) -> Json:
        """See Connection."""
        if self.ended:
            raise ConnectionLostError(f"{method}: the connection has ended; connect again")
        number = next(self._numbers)
        answer = self._open[number] = asyncio.get_running_loop().create_future()
        request = {"id": number, "method": method, "arguments": self._always | arguments}
        try:
            self._writer.write(json.dumps(request, separators=(",", ":")).encode() + b"\n")
            await self._writer.drain()
            found = await answer
        except OSError as failure:
            raise ConnectionLostError(f"{method}: {failure}; connect again") from failure
        finally:
            self._open.pop(number, None)
        if "error" in found:
            raise RequestRefusedError(found["kind"], found["error"])
        result: Json = found["result"]
        return result

    async def close(self) -> None:
        """See Connection."""
        self._receiving.cancel()
        await asyncio.gather(self._receiving, return_exceptions=True)
        self._writer.close()

    async def _receive(self) -> None:
        try:
            while line := await self._reader.readline():
                found = json.loads(line)
                waiting = self._open.get(found["id"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(found)
        except OSError:
            pass  # a connection that was reset has ended, like one that was closed
        finally:
            self._writer.close()
            for waiting in self._open.values():
                if not waiting.done():
                    waiting.set_exception(ConnectionLostError("the connection has ended; connect again"))
