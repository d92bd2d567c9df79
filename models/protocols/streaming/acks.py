"""The acknowledgement manager of one term by itself: appends and ticks that wait at every place in it.

Scripts hold an admission, or the collection of a tick, where it asks the oracle or is preempted, and let
others go on meanwhile. What is given, what may be promised, and behind which place the rest lies, is reckoned
from the calls alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from tidemark.impl.errors import RpcError, TermClosedError
from tidemark.impl.streaming.ack_manager import AckManager
from tidemark.impl.streaming.values import Append, Opening
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

GIVEN = "timestamps_are_given_and_entered_one_by_one"
"""Claim id: who asks first is given the next timestamp, and is entered before anybody else asks; a term that
is over, or an oracle without an answer, gives none."""
PROMISED = "a_tick_is_the_acknowledged_prefix"
"""Claim id: a tick is the greatest timestamp that has ended below every append that has not, if that is later
than the last tick."""
BEHIND = "what_is_later_than_a_tick_lies_behind_its_place"
"""Claim id: the place of a tick is the greatest one of what had ended when nothing later than it was given,
or lies before the begin of a transaction that is not over; it does not go back."""
_FIRST, _STEP = 100, 10
ORACLE, ENTER, COLLECT = "oracle", "ack.enter", "ack.collect"
TICK = "tick"

SCRIPTS: tuple[Script, ...] = (
    # In order: a quiet channel, an append, ticks that are in the log.
    {"calls": [(TICK,), (TICK,), ("written", 1), ("a",), (TICK,), ("ack", "a", 2), (TICK,), ("written", 3),
               (TICK,), ("b",), ("ack", "b", 5), (TICK,), (TICK,)]},
    # Appends that end in another order, and one that never comes into the log.
    {"calls": [("a",), ("b",), ("c",), ("ack", "b", 4), (TICK,), ("ack", "a", 7), (TICK,), ("d",),
               ("refuse", "c"), (TICK,), ("ack", "d", 9), (TICK,), (TICK,)]},
    {"end": 6, "calls": [("a",), ("ack", "a", 3), (TICK,), ("b",), ("ack", "b", 9), ("c",), ("ack", "c", 8),
                         (TICK,), (TICK,)]},
    # An admission that is held up holds all others up; what has ended meanwhile may be promised later.
    {"calls": [("a",), ("b", ORACLE), ("c",), ("ack", "a", 1), (TICK,), ("go", "b"), (TICK,), ("ack", "c", 3),
               ("ack", "b", 2), (TICK,)]},
    {"calls": [("a",), ("b", ENTER), ("ack", "a", 1), (TICK,), ("c",), ("go", "b"), (TICK,), ("ack", "b", 2),
               ("ack", "c", 3), (TICK,)]},
    # A tick that is held up: appends enter behind its timestamp, and end before it looks.
    {"calls": [("a",), (TICK, COLLECT), ("b",), ("ack", "b", 2), ("ack", "a", 1), ("go", TICK), (TICK,)]},
    {"calls": [(TICK, COLLECT), ("a", ENTER), ("go", TICK), ("go", "a"), ("ack", "a", 1), (TICK,)]},
    {"calls": [(TICK, ORACLE), ("a",), ("go", TICK), ("ack", "a", 4), (TICK,)]},
    {"calls": [("a",), ("ack", "a", 1), (TICK, COLLECT), ("b",), ("go", TICK), ("ack", "b", 2), (TICK,)]},
    # The oracle has no answer.
    {"calls": [("fail",), ("a",), (TICK,), ("fail",), (TICK,), ("b",), ("ack", "b", 2), (TICK,)]},
    # The term ends.
    {"calls": [("a",), ("b", ORACLE), (TICK,), ("close",), ("go", "b"), ("c",), ("ack", "a", 1)]},
    {"calls": [("a",), ("b", ENTER), ("close",), ("go", "b"), ("refuse", "a"), (TICK,)]},
    {"calls": [("a",), ("ack", "a", 1), (TICK, COLLECT), ("close",), ("go", TICK)]},
    # Transactions hold the place back.
    {"earliest": 5, "end": 9, "calls": [("a",), ("ack", "a", 12), (TICK,), ("earliest", 11), (TICK,), ("b",),
                                        ("ack", "b", 14), (TICK,), ("earliest", None), (TICK,), (TICK,)]},
    {"calls": [("a",), ("ack", "a", 3), ("earliest", 2), (TICK,), ("earliest", 1), ("b",),
               ("ack", "b", 6), (TICK,)]},
)  # fmt: skip


@dataclass
class Ended:
    """What has ended, and what had been given by then. place: 0 if it is not in the log."""

    ts: int
    until: int
    place: int


@dataclass
class Call:
    """An admission, or the collection of a tick; hold: where it waits until it is told to go on."""

    name: str
    hold: str
    heard: Hashable = None


@dataclass
class Reckoning:
    """One term as it has to be. ``queue``: calls that want the turn, the first one has it."""

    end: int
    earliest: int | None
    last: int = _FIRST
    passed: int = _FIRST
    place: int = 0
    closed: bool = False
    fails: bool = False
    drawn: str = ""
    given: dict[str, int] = field(default_factory=dict)
    since: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    ended: list[Ended] = field(default_factory=list)
    queue: list[tuple[Call, str]] = field(default_factory=list)
    next: int = _FIRST

    def __post_init__(self) -> None:
        self.place = self.held_back(self.end)

    def held_back(self, place: int) -> int:
        """Before the begin of each transaction that is not over."""
        return place if self.earliest is None else min(place, self.earliest - 1)

    def begin(self, call: Call) -> None:
        """A call: it draws when it has the turn."""
        self._wants(call, "draw")

    def _wants(self, call: Call, what: str) -> None:
        self.queue.append((call, what))
        if len(self.queue) == 1:
            self._turn()

    def _turn(self) -> None:
        while self.queue:
            call, what = self.queue[0]
            if what == "draw" and call.hold == ORACLE:
                return
            if what == "prefix":
                call.heard = "TermClosedError" if self.closed else ("tick", self.prefix())
            elif not self._draw(call):
                return
            self.queue.pop(0)
            if what == "draw" and call.name == TICK and call.heard is None and call.hold != COLLECT:
                self._wants(call, "prefix")

    def _draw(self, call: Call) -> bool:
        """Draw and enter; False if it is held up in between."""
        failed, self.fails = self.fails, False
        if failed:
            call.heard = "RpcError"
            return True
        if self.drawn != call.name:
            self.next += _STEP
            if call.name != TICK and self.closed:
                call.heard = "TermClosedError"
                return True
            self.last = self.next
            if call.name == TICK:
                self.ended.append(Ended(self.last, self.last, 0))
                return True
            self.given[call.name], self.drawn = self.last, call.name
            if call.hold == ENTER:
                return False
        if self.closed:
            call.heard = "TermClosedError"
            return True
        self.since[call.name], self.waiting[call.name] = self.place, self.given[call.name]
        self.drawn, call.heard = "", "entered"
        return True

    def go(self, call: Call) -> None:
        """It is held up no longer."""
        held, call.hold = call.hold, ""
        if held == COLLECT:
            self._wants(call, "prefix")
        else:
            self._turn()

    def ends(self, name: str, place: int) -> None:
        """An append is in the log at a place, or not: 0."""
        if not self.closed:
            self.ended.append(Ended(self.waiting.pop(name), self.last, place))

    def prefix(self) -> int | None:
        """The tick that may be promised, and with it the place behind which all that is later lies."""
        below = [one.ts for one in self.ended if all(one.ts < ts for ts in self.waiting.values())]
        tick = max(below, default=self.passed)
        if tick <= self.passed:
            return None
        known = [one.place for one in self.ended if one.until <= tick]
        self.place = max(self.place, self.held_back(max(known, default=0)))
        self.ended = [one for one in self.ended if one.until > tick]
        self.passed = tick
        return tick


class AcksProgram(ComparedProgram):
    """One acknowledgement manager, appends, ticks, and an oracle."""

    async def live(self, process: Process) -> None:
        """Make the manager, and call."""
        self._process = process
        self._fails = self._ended = False
        self._next = _FIRST
        self._calls: dict[str, Call] = {}
        self._due: dict[str, Call] = {}
        self._gates: dict[str, asyncio.Event] = {}
        self._appends: dict[str, Append] = {}
        self._ticked: list[int] = []
        self._earliest: int | None = self.script.get("earliest")
        end = self.script.get("end", 0)
        self._right = Reckoning(end, self._earliest)
        self._real = AckManager(
            opening=Opening(3, end), first=_FIRST, oracle=self, preemption=self, transactions=self,  # type: ignore[arg-type]
        )  # fmt: skip
        self.begun = True
        for call in self.script["calls"]:
            await self._happen(call)
            await process.point("a little later")
            self._look(call)
            await self.halt_if_wrong()
        self._ended = True

    async def _happen(self, call: tuple[Any, ...]) -> None:
        match call:
            case ("fail",):
                self._fails = self._right.fails = True
            case ("close",):
                self._real.is_open, self._right.closed = False, True
            case ("earliest", place):
                self._earliest = self._right.earliest = place
            case ("go", name):
                self._right.go(self._due[name])
                self._gates[name].set()
            case ("ack", name, place):
                self._right.ends(name, place)
                self._real.acknowledge(self._appends[name], place)
            case ("refuse", name):
                self._right.ends(name, 0)
                self._real.refuse(self._appends[name])
            case ("written", place):
                self._right.ended.append(Ended(self._right.passed, self._right.last, place))
                self._real.written(self._real.passed, place)
                if self._ticked[-1:] != [self._real.passed]:
                    self._problem = f"{PROMISED}: the transactions are told of the ticks {self._ticked}"
            case (name, *hold):
                self._start(name, "".join(hold))

    def _start(self, name: str, hold: str) -> None:
        self._calls[name], self._due[name] = Call(name, hold), Call(name, hold)
        self._gates[name] = asyncio.Event()
        self._appends[name] = Append("channel")
        self._right.begin(self._due[name])
        work: Callable[[], Any] = self._collect if name == TICK else lambda: self._admit(name)
        asyncio.get_running_loop().create_task(self._heard(name, work), name=name)

    async def _heard(self, name: str, work: Callable[[], Any]) -> None:
        call = self._calls[name]
        try:
            call.heard = await work()
        except (RpcError, TermClosedError) as failure:
            call.heard = type(failure).__name__

    async def _admit(self, name: str) -> Hashable:
        await self._real.admit(self._appends[name])
        return "entered"

    async def _collect(self) -> Hashable:
        return "tick", await self._real.collect()

    # The edges.

    async def _held(self, place: str) -> None:
        task = asyncio.current_task()
        name = "" if task is None else task.get_name()
        if name in self._calls and self._calls[name].hold == place:
            await self._gates[name].wait()

    async def point(self, name: str) -> None:
        """See Preemption."""
        await self._held(name)

    async def alloc(self, count: int) -> int:
        """See Oracle."""
        await self._held(ORACLE)
        if self._fails:
            self._fails = False
            raise RpcError("no answer")
        self._next += _STEP * count
        return self._next

    def earliest(self, tick: int) -> int | None:
        """See Transactions."""
        if self.begun and tick != self._real.passed:
            self._problem = f"{BEHIND}: the begins of {tick} are asked for, and not those of the tick"
        return self._earliest

    def ticked(self, tick: int) -> None:
        """See Transactions."""
        self._ticked.append(tick)

    # What is looked at.

    def _look(self, call: tuple[Any, ...]) -> None:
        real, right = self._real, self._right
        for name, due in self._due.items():
            claim = PROMISED if name == TICK else GIVEN
            self._compare(claim, call, f"what {name} hears", self._calls[name].heard, due.heard)
            append = self._appends[name]
            self._compare(GIVEN, call, f"timestamp of {name}", append.ts, right.given.get(name, 0))
            self._compare(BEHIND, call, f"place of {name}", append.since, right.since.get(name, 0))
            self._compare(GIVEN, call, f"stage of {name}", append.stage.value, self._stage(name))
            self._compare(GIVEN, call, f"term of {name}", append.term, 3 if name in right.given else 0)
        self._compare(GIVEN, call, "the last one", real.last, right.last)
        self._compare(GIVEN, call, "who waits", sorted(real.waiting), sorted(right.waiting.values()))
        drawn = real.drawn and next(name for name, one in self._appends.items() if one is real.drawn)
        self._compare(GIVEN, call, "who is drawn", drawn or "", right.drawn)
        self._compare(PROMISED, call, "the last tick", real.passed, right.passed)
        self._compare(PROMISED, call, "quiet", real.is_quiet, right.last == right.passed and not right.drawn)
        self._compare(BEHIND, call, "the place", real.confirmed, right.place)
        kept = [(one.ts, one.until, one.place) for one in real.ended]
        self._compare(
            BEHIND, call, "what is kept", kept, [(one.ts, one.until, one.place) for one in right.ended]
        )

    def _stage(self, name: str) -> str:
        """How far an append has to be."""
        right = self._right
        if name in right.waiting:
            return "entered"
        if name in self._left():
            return self._left()[name]
        return "drawn" if name in right.given else "new"

    def _left(self) -> dict[str, str]:
        """Appends that have ended before the term."""
        done = {"ack": "acknowledged", "refuse": "refused"}
        found: dict[str, str] = {}
        for call in self.script["calls"]:
            if call[0] == "close":
                break
            if call[0] in done:
                found[call[1]] = done[call[0]]
        entered = self._right.since
        return {name: how for name, how in found.items() if name in entered}

    def _compare(self, claim: str, call: tuple[Any, ...], what: str, found: object, due: object) -> None:
        self.compare(claim, f"after {call}: {what}", found, due)

    def look(self) -> Hashable:
        """What was heard."""
        return tuple((name, repr(call.heard)) for name, call in sorted(self._calls.items()))

    def wrong_at_the_end(self) -> str | None:
        """All that the script calls has happened."""
        return None if self._ended else f"{GIVEN}: a call of the script does not return"


def acks() -> AcksProgram:
    """Return the program of all scripts."""
    return AcksProgram(SCRIPTS, timers=0)
