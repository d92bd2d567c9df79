"""One term of a streaming node by itself: what an append does with each part, and how a term ends.

The parts are stand-ins that note what they are told and fail where a script says so. What each is told, what
the caller hears and whether the term is over follows from the failures.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping
from types import SimpleNamespace
from typing import Any, cast

from tidemark.impl.errors import (
    MessageTooLargeError,
    RpcError,
    StoreError,
    TermClosedError,
    TransactionOverError,
    UnknownOutcomeError,
)
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.term import OpenTerm, StreamingParts
from tidemark.impl.streaming.values import Append, Opening
from tidemark.impl.values.messages import Tick
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

TOLD = "each_part_is_told_what_became_of_an_append"
"""Claim id: an append is admitted by the transactions, gets its timestamp, is stamped and written; then it
has landed and is acknowledged, or is refused and has failed; of what is not known nothing is told."""
OVER = "a_term_is_over_when_something_is_not_known"
"""Claim id: a term is closed by an append or a tick whose outcome is not known, and by the end of any of its
loops; nothing of it counts then, its loops end, and what has failed is raised, unless it was the log."""
MADE = "a_term_is_made_of_what_was_found"
"""Claim id: each part gets the term, the first timestamp, what is stored and what the records leave open; the
loops are started."""

_ERRORS: Mapping[str, Exception] = {
    "rpc": RpcError("no answer"), "store": StoreError("broken"), "large": MessageTooLargeError("too large"),
    "over": TransactionOverError("it is over"), "closed": TermClosedError("it is closed"),
    "unknown": UnknownOutcomeError("it may be there"), "fault": RuntimeError("a fault"),
}  # fmt: skip
_LOOPS = ("ticks", "flusher reads", "flusher stores", "recovery storage")
_IN_ORDER = ("admit", "draw", "stamped", "write")
_DEFAULTS = {"place": 12}

SCRIPTS: tuple[Script, ...] = (
    {},
    {"admit": "over"},
    *({"draw": how} for how in ("rpc", "closed", "fault")),
    *({"stamped": how} for how in ("over", "fault")),
    *({"write": how} for how in ("rpc", "store", "large", "fault")),
    {"tick": "rpc"},
    {"tick": ""},
    *({"ends": loop, "how": how} for loop in _LOOPS for how in ("unknown", "closed", "")),
    *({"ends": loop, "how": "fault"} for loop in _LOOPS[:2]),
)


class TermProgram(ComparedProgram):
    """One term, and all its parts."""

    async def live(self, process: Process) -> None:
        """Make the term, start it, and let one thing happen."""
        self._ended = False
        self._trace: list[Hashable] = []
        self._made: dict[str, Any] = {}
        self._gates = {name: asyncio.Event() for name in _LOOPS}
        self._stopped: list[str] = []
        self.is_open = True
        ports = SimpleNamespace(
            oracle="oracle", preemption="preemption", clock="clock", messages="messages", log=self
        )
        parts: Any = {
            **{name: self._part(name) for name in ("acks", "operator", "flusher", "recovery")},
            "transactions": self._transactions, "assembly": self._assembly,
        }  # fmt: skip
        self._records = [SimpleNamespace(place=4), SimpleNamespace(place=5)]
        self._taken: list[int] = []
        config = StreamingConfig()
        self._real = OpenTerm(
            opening=Opening(3, 9), first=50, recovery=cast("Any", "recovery"), stored=(7,),
            records=cast("Any", self._records), ports=cast("Any", ports), config=config,
            parts=StreamingParts(**parts),
        )  # fmt: skip
        self.begun = True
        self._look_at_parts(config)
        self._real.start()
        await process.point("a little later")
        self._compare(
            MADE, "the loops", sorted(map(str, self._trace)), sorted(f"run {one}" for one in _LOOPS)
        )
        self._trace.clear()
        await self._happen(process)
        self._ended = True

    def _part(self, name: str) -> Any:
        def make(**given: Any) -> Any:
            self._made[name] = given
            return self

        return make

    def _transactions(self, found: Any) -> Any:
        self._made["transactions"] = found
        return self

    def _assembly(self) -> Any:
        return self

    def _look_at_parts(self, config: StreamingConfig) -> None:
        due: dict[str, Any] = {
            "transactions": {4: "open"},
            "acks": {"opening": Opening(3, 9), "first": 50, "oracle": "oracle", "preemption": "preemption",
                     "transactions": self},
            "flusher": {"log": self, "store": "messages", "recovery": "recovery", "stored": (7,),
                        "clock": "clock", "config": config, "assembly": self},
        }  # fmt: skip
        operator = self._made.pop("operator")
        self._write = operator.pop("write")
        self._compare(MADE, "parts", self._made, due)
        self._compare(MADE, "operator", operator, {"acks": self, "clock": "clock", "config": config})
        self._compare(MADE, "records", self._taken, [4, 5])

    async def _happen(self, process: Process) -> None:
        if "ends" in self.script:
            self._gates[self.script["ends"]].set()
            await process.point("a little later")
            await self._compare_end(over=True)
            return
        failed = ("tick" in self.script and self.script["tick"]) or self.script.get("write", "")
        append = self._append = Append("c", rows=((1, 2, "x"),))
        heard, place = await self._outcome(append)
        for name, found, due in self._due(append, heard, place):
            self._compare(TOLD, name, found, due)
        await process.point("a little later")
        await self._compare_end(over=failed in ("rpc", "store"))

    async def _outcome(self, append: Append) -> tuple[str, Any]:
        try:
            if "tick" in self.script:
                return "", await self._write(30, Tick(60))
            await self._real.append(append)
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            text = str(failure)
            return f"{type(failure).__name__}: {text.partition(' may')[0] if ' may' in text else ''}", None
        return "", None

    def _due(self, append: Append, heard: str, place: Any) -> list[tuple[str, Any, Any]]:
        """What has to be told and heard, by the place of the failure."""
        if "tick" in self.script:
            lost = self.script["tick"]
            return [
                ("told", self._trace, [("write", 3, 30, Tick(60))]),
                ("heard", (heard, place), ("UnknownOutcomeError: tick 60", None) if lost else ("", 12)),
            ]
        at = next((name for name in _IN_ORDER if name in self.script), "")
        how = self.script.get(at, "")
        steps: list[Hashable] = ["admit", "draw", "stamped", ("write", 3, 8, append.message())]
        told = steps[: _IN_ORDER.index(at) + 1] if at else [*steps, ("landed", 12), ("acknowledge", 12)]
        if (at, how) == ("draw", "rpc"):
            told = [*told, "failed"]
        if (at, how) in (("stamped", "over"), ("write", "large")):
            told = [*told, "refuse", "failed"]
        error = f"{type(_ERRORS[how]).__name__}: " if how else ""
        if at == "write" and how in ("rpc", "store"):
            error = f"UnknownOutcomeError: message {append.ts}"
        return [("told", self._trace, told), ("heard", heard, error)]

    async def _compare_end(self, *, over: bool) -> None:
        """Whether it is over, and how it stops."""
        self._compare(OVER, "open", self.is_open, not over)
        self._compare(OVER, "closed", self._real.closed.is_set(), over)
        heard = ""
        try:
            await self._real.stop()
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            heard = type(failure).__name__
        self._compare(
            OVER, "what has failed", heard, "RuntimeError" if self.script.get("how") == "fault" else ""
        )
        self._compare(OVER, "open at its end", (self.is_open, self._real.closed.is_set()), (False, True))
        running = [name for name in _LOOPS if name != self.script.get("ends")]
        self._compare(OVER, "loops", sorted(self._stopped), sorted(running))

    # The parts.

    def take(self, record: Any) -> None:
        """See Assembly."""
        self._taken.append(record.place)

    def open(self) -> Any:
        """See Assembly."""
        return {4: "open"}

    async def run(self) -> None:
        """See TimeTickOperator."""
        await self._loop("ticks")

    async def run_reads(self) -> None:
        """See Flusher."""
        await self._loop("flusher reads")

    async def run_stores(self) -> None:
        """See Flusher."""
        await self._loop("flusher stores")

    async def run_records(self) -> None:
        """See Flusher."""
        await self._loop("recovery storage")

    async def _loop(self, name: str) -> None:
        self._trace.append(f"run {name}")
        task = asyncio.current_task()
        self._compare(MADE, "name", task and task.get_name(), name)
        try:
            await self._gates[name].wait()
        except asyncio.CancelledError:
            self._stopped.append(name)
            raise
        if self.script["how"]:
            raise _ERRORS[self.script["how"]]

    def _fail(self, at: str) -> None:
        how = self.script.get(at, "")
        if how:
            raise _ERRORS[how]

    def _note(self, append: Append, what: Hashable) -> None:
        self._compare(TOLD, "which append", append is self._append, True)  # noqa: FBT003
        self._trace.append(what)

    def stamped(self, append: Append) -> None:
        """See Transactions."""
        self._note(append, "stamped")
        self._fail("stamped")

    def landed(self, append: Append, place: int) -> None:
        """See Transactions."""
        self._note(append, ("landed", place))

    def failed(self, append: Append) -> None:
        """See Transactions."""
        self._note(append, "failed")

    def refuse(self, append: Append) -> None:
        """See AckManager."""
        self._note(append, "refuse")

    def acknowledge(self, append: Append, place: int) -> None:
        """See AckManager."""
        self._note(append, ("acknowledge", place))

    def admit(self, append: Append) -> Any:
        """See Transactions, and AckManager, which waits for the oracle."""
        if self._trace == ["admit"]:
            return self._draw(append)
        self._trace.append("admit")
        self._fail("admit")
        return None

    async def _draw(self, append: Append) -> None:
        self._trace.append("draw")
        self._fail("draw")
        append.ts, append.since = 77, 8

    async def append(self, term: int, since: int, message: Any) -> int:
        """See TermLog."""
        self._trace.append(("write", term, since, message))
        self._fail("tick" if isinstance(message, Tick) else "write")
        return _DEFAULTS["place"]

    # What is looked at.

    def _compare(self, claim: str, what: str, found: object, due: object) -> None:
        self.compare(claim, f"{dict(self.script)}: {what}", found, due)

    def look(self) -> Hashable:
        """What was told."""
        return tuple(map(repr, self._trace)) if self._ended else None

    def wrong_at_the_end(self) -> str | None:
        """All of the script has happened."""
        return None if self._ended else f"{OVER}: the term does not end"


def terms() -> TermProgram:
    """Return the program of all scripts."""
    return TermProgram(SCRIPTS, timers=0)
