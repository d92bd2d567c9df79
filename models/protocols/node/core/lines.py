"""The server of calls from other processes by itself: lines in, lines out, clients that leave, and a stop.

The lines that clients send, and what becomes of their sockets, come as scripts say.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Hashable
from typing import Any, cast

from tidemark.impl.system.connection import Json
from tidemark.impl.system.line_server import LineServer
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

ANSWERS = "each_line_is_answered_under_its_number"
"""Claim id: each call is handled with its method and arguments and answered by one line with its number, as
soon as it is handled, whichever order that is: with the result, or with the kind and text of the error."""
LEAVES = "a_client_that_has_gone_ends_its_connection_only"
"""Claim id: a connection that has ended, or broken, is closed and forgotten, and nothing fails.
What is no line of JSON ends its connection with an error."""
STOPS = "a_server_that_stops_takes_and_answers_nothing"
"""Claim id: a stop closes the server and its connections, ends the requests under way, and waits for both."""

SCRIPTS: tuple[Script, ...] = (
    {"events": [("call", "a", 1, 2), ("call", "b", 2, 0), ("wait", 1), ("call", "a", 3, 0), ("wait", 3),
                ("leave", "a"), ("wait", 1), ("call", "b", 4, 0), ("wait", 1), ("stop",)]},
    {"events": [("bad", "a", 1), ("call", "a", 2, 1), ("wait", 2), ("stop",)]},
    {"events": [("call", "a", 1, 1), ("jam", "a"), ("wait", 2), ("reset", "a"), ("wait", 1),
                ("call", "b", 2, 0), ("wait", 1), ("stop",)]},
    {"events": [("call", "a", 1, 9), ("call", "b", 2, 9), ("wait", 1), ("stop",)]},
    {"events": [("garbage", "a"), ("wait", 1), ("call", "b", 2, 0), ("wait", 1), ("stop",)]},
    {"events": [("call", "a", 1, 9, "slow"), ("call", "b", 2, 0), ("wait", 1), ("stop",)]},
    {"events": [("call", "a", 1, 9, "slow"), ("wait", 1), ("late", "b", 2, 9), ("stop",)]},
)  # fmt: skip


class _Listener:
    """Stands for the server's socket."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        """It is closed."""
        self.closed += 1


