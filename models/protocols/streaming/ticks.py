"""The time tick operator by itself: rounds, what the acknowledgement manager answers, and the log.

Which rounds pass without a tick, what is written, and what is told, follows from the answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any, cast

from tidemark.impl.errors import RpcError, TermClosedError
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.time_tick import TimeTickOperator
from tidemark.impl.values.messages import Tick
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

ROUNDS = "a_round_asks_for_a_tick_unless_nothing_is_new"
"""Claim id: after each period the prefix is asked for; while nothing is new, so many rounds pass
without it."""
WRITTEN = "what_was_collected_is_written_and_told"
"""Claim id: the first tick of a term is written at once, and each one that was collected; that it is in the
log is told with its place, and until then it is known as one to be written."""
ENDS = "the_operator_ends_with_its_term"
"""Claim id: an oracle without an answer ends nothing; the end of the term, and an error of the log, do."""
_SECONDS, _FIRST = 0.5, 100

SCRIPTS: tuple[Script, ...] = (
    {
        "idle": 2,
        "calls": [
            ("round", 110),
            ("round", None),
            ("round", 130),
            ("quiet",),
            ("round", 140),
            ("round", 150),
            ("round", 160),
            ("round", 170),
            ("busy",),
            ("round", 180),
            ("quiet",),
            ("round", 190),
            ("round", 200),
            ("round", None),
            ("round", 210),
            ("round", 220),
        ],
    },
    {"idle": 0, "calls": [("quiet",), ("round", 110), ("round", 120)]},
    {
        "idle": 1,
        "calls": [
            ("round", "oracle"),
            ("quiet",),
            ("round", 110),
            ("round", "oracle"),
            ("round", 120),
            ("round", 130),
        ],
    },
    # The log is slow, or fails; the term ends.
    {"idle": 1, "calls": [("hold",), ("round", 110), ("go",), ("round", 120)]},
    {"idle": 1, "calls": [("fail",), ("round", 110)]},
    {"idle": 1, "calls": [("round", "closed")]},
)


class TicksProgram(ComparedProgram):
    """One operator, the acknowledgement manager and the log."""

    passed = _FIRST

    async def live(self, process: Process) -> None:
        """Make the operator, and let rounds pass."""
        self._ended = False
        self._trace: list[Hashable] = []
        self._held, self._fails = False, False
        self._gate, self._round = asyncio.Event(), asyncio.Event()
        self._answer: Any = None
        self.is_quiet, self.confirmed, self._place = False, 7, 0
        config = StreamingConfig(tick_seconds=_SECONDS, idle_rounds=self.script["idle"])
        self._real = TimeTickOperator(acks=cast("Any", self), write=self.write, clock=self, config=config)
        # What is due.
        self._due: list[Hashable] = []
        self._skipped, self._writes, self._tick, self._over = 0, 0, 0, False
        self._told(_FIRST)
        self._due.append(("sleep", _SECONDS))
        self.begun = True
        self._running = asyncio.get_running_loop().create_task(self._real.run(), name="ticks")
        await process.point("a little later")
        for call in self.script["calls"]:
            self._happen(call)
            await process.point("a little later")
            self._look(call)
            await self.halt_if_wrong()
        self._ended = True

    def _happen(self, call: tuple[Any, ...]) -> None:
        match call:
            case ("quiet" | "busy" as how,):
                self.is_quiet = how == "quiet"
            case ("hold",):
                self._held = True
            case ("fail",):
                self._fails = True
            case ("go",):
                self._held = False
                self._due[-1:] = [self._due[-1], ("written", self._tick, self._writes), ("sleep", _SECONDS)]
                self._tick = 0
                self._gate.set()
            case ("round", answer):
                self._answer = answer
                self._reckon(answer)
                self._round.set()

    def _reckon(self, answer: Any) -> None:
        """What a round has to do."""
        if self.is_quiet and self._skipped < self.script["idle"]:
            self._skipped += 1
            self._due.append(("sleep", _SECONDS))
            return
        self._due.append("collect")
        if answer == "closed":
            self._over = True
            return
        if isinstance(answer, int):
            self._skipped = 0
            self.confirmed += 10
            self._told(answer)
        if not (self._held or self._over):
            self._due.append(("sleep", _SECONDS))

    def _told(self, tick: int) -> None:
        """A tick is written, and then told."""
        self._writes += 1
        self._due.append(("write", self.confirmed, tick))
        self._tick = tick
        if self._fails:
            self._over = True
        elif not self._held:
            self._due.append(("written", tick, self._writes))
            self._tick = 0

    # The edges.

    def _note(self, what: Hashable) -> None:
        self._trace.append(what)
        if len(self._trace) > len(self._due) + 3:
            self._problem = f"{ROUNDS}: {self._trace}, and not {self._due}"

    async def collect(self) -> int | None:
        """See AckManager."""
        self._note("collect")
        await self.halt_if_wrong()
        if self._answer == "oracle":
            raise RpcError("no answer")
        if self._answer == "closed":
            raise TermClosedError("it is over")
        found: int | None = self._answer
        return found

    def written(self, tick: int, place: int) -> None:
        """See AckManager."""
        self._note(("written", tick, place))

    async def write(self, start: int, tick: Tick) -> int:
        """The log."""
        self._place += 1
        self._note(("write", start, tick.ts))
        await self.halt_if_wrong()
        if self._held:
            await self._gate.wait()
        if self._fails:
            raise RpcError("the log has no answer")
        return self._place

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        self._note(("sleep", seconds))
        await self.halt_if_wrong()
        await self._round.wait()
        self._round.clear()

    # What is looked at.

    def _look(self, call: tuple[Any, ...]) -> None:
        over = self._running.done() and isinstance(self._running.exception(), (RpcError, TermClosedError))
        real = self._real
        self._compare(ENDS, call, "over", over, self._over)
        self._compare(WRITTEN, call, "done", self._trace, self._due)
        self._compare(WRITTEN, call, "to be written", real.to_write, self._tick)
        self._compare(ROUNDS, call, "held back", real.held_back, self._skipped)

    def _compare(self, claim: str, call: tuple[Any, ...], what: str, found: object, due: object) -> None:
        self.compare(claim, f"after {call}: {what}", found, due)

    def look(self) -> Hashable:
        """What was done."""
        return tuple(self._trace)

    def wrong_at_the_end(self) -> str | None:
        """All of the script has happened."""
        return None if self._ended else f"{ENDS}: the script does not come to its end"


def ticks() -> TicksProgram:
    """Return the program of all scripts."""
    return TicksProgram(SCRIPTS, timers=0)
