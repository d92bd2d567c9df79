"""A streaming node by itself: how it opens its log again and again, and what becomes of an append.

Log, stores, oracle and the term are stand-ins that answer, fail and end where a script says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from types import SimpleNamespace
from typing import Any, cast

from tidemark.impl.errors import RpcError, StoreError
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.node import StreamingNode
from tidemark.impl.streaming.term import StreamingParts
from tidemark.impl.streaming.values import Append
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

OPENED = "a_log_is_opened_step_by_step_and_again_when_it_closes"
"""Claim id: a term is begun, then the storage is loaded, what is stored and what is in the log is looked up,
and a timestamp is asked for; after a failure all of that begins anew, after a pause; a term that is over is
stopped before the next one."""
DONE = "an_append_is_done_whoever_waits_for_it"
"""Claim id: an append goes to the open term, and its caller hears the place or the error; without one it is
refused; a caller that leaves does not stop it."""
ENDED = "a_node_that_ends_stops_what_it_has_begun"
"""Claim id: the last term and the appends are stopped, whose callers hear that the outcome is unknown, and
what a term has failed with is raised."""

_STEPS = ("begin_term", "load", "places", "scan", "alloc")
_ERRORS = {"rpc": RpcError("no answer"), "store": StoreError("broken"), "fault": RuntimeError("a fault")}
_PAUSE = 0.25
START = 6

SCRIPTS: tuple[Script, ...] = (
    *({"fails": step, "how": how, "calls": [("time",)]} for step in _STEPS for how in ("rpc", "store")),
    {"fails": "alloc", "how": "fault", "calls": []},
    {"calls": [("close",), ("close",)]},
    {"fails": "stop", "how": "fault", "calls": [("close",)]},
    {"unheard": True, "calls": [("close",)]},
    # Appends.
    {
        "calls": [
            ("append", "a"),
            ("append", "b"),
            ("settle", "b", 4),
            ("settle", "a", "rpc"),
            ("append", "c"),
            ("settle", "c", 5),
        ]
    },
    {
        "calls": [
            ("append", "a"),
            ("leaves", "a"),
            ("settle", "a", 4),
            ("append", "b"),
            ("leaves", "b"),
            ("settle", "b", "rpc"),
            ("append", "c"),
            ("settle", "c", 6),
        ]
    },
    {
        "hold": "load",
        "calls": [("append", "a"), ("go",), ("append", "b"), ("settle", "b", 3), ("over",), ("append", "c")],
    },
    {"calls": [("append", "a"), ("end",)]},
    *({"fails": "stop", "how": "fault", "calls": [("append", "a"), (over,)]} for over in ("close", "end")),
    {"hold": "load", "calls": [("end",)]},
)


class NodeProgram(ComparedProgram):
    """One node, and all around it."""

    async def live(self, process: Process) -> None:
        """Make the node, and let happen what the script says."""
        self._ended = False
        self._trace: list[Hashable] = []
        self._due: list[Hashable] = []
        self._fails = self.script.get("fails", "")
        self._terms: list[Any] = []
        self._heard: dict[str, Hashable] = {}
        self._wanted: dict[str, Hashable] = {}
        self._appends: dict[str, Append] = {}
        self._gates: dict[str, asyncio.Future[int]] = {}
        self._slept, self._go = asyncio.Event(), asyncio.Event()
        self._over = False
        self.log = self.checkpoints = self.messages = self.oracle = self.clock = cast("Any", self)
        self._config = StreamingConfig(retry_seconds=_PAUSE)
        recovery: Any = self._recovery
        self._parts = StreamingParts(recovery=recovery)
        term: Any = self._term
        self._node = StreamingNode(
            ports=cast("Any", self), config=self._config, parts=self._parts, term_class=term,
            opened=None if "unheard" in self.script else self._opened,
        )  # fmt: skip
        self.begun = True
        loop = asyncio.get_running_loop()
        self._running = loop.create_task(self._node.run(), name="node")
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._reckon_open()
        await process.point("a little later")
        self._look(("begin",))
        for call in self.script["calls"]:
            self._happen(call)
            await process.point("a little later")
            self._look(call)
            await self.halt_if_wrong()
        self._running.cancel()
        self._reckon_end()
        await process.point("a little later")
        self._look(("the end",))
        self._ended = True

    def _happen(self, call: tuple[Any, ...]) -> None:
        match call:
            case ("time",):
                self._slept.set()
                self._reckon_open()
            case ("go",):
                self._go.set()
                self._due += [*_STEPS[2:], *self._reckon_term()]
            case ("over",):
                # The term is over, and the node has not seen it yet.
                self._terms[-1].closed = SimpleNamespace(is_set=lambda: True)
            case ("close",):
                self._terms[-1].closed.set()
                self._reckon_close()
            case ("append", name):
                self._reckon_append(name)
                self._appends[name] = Append("c")
                work = self._append(name)
                self._tasks[name] = asyncio.get_running_loop().create_task(work, name=name)
            case ("leaves", name):
                self._tasks[name].cancel()
                self._wanted[name] = "left"
            case ("settle", name, how):
                self._settle(name, how)
            case ("end",):
                self._running.cancel()
                self._reckon_end()

    def _settle(self, name: str, how: Any) -> None:
        if isinstance(how, int):
            self._gates[name].set_result(how)
        else:
            self._gates[name].set_exception(_ERRORS[how])
        self._due.append(("settled", name))
        if self._wanted[name] is None:
            self._wanted[name] = how if isinstance(how, int) else type(_ERRORS[how]).__name__

    async def _append(self, name: str) -> None:
        try:
            self._heard[name] = await self._node.append(self._appends[name])
        except asyncio.CancelledError:
            self._heard[name] = "left"
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            self._heard[name] = type(failure).__name__

    # What is right.

    def _reckon_open(self) -> None:
        for step in _STEPS:
            self._due.append(step)
            if self._fails == step:
                self._fails_now()
                return
            if self.script.get("hold") == step and not self._go.is_set():
                return
        self._due += self._reckon_term()

    def _fails_now(self) -> None:
        if self.script["how"] == "fault":
            self._over = True
        else:
            self._due.append(("sleep", _PAUSE))

    def _reckon_term(self) -> list[Hashable]:
        return ["made", "start", *([] if "unheard" in self.script else ["opened"])]

    def _reckon_close(self) -> None:
        self._due.append("stop")
        if self._fails == "stop":
            self._reckon_end()
        else:
            self._reckon_open()

    def _reckon_append(self, name: str) -> None:
        open_ = bool(self._terms) and not self._terms[-1].closed.is_set()
        self._wanted[name] = None if open_ else "TermClosedError"
        if open_:
            self._due.append(("append", name, f"append of {name}"))

    def _reckon_end(self) -> None:
        if self._over:
            return
        self._over = True
        if self._terms:
            self._due.append("stop")
        for name, wanted in self._wanted.items():
            if name in self._gates and not self._gates[name].done():
                self._due.append(("stopped", name))
                if wanted is None:
                    self._wanted[name] = "UnknownOutcomeError"

    # The edges.

    async def _step(self, name: str) -> None:
        self._trace.append(name)
        if len(self._trace) > len(self._due) + 3:
            self._problem = f"{OPENED}: {self._trace}, and not {self._due}"
        await self.halt_if_wrong()
        if self.script.get("hold") == name:
            await self._go.wait()
        if self._fails == name:
            self._fails = ""
            raise _ERRORS[self.script["how"]]

    async def begin_term(self) -> str:
        """See TermLog."""
        await self._step("begin_term")
        return "opening"

    async def places(self, above: int) -> tuple[int, ...]:
        """See MessageStore."""
        await self._step("places" if above == START else f"places above {above}")
        return (8,)

    async def scan(self, above: int) -> str:
        """See TermLog."""
        await self._step("scan" if above == START else f"scan above {above}")
        return "records"

    async def alloc(self, count: int) -> int:
        """See Oracle."""
        await self._step("alloc" if count == 1 else f"alloc {count}")
        return 70

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        self._trace.append(("sleep", seconds))
        await self._slept.wait()
        self._slept.clear()

    def _recovery(self, **given: Any) -> Any:
        if given != {"store": self, "log": self}:
            self._problem = f"{OPENED}: a recovery storage is made of {given}"

        async def load() -> None:
            await self._step("load")

        return SimpleNamespace(load=load, start=lambda: START)

    def _term(self, **given: Any) -> Any:
        recovery = given.pop("recovery")
        due = {"opening": "opening", "first": 70, "stored": (8,), "records": "records", "ports": self,
               "config": self._config, "parts": self._parts}  # fmt: skip
        if given != due or recovery.start() != START:
            self._problem = f"{OPENED}: a term is made of {given}, and not of {due}"
        self._trace.append("made")
        made = SimpleNamespace(
            closed=asyncio.Event(),
            start=lambda: self._trace.append("start"),
            stop=self._stop,
            append=self._taken,
        )
        self._terms.append(made)
        return made

    async def _stop(self) -> None:
        self._trace.append("stop")
        if self._fails == "stop":
            raise _ERRORS["fault"]

    async def _taken(self, append: Append) -> None:
        [name] = [name for name, one in self._appends.items() if one is append]
        task = asyncio.current_task()
        self._trace.append(("append", name, task and task.get_name()))
        gate: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._gates[name] = gate
        try:
            append.place = await gate
        except asyncio.CancelledError:
            self._trace.append(("stopped", name))
            raise
        finally:
            if gate.done() and not gate.cancelled():
                self._trace.append(("settled", name))

    def _opened(self, term: Any) -> None:
        self._trace.append("opened" if term is self._node.term is self._terms[-1] else "another")

    # What is looked at.

    def _look(self, call: tuple[Any, ...]) -> None:
        heard = {name: self._heard.get(name) for name in self._wanted}
        self._compare(DONE, call, "heard", heard, self._wanted)
        self._compare(OPENED, call, "done", self._trace, self._due)
        waiting = [name for name, wanted in self._wanted.items() if wanted is None]
        self._compare(DONE, call, "callers that wait", len(self._node._callers), len(waiting))  # noqa: SLF001
        over = self._running.done()
        self._compare(ENDED, call, "over", over, self._over)
        if over and self._fails == "stop":
            how = "cancelled" if self._running.cancelled() else "failed"
            self._compare(ENDED, call, "how it ends", how, "failed")
        if over and not self._running.cancelled():
            failed = type(self._running.exception()).__name__
            self._compare(ENDED, call, "failed", failed, "RuntimeError")

    def _compare(self, claim: str, call: tuple[Any, ...], what: str, found: object, due: object) -> None:
        self.compare(claim, f"{dict(self.script)}: after {call}: {what}", found, due)

    def look(self) -> Hashable:
        """What was done."""
        return tuple(map(repr, self._trace))

    def wrong_at_the_end(self) -> str | None:
        """All of the script has happened."""
        return None if self._ended else f"{ENDED}: the script does not come to its end"


def nodes() -> NodeProgram:
    """Return the program of all scripts."""
    return NodeProgram(SCRIPTS, timers=0)
