"""A client's connection by itself: calls side by side, answers in any order, and every way in which it ends.

The lines that the other side sends, and what becomes of the socket, come as scripts say. Which line each call
sends, and what it hears, follows from them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Hashable
from typing import Any, cast

from tidemark.impl.system.connection import ConnectionLostError, RequestRefusedError, TcpConnection
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

ASKED = "each_call_is_a_line_with_its_own_number"
"""Claim id: a call is sent as one line: its number, the method, the arguments of every call and its own."""
ANSWERED = "each_call_hears_the_answer_with_its_number"
"""Claim id: a call ends with the line that has its number, whichever order they come in: with the result, or
with the error that it names; who has left is answered by nothing."""
OVER = "a_connection_that_is_over_answers_all_calls"
"""Claim id: when the connection ends, each call that waits hears that it is lost, and so does each
later one."""

_ENDED = "the connection has ended; connect again"
_ALWAYS = {"proxy": 2, "level": "all"}
SCRIPTS: tuple[Script, ...] = (
    {"events": [("call", 1), ("line", 1, "one"), ("call", 2), ("call", 3), ("line", 3, "three"),
                ("line", 2, None)]},
    {"events": [("call", 1), ("call", 2), ("refusal", 2, "RpcError", "so it is"), ("line", 1, 0),
                ("line", 1, 5)]},
    {"events": [("call", 1), ("call", 2), ("leaves", 1), ("line", 1, 1), ("line", 2, 2), ("line", 9, 9)]},
    {"events": [("call", 1), ("call", 2), ("line", 1, "one"), ("eof",), ("call", 3), ("close",)]},
    {"events": [("call", 1), ("call", 2), ("reset",), ("call", 3)]},
    {"events": [("call", 1), ("close",), ("call", 2)]},
    {"events": [("call", 1), ("jam",), ("call", 2), ("line", 1, "one"), ("free",), ("call", 3),
                ("line", 3, 3)]},
    {"events": [("leaves at once", 1), ("call", 2), ("both", 1)]},
    {"events": [("close",), ("call", 1)]},
)  # fmt: skip


class Writer:
    """Stands for a StreamWriter: what was written, and whether it is closed. ``jammed``: a drain fails."""

    def __init__(self) -> None:
        self.lines: list[Any] = []
        self.closed = 0
        self.jammed = False

    def write(self, data: bytes) -> None:
        """Keep a line."""
        self.lines.append(json.loads(data) if data.endswith(b"\n") else data)

    async def drain(self) -> None:
        """Return at once, or fail."""
        if self.jammed:
            raise BrokenPipeError("the pipe is broken")

    def close(self) -> None:
        """It is closed."""
        self.closed += 1


class ConnectionProgram(ComparedProgram):
    """A connection, its callers, and the other side."""

    async def live(self, process: Process) -> None:
        """Connect, and let happen what the script says."""
        self._process = process
        self._heard: dict[int, Hashable] = {}
        self._due: dict[int, Hashable] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._sent: list[Any] = []
        self._ended = self._over = False
        self._writer = Writer()
        self._reader = asyncio.StreamReader(loop=asyncio.get_running_loop())
        connection = TcpConnection(self._reader, cast("asyncio.StreamWriter", self._writer), dict(_ALWAYS))
        self._connection = connection
        self.begun = True
        for event in self.script["events"]:
            await self._happen(event)
            await process.point("a little later")
            self._compare(event)
            await self.halt_if_wrong()
        await self._close()
        await process.point("a little later")
        self._compare(("the end",))
        self._ended = True

    async def _happen(self, event: tuple[Any, ...]) -> None:
        match event:
            case ("call" | "leaves at once" as how, number):
                self._begin(number, leaves=how != "call")
            case ("line", number, result):
                self._line({"id": number, "result": result})
                self._answered(number, result)
            case ("refusal", number, kind, text):
                self._line({"id": number, "kind": kind, "error": text})
                self._answered(number, (kind, f"{kind}: {text}"))
            case ("both", number):
                self._line({"id": number, "result": 1}, {"id": number, "result": 2})
                self._answered(number, 1)
            case ("leaves", number):
                self._tasks[number].cancel()
                self._due[number] = "left"
            case ("jam" | "free" as how,):
                self._writer.jammed = how == "jam"
            case ("eof",):
                self._reader.feed_eof()
                self._all_lost()
            case ("reset",):
                self._reader.set_exception(ConnectionResetError("reset"))
                self._all_lost()
            case ("close",):
                await self._close()

    async def _close(self) -> None:
        await self._connection.close()
        self._all_lost()
        if not (self._connection.ended and self._writer.closed):
            self._problem = f"{OVER}: it is closed, and goes on"

    def _line(self, *found: Any) -> None:
        self._reader.feed_data("".join(json.dumps(one) + "\n" for one in found).encode())

    def _begin(self, number: int, *, leaves: bool) -> None:
        """A call begins: what it sends, or hears at once."""
        task = asyncio.get_running_loop().create_task(self._call(number), name=f"call {number}")
        self._tasks[number] = task
        if leaves:
            task.cancel()
            self._due[number] = "left"
            return
        self._due[number] = None
        if self._over:
            self._due[number] = f"method {number}: {_ENDED}"
        elif self._writer.jammed:
            self._due[number] = f"method {number}: the pipe is broken; connect again"
        if not self._over:
            arguments = {**_ALWAYS, "level": "own", "n": number}
            self._sent.append(
                {"id": len(self._sent) + 1, "method": f"method {number}", "arguments": arguments}
            )

    async def _call(self, number: int) -> None:
        try:
            found = await self._connection.call(f"method {number}", level="own", n=number)
        except asyncio.CancelledError:
            self._heard[number] = "left"
        except ConnectionLostError as lost:
            self._heard[number] = str(lost)
        except RequestRefusedError as refused:
            self._heard[number] = (refused.kind, str(refused))
        else:
            self._heard[number] = ("found", found)

    def _answered(self, number: int, what: Hashable) -> None:
        """A line has the number of the line that was sent."""
        calls = [line["arguments"]["n"] for line in self._sent]
        if number <= len(calls) and self._due[calls[number - 1]] is None:
            self._due[calls[number - 1]] = what if isinstance(what, tuple) else ("found", what)

    def _all_lost(self) -> None:
        self._over = True
        for number, due in self._due.items():
            self._due[number] = _ENDED if due is None else due

    def _compare(self, event: tuple[Any, ...]) -> None:
        if self._problem is not None:
            return
        if self._writer.lines != self._sent:
            self._problem = f"{ASKED}: {event}: {self._writer.lines}, and not {self._sent}"
        for number, due in self._due.items():
            heard = self._heard.get(number, "left" if due == "left" and number not in self._heard else None)
            if heard != due:
                claim = OVER if self._over else ANSWERED
                self._problem = f"{claim}: {event}: call {number} has heard {heard}, and not {due}"
        left = len(self._connection._open)  # noqa: SLF001
        if left != sum(due is None for due in self._due.values()):
            self._problem = f"{ANSWERED}: {event}: {left} calls are kept, and not those that wait"
        if self._connection.ended != self._over or bool(self._writer.closed) != self._over:
            self._problem = f"{OVER}: {event}: over: {self._over}; it says: {self._connection.ended}"

    # What is looked at.

    def look(self) -> Hashable:
        """What was heard."""
        return tuple(sorted((number, repr(heard)) for number, heard in self._heard.items()))

    def wrong_at_the_end(self) -> str | None:
        """The script has ended."""
        return None if self._ended else f"{OVER}: the connection does not end"


def life() -> ConnectionProgram:
    """Return the program of all scripts."""
    return ConnectionProgram(SCRIPTS, timers=0)
