"""A query node in another process as a proxy asks it: reads over one connection, and every end of them.

Real are both ends: the replica of the proxy with its connection, and the server of the node's process with
its handler. The sockets are pipes in memory, and the node answers as a script says. What each read asks of
the node, and what its caller hears and when, follows from the script.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any, cast

from tidemark.impl.errors import NotServableError, ReplicaClosedError, RpcTimeoutError
from tidemark.impl.querynode.query_node import QueryNode
from tidemark.impl.querynode.remote import RemoteReplica, answers_of
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.system.connection import ConnectionLostError, RequestRefusedError, TcpConnection
from tidemark.impl.system.line_server import LineServer
from tidemark.impl.types import Row
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

ASKED = "a_remote_read_asks_what_it_was_asked"
"""Claim id: the node gets the channel, the guarantee, the moment, the keys and the deadline of each read,
once; it knows no other method."""
HEARD = "a_remote_read_hears_what_the_node_answered"
"""Claim id: with the moment and the rows that the node has answered, or with why it has not: a time-out, or
that another replica may be asked. A read that fails is not counted as answered."""
ENDS = "a_remote_read_ends_by_its_deadline"
"""Claim id: whatever becomes of the process and of its connection."""
ONE = "reads_share_a_connection_while_it_lives"
"""Claim id: reads at once make one connection; after its end the next read makes another one, and so it does
after a close. What is let go of is closed, also if it was being made."""

_PORT = 7001
_AT = f"query node at port {_PORT}: "
_ENDED = "the connection has ended; connect again"
_ANSWERS: dict[str, tuple[int, tuple[Row, ...]]] = {
    "rows": (40, (Row(12, 3, 5, "a"), Row(30, 4, 9, "b"))),
    "none": (41, ()),
}
_FAILURES: dict[str, tuple[Exception, type[Exception], str]] = {
    "late": (RpcTimeoutError("late"), RpcTimeoutError, "RpcTimeoutError: late"),
    "busy": (NotServableError("busy"), NotServableError, f"{_AT}NotServableError: busy"),
    "gone": (ReplicaClosedError("gone"), NotServableError, f"{_AT}ReplicaClosedError: gone"),
    "broken": (KeyError("broken"), NotServableError, f"{_AT}KeyError: 'broken'"),
}
"""What the node raises, and what a caller hears of it."""
_LOST = (NotServableError, f"{_AT}{_ENDED}")
_REFUSED = (NotServableError, f"{_AT}nothing listens")
_NEVER = 1_000
_ALL: dict[str, Any] = {"guarantee": 7, "mvcc": 33, "keys": (5, 9)}


def ask(number: int, answer: str = "rows", *, after: float = 0, **more: Any) -> tuple[Any, ...]:
    """A read. What it hears follows from the answer, unless ``hears`` and ``at`` (seconds later) say it.
    ``arrives``: when it comes to the node, likewise; None: never.
    """
    return ("ask", number, answer, after, more)


SCRIPTS: tuple[Script, ...] = (
    # Answers of every kind, and reads side by side that are answered in another order.
    {"events": [ask(1), ("wait", 1), ask(2, "none", **_ALL), ("wait", 1), ask(3, "late"), ask(4, "busy"),
                ask(5, "gone"), ask(6, "broken"), ("wait", 1), ("method",), ("made", 1)]},
    {"events": [ask(1, after=3), ask(2, "none", after=1, mvcc=8), ask(3, "busy", after=2, keys=()),
                *[("wait", 1)] * 4, ("made", 1)]},
    # The node does not answer in time, and answers afterwards.
    {"events": [ask(1, after=9, deadline=2.5, hears="deadline"), ask(2, after=1), *[("wait", 1)] * 4,
                ask(3, "none"), ("wait", 8), ("made", 1)]},
    # Connections that are refused, made late, or not at all.
    {"events": [("connects", "refused"), ask(1, hears=_REFUSED, arrives=None), ("wait", 1), ("connects", 0),
                ask(2), ("wait", 1), ("made", 1)]},
    {"events": [("connects", 2), ask(1, arrives=2), ask(2, "none", arrives=2), ("wait", 1),
                ask(3, "busy", arrives=1),
                *[("wait", 1)] * 2, ("made", 1)]},
    {"events": [("connects", _NEVER), ask(1, deadline=2.5, hears="deadline", arrives=None),
                ("wait", 3), ("connects", 0), ask(2), ("wait", 1), ("made", 1)]},
    # The process ends while reads wait, and another one takes its place.
    {"events": [ask(1), ("wait", 1), ask(2, after=9, hears=_LOST, at=1.5), ask(3, after=9, hears=_LOST,
                at=1.5),
                ("wait", 1), ("kill",), ("wait", 1), ask(4, "none"), ask(5), ("wait", 1), ("made", 2)]},
    {"events": [ask(1), ("wait", 1), ("kill",), ("wait", 1), ("connects", "refused"),
                ask(2, hears=_REFUSED, arrives=None), ("wait", 1), ("connects", 0), ask(3), ("wait", 1),
                ("made", 2)]},
    # A close, while a read waits, while a connection is made, and twice.
    {"events": [("close",), ask(1, after=9, hears=_LOST, at=1.5), ("wait", 1), ("close",), ("close",),
                ("made", 1), ("wait", 1), ask(2), ("wait", 1), ("made", 2)]},
    {"events": [("connects", 2), ask(1, after=9, hears=_LOST, at=2, arrives=2),
                ("wait", 1), ("close",), ("wait", 1), ("wait", 1), ("connects", 0), ask(2), ("wait", 1),
                ("made", 2)]},
    # Callers that leave.
    {"events": [ask(1, after=2, hears="left"), ask(2, after=3), ("wait", 1), ("leave", 1), *[("wait", 1)] * 3,
                ("made", 1)]},
    {"events": [("connects", 2), ask(1, hears="left", arrives=None), ask(2, arrives=3.02), ("wait", 1),
                ("leave", 1),
                *[("wait", 1)] * 3, ("made", 1)]},
)  # fmt: skip


class Pipe:
    """One direction of a socket: stands for the writer at its begin, and feeds the reader at its end."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader(loop=asyncio.get_running_loop())
        self.closed = False

    def write(self, data: bytes) -> None:
        """What is written arrives, unless the other side has closed."""
        if not self.closed:
            self.reader.feed_data(data)

    async def drain(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """The reader comes to its end."""
        if not self.closed:
            self.reader.feed_eof()
        self.closed = True


class Wire:
    """A socket, with the server of a process behind it."""

    def __init__(self, server: LineServer) -> None:
        self.there, self.back = Pipe(), Pipe()
        serving = server._serve(self.there.reader, cast("asyncio.StreamWriter", self.back))  # noqa: SLF001
        self._serving = asyncio.get_running_loop().create_task(serving, name="server")
        writer = cast("asyncio.StreamWriter", self.there)
        self.connection = TcpConnection(self.back.reader, writer, {})

    @property
    def closed(self) -> bool:
        """Whether the proxy has let go of it."""
        return self.there.closed

    def end(self) -> None:
        """The process is gone."""
        self._serving.cancel()
        self.there.close()
        self.back.close()


class RemoteProgram(ComparedProgram):
    """A proxy's replica and the process of a query node. ``replica``: a wrong class for a mutant."""

    async def live(self, process: Process) -> None:
        """Let happen what the script says."""
        self._process = process
        self._replica = RemoteReplica(_PORT, connect=self._connect)
        self._server = LineServer(answers_of(cast("QueryNode", self)))
        self._connects: float | str = 0
        self._wires: list[Wire] = []
        self._answers: list[tuple[str, float]] = []
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._arrived: list[Any] = []
        self._due_asked: list[tuple[float, Any]] = []
        self._heard: dict[int, Hashable] = {}
        self._due: dict[int, tuple[float, Hashable]] = {}
        self._ended = False
        self.begun = True
        for event in (*self.script["events"], ("close",), ("wait", 1)):
            await self._happen(event)
            await self.halt_if_wrong()
        self.compare(ONE, "connections that are open", sum(not wire.closed for wire in self._wires), 0)
        self._ended = True

    async def _happen(self, event: tuple[Any, ...]) -> None:
        match event:
            case ("ask", number, answer, after, more):
                self._ask(number, answer, after, **more)
            case ("connects", how):
                self._connects = how
            case ("wait", seconds):
                await asyncio.sleep(seconds + 0.01)
                self._compare()
            case ("kill",):
                self._wires[-1].end()
            case ("close",):
                await self._replica.close()
                self.compare(ONE, "what is open", [wire for wire in self._wires if not wire.closed], [])
            case ("leave", number):
                self._tasks[number].cancel()
                self._due[number] = (self._process.now(), "left")
            case ("method",):
                await self._another_method()
            case ("made", count):
                self.compare(ONE, "connections that were made", len(self._wires), count)

    async def _another_method(self) -> None:
        with_name = "ValueError: method 'stop' is not known; query is"
        try:
            found: object = await self._wires[-1].connection.call("stop", channel="a")
        except RequestRefusedError as refused:
            found = str(refused)
        self.compare(ASKED, "what another method hears", found, with_name)

    # The proxy's side.

    async def _connect(self, port: int) -> TcpConnection:
        self.compare(ONE, "the port", port, _PORT)
        if self._connects == "refused":
            raise ConnectionLostError("nothing listens")
        if self._connects:
            await asyncio.sleep(float(self._connects))
        self._wires.append(Wire(self._server))
        return self._wires[-1].connection

    def _ask(self, number: int, answer: str, after: float, **more: Any) -> None:
        given = {"guarantee": 7, "mvcc": None, "keys": None, "deadline": 90.5}
        given |= {name: more[name] for name in given if name in more}
        hears = more.get("hears") or self._of(answer)
        arrives = more.get("arrives", 0)
        at = more.get("at", after + (arrives or 0))
        if hears == "deadline":
            at = given["deadline"]
            hears = (RpcTimeoutError, f"{_AT}no answer in {at} s")
        self._due[number] = (self._process.now() + (_NEVER if hears == "left" else at), hears)
        if arrives is not None:
            self._answers.append((answer, after))
            self._due_asked.append((self._process.now() + arrives, (f"channel {number}", given)))
        task = self._query(number, given)
        self._tasks[number] = asyncio.get_running_loop().create_task(task, name=f"read {number}")

    def _of(self, answer: str) -> Hashable:
        return _FAILURES[answer][1:] if answer in _FAILURES else ShardAnswer(*_ANSWERS[answer])

    async def _query(self, number: int, given: dict[str, Any]) -> None:
        try:
            self._heard[number] = await self._replica.query(f"channel {number}", **given)
        except (NotServableError, RpcTimeoutError) as failure:
            self._heard[number] = (type(failure), str(failure))
        except asyncio.CancelledError:
            self._heard[number] = "left"

    # The node.

    async def query(self, channel: str, **given: Any) -> ShardAnswer:
        """See QueryNode: note what is asked, and answer as the script says."""
        self._arrived.append((channel, given))
        answer, after = (*self._answers, ("none", 0))[min(len(self._arrived) - 1, len(self._answers))]
        await asyncio.sleep(after)
        if answer in _FAILURES:
            raise _FAILURES[answer][0]
        return ShardAnswer(*_ANSWERS[answer])

    # What is compared.

    def _compare(self) -> None:
        now = self._process.now()
        self.compare(
            ASKED, "what the node is asked", self._arrived, [one for at, one in self._due_asked if at <= now]
        )
        for number, (at, due) in self._due.items():
            heard = self._heard.get(number)
            late = heard is None and at <= now
            claim = ENDS if late else HEARD
            self.compare(claim, f"what read {number} hears", heard, due if at <= now else None)
        answered = sum(isinstance(due, ShardAnswer) for at, due in self._due.values() if at <= now)
        self.compare(HEARD, "reads that are answered", self._replica.answered, answered)

    def look(self) -> Hashable:
        """What was heard."""
        return tuple((number, repr(heard)) for number, heard in sorted(self._heard.items()))

    def wrong_at_the_end(self) -> str | None:
        """The script has ended."""
        return None if self._ended else f"{ENDS}: the script does not end"


def remote() -> RemoteProgram:
    """Return the program of all scripts."""
    return RemoteProgram(SCRIPTS, timers=60)