class _Client:
    """The other side of one connection: stands for its StreamWriter, and feeds its reader."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader(loop=asyncio.get_running_loop())
        self.lines: list[Any] = []
        self.due: list[Any] = []
        self.sent: list[bytes] = []
        self.closed = self.jammed = self.gone = False
        self.fails = ""

    def write(self, data: bytes) -> None:
        """Keep what is written, until it is drained."""
        self.sent.append(data)

    async def drain(self) -> None:
        """What was written is with the client now; or the pipe is broken."""
        if self.jammed:
            raise BrokenPipeError("the pipe is broken")
        for data in self.sent:
            self.lines += [
                json.loads(line) for line in data.decode().splitlines(keepends=True) if line[-1] == "\n"
            ]
        self.sent.clear()

    def close(self) -> None:
        """It is closed: the reader comes to its end."""
        if not self.closed:
            self.reader.feed_eof()
        self.closed = True


class LinesProgram(ComparedProgram):
    """One server and two clients."""

    async def live(self, process: Process) -> None:
        """Let happen what the script says."""
        self._process = process
        self._handled: list[tuple[str, Any]] = []
        self._called: list[tuple[str, Any]] = []
        self._under_way = 0
        self._over = False
        self._server = LineServer(self._handle)
        self._listener = _Listener()
        self._server._server = cast("asyncio.Server", self._listener)  # noqa: SLF001
        self._clients = {name: _Client() for name in "ab"}
        self._serving = {name: self._serve(name) for name in self._clients}
        self.begun = True
        await process.point("clients come")
        for event in self.script["events"]:
            await self._happen(event)
            await self.halt_if_wrong()

    def _serve(self, name: str) -> asyncio.Task[None]:
        client = self._clients[name]
        serving = self._server._serve(client.reader, cast("asyncio.StreamWriter", client))  # noqa: SLF001
        return asyncio.get_running_loop().create_task(serving, name=f"connection {name}")

    async def _handle(self, method: str, given: Json) -> Json:
        self._handled.append((method, given))
        self._under_way += 1
        try:
            await asyncio.sleep(given["seconds"])
        except asyncio.CancelledError:
            if method == "slow":
                await asyncio.sleep(1)
            raise
        finally:
            self._under_way -= 1
        if method == "bad":
            raise KeyError("so it is")
        return {"found": given["n"]}

    async def _happen(self, event: tuple[Any, ...]) -> None:
        match event:
            case ("call", name, number, seconds):
                self._call(name, "get", number, seconds)
            case ("call", name, number, seconds, method):
                self._call(name, method, number, seconds)
            case ("bad", name, number):
                self._call(name, "bad", number, 0)
            case ("leave", name):
                self._gone(name).reader.feed_eof()
            case ("reset", name):
                self._gone(name).reader.set_exception(ConnectionResetError("reset"))
            case ("garbage", name):
                client = self._gone(name)
                client.reader.feed_data(b"so it is\n")
                client.fails = "JSONDecodeError"
            case ("jam", name):
                client = self._clients[name]
                client.jammed = True
                client.due.clear()
            case ("late", name, number, seconds):
                # It comes while the server waits for what it has stopped.
                line = json.dumps({"id": number, "method": "get", "arguments": {"seconds": seconds}})
                feed = self._clients[name].reader.feed_data
                asyncio.get_running_loop().call_later(0.5, feed, f"{line}\n".encode())
            case ("wait", seconds):
                await asyncio.sleep(seconds)
                self._compare()
            case ("stop",):
                await self._stop()

    def _gone(self, name: str) -> _Client:
        client = self._clients[name]
        client.gone = True
        return client

    def _call(self, name: str, method: str, number: int, seconds: float) -> None:
        arguments = {"n": number, "seconds": seconds}
        line = json.dumps({"id": number, "method": method, "arguments": arguments})
        client = self._clients[name]
        client.reader.feed_data(f"{line}\n".encode())
        self._called.append((method, arguments))
        at = self._process.now() + seconds
        answer = (
            {"kind": "KeyError", "error": "'so it is'"} if method == "bad" else {"result": {"found": number}}
        )
        client.due.append((at, {"id": number, **answer}))

    def _compare(self) -> None:
        self.compare(ANSWERS, "what was handled", self._handled, self._called)
        kept: list[Any] = list(self._server._connections)  # noqa: SLF001
        for name, client in self._clients.items():
            due = [
                line for at, line in sorted(client.due, key=lambda one: one[0]) if at <= self._process.now()
            ]
            self.compare(ANSWERS, f"what {name} has heard", client.lines, due)
            self.compare(LEAVES, f"{name} is closed", client.closed, client.gone)
            self.compare(LEAVES, f"{name} is kept", any(one is client for one in kept), not client.gone)
            self.compare(LEAVES, f"how {name} ends", self._end(name), client.fails if client.gone else None)
        self.compare(ANSWERS, "requests that are kept", len(self._server._requests), self._under_way)  # noqa: SLF001

    def _end(self, name: str) -> str | None:
        """The failure of a connection; None while it goes on."""
        serving = self._serving[name]
        if not serving.done():
            return None
        failure = serving.exception()
        return type(failure).__name__ if failure is not None else ""

    async def _stop(self) -> None:
        """Whatever goes on: nothing is left when it returns."""
        begun = self._process.now()
        await self._server.stop()
        slow = any(method == "slow" for method, _ in self._handled)
        self.compare(STOPS, "the seconds of the stop", self._process.now() - begun, 1 if slow else 0)
        self._over = True
        self.compare(STOPS, "the server is closed", self._listener.closed, 1)
        self.compare(STOPS, "requests under way", self._under_way, 0)
        self.compare(STOPS, "what was handled", self._handled, self._called)
        self.compare(STOPS, "all are closed", [one.closed for one in self._clients.values()], [True, True])
        self.compare(STOPS, "connections", len(self._server._connections), 0)  # noqa: SLF001
        await asyncio.sleep(10)
        for name, client in self._clients.items():
            late = [line for at, line in client.due if at > self._process.now() - 10 and line in client.lines]
            self.compare(STOPS, f"what {name} hears later", late, [])

    def look(self) -> Hashable:
        """What was heard."""
        return tuple((name, json.dumps(one.lines)) for name, one in self._clients.items())

    def wrong_at_the_end(self) -> str | None:
        """The server has stopped."""
        return None if self._over else f"{STOPS}: it does not stop"


def lines() -> LinesProgram:
    """Return the program of all scripts."""
    return LinesProgram(SCRIPTS, timers=40)
