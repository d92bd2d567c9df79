"""Calls of the sessions in etcd, one after the other, beside a reckoning of what etcd has to hold.

The adapter's own code over a simulated etcd. Leases end, etcd is compacted, and calls fail, by script.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from tidemark.impl.broker.etcd_sessions import EtcdSessions
from tidemark.impl.errors import SessionEndedError, StoreError, WatchCompactedError
from tidemark.impl.storage.etcd_client import Change, Json, KeyRange, decode
from tidemark.impl.values.report import SourceId
from tidemark.models.protocols.common import etcd
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

ANSWERS = "a_session_lives_as_long_as_its_lease"
"""Claim id: each session has a number that follows the last one, is renewed while its lease runs, is listed
while it lives, and its begin and end are told once and in order; who takes over fences what is over, once."""
HELD = "etcd_holds_the_sessions_and_no_more"
"""Claim id: each session that lives has a key under a lease of its length; each one that was has a key that
says whether the logs refuse it; nothing else is there."""
_PREFIX = "tidemark/sessions"
_OTHER = f"{_PREFIX}/alive0"
"""Its keys are next to those of the sessions that live."""
_ASKED_OF_ETCD = ("register", "renew", "end", "take", "fence", "start")
_MOST = 20
"""No call asks etcd as often."""
Heard = tuple[Hashable, tuple[SourceId, ...]]
"""An answer, or the class of an error, and whom the logs were told to refuse meanwhile."""

SCRIPTS: tuple[Script, ...] = (
    {"calls": [("take",), ("register", "a", 1.5), ("register", "b", 9.0), ("take",), ("renew", 1),
               ("next",), ("lapse", 1), ("renew", 1), ("next",), ("next",), ("take",), ("take",),
               ("end", 2), ("renew", 2), ("end", 2), ("fence", 2), ("take",), ("next",),
               ("register", "a", 0.2), ("next",), ("take",)]},
    # A process that begins anew ends what is left; the one before is dead.
    {"calls": [("register", "a", 3.0), ("register", "b", 3.0), ("register", "c", 3.0), ("end", 2),
               ("again",), ("start",), ("take",), ("renew", 1), ("register", "a", 3.0), ("take",),
               ("renew", 4), ("again",), ("renew", 4), ("start",), ("take",)]},
    # What is forgotten is not told; who has seen it goes on.
    {"calls": [("register", "a", 3.0), ("next",), ("end", 1), ("compact",), ("next",), ("take",),
               ("skip",), ("register", "b", 3.0), ("next",), ("compact",), ("register", "c", 3.0),
               ("next",)]},
    # A lease that is gone cannot be given back; other failures are told.
    {"calls": [("register", "a", 3.0), ("lapse", 1), ("end", 1), ("register", "b", 3.0), ("broken",),
               ("register", "c", 3.0), ("end", 2), ("renew", 2), ("take",), ("fence", 1), ("start",),
               ("mended",), ("take",)]},
    # Two stores in one etcd, and the end of a connection.
    {"calls": [("register", "a", 3.0), ("elsewhere",), ("take",), ("register", "z", 3.0), ("take",),
               ("here",), ("take",), ("run",), ("close",)]},
)  # fmt: skip


@dataclass(eq=False)
class _Calls(etcd.DirectCalls):
    """One connection. ``broken``: whether every call fails. ``silent``: a watch hears nothing at first.

    made: calls so far. too_many: to be awaited when there are too many.
    """

    content: dict[str, Any]
    too_many: Callable[[], Awaitable[None]]
    made: int = 0
    broken: bool = False
    silent: bool = True
    closed: int = 0

    def __post_init__(self) -> None:
        super().__init__(self.content)

    async def call(self, path: str, request: Json) -> Json:
        """See EtcdCalls."""
        await self._count()
        if self.broken:
            raise StoreError("etcd at nowhere: unavailable")
        found = await super().call(path, request)
        if path == "/v3/lease/grant":
            self.content.setdefault("lengths", {})[int(found["ID"])] = int(request["TTL"])
        return found

    async def first_change(self, keys: KeyRange, *, after: int, seconds: float) -> Change | None:
        """See EtcdCalls."""
        await self._count()
        self.silent = not self.silent
        return await super().first_change(keys, after=after, seconds=seconds) if self.silent else None

    async def close(self) -> None:
        """See EtcdCalls."""
        self.closed += 1

    async def _count(self) -> None:
        self.made += 1
        if self.made > _MOST:
            await self.too_many()


@dataclass
class Session:
    """What is known of one: how long its lease is, whether it runs, and whether the logs refuse it."""

    name: str
    seconds: int
    alive: bool = True
    refused: bool = False
    ours: bool = True


@dataclass
class Reckoning:
    """The sessions below one prefix, from 1 on, and their changes as (number, whether it begins).

    Each call is a method: it notes what the call does, and returns what it has to answer, and whom the logs
    are told to refuse meanwhile.
    """

    sessions: list[Session] = field(default_factory=list)
    changes: list[tuple[SourceId, bool]] = field(default_factory=list)
    told: int = 0
    forgotten: int = 0

    def register(self, name: str, seconds: float) -> Heard:
        """A number more."""
        self.sessions.append(Session(name, math.ceil(seconds)))
        self.changes.append((len(self.sessions), True))
        return len(self.sessions), ()

    def renew(self, number: SourceId) -> Heard:
        """By who has begun it, while it lives."""
        one = self.sessions[number - 1]
        return (None if one.alive and one.ours else "SessionEndedError"), ()

    def end(self, number: SourceId) -> Heard:
        """A session is over, if it is not over yet."""
        if self.sessions[number - 1].alive:
            self.sessions[number - 1].alive = False
            self.changes.append((number, False))
        return None, ()

    lapse = end

    def fence(self, number: SourceId) -> Heard:
        """The logs refuse it."""
        self.sessions[number - 1].refused = True
        return None, (number,)

    def take(self) -> Heard:
        """Who lives; who is over and not refused is refused now."""
        live = tuple(number for number, one in enumerate(self.sessions, 1) if one.alive)
        return (live, True), self._refused(
            [number for number, one in enumerate(self.sessions, 1) if not one.alive and not one.refused]
        )

    def start(self) -> Heard:
        """All that there is ends, and is refused, whether it was before or not."""
        numbers = list(range(1, len(self.sessions) + 1))
        for number in numbers:
            self.end(number)
        return None, self._refused(numbers)

    def next(self) -> Heard:
        """The change after the last one that was told."""
        if self.told < self.forgotten:
            return "WatchCompactedError", ()
        self.told += 1
        return self.changes[self.told - 1], ()

    def close(self) -> Heard:
        """The connection is closed, once."""
        return 1, ()

    def compact(self) -> Heard:
        """All changes so far are forgotten."""
        self.forgotten = len(self.changes)
        return None, ()

    def skip(self) -> Heard:
        """Who follows goes on with what is new."""
        self.told = len(self.changes)
        return None, ()

    def again(self) -> Heard:
        """Another process."""
        for one in self.sessions:
            one.ours = False
        return None, ()

    def elsewhere(self) -> Heard:
        """Another prefix."""
        return None, ()

    broken = mended = run = here = elsewhere

    def fails(self, name: str, *asked: Any) -> Heard:
        """What a call answers while etcd fails. The logs were told before, and a session that is given up is
        ours no more.
        """
        if name == "end":
            self.sessions[asked[0] - 1].ours = False
        if name == "renew" and not self.sessions[asked[0] - 1].ours:
            return "SessionEndedError", ()
        return "StoreError", (asked[0],) if name == "fence" else ()

    def _refused(self, over: list[SourceId]) -> tuple[SourceId, ...]:
        for number in over:
            self.sessions[number - 1].refused = True
        return tuple(over)

    def keys(self, prefix: str) -> set[tuple[str, str, int]]:
        """Key, value and length of the lease of all that is there."""
        found = {(f"{prefix}/last", str(len(self.sessions)), 0)} if self.sessions else set()
        for number, one in enumerate(self.sessions, 1):
            found.add((f"{prefix}/known/{number:020}", "refused" if one.refused else "", 0))
            if one.alive:
                found.add((f"{prefix}/alive/{number:020}", one.name, one.seconds))
        return found


class EtcdCallsProgram(ComparedProgram):
    """One process that calls; what it hears, and what etcd holds, is compared after each call."""

    def __init__(self) -> None:
        super().__init__(SCRIPTS, timers=1)
        self._done = 0

    async def live(self, process: Process) -> None:
        """See ScriptedProgram."""
        self._content: dict[str, Any] = {}
        etcd.begin(self._content, watches=True)
        self._fenced: list[SourceId] = []
        self._known = {_PREFIX: Reckoning(), _OTHER: Reckoning()}
        self._revision = 1
        self._open(_PREFIX)
        self.begun = True
        for call in self.script["calls"]:
            await process.point("call")
            wanted = self._reckon(call)
            found = await self._perform(call)
            self._done += 1
            if found != wanted:
                self._problem = f"{ANSWERS}: {call} has answered {found}, and not {wanted}"
            elif (held := self._held()) != (due := self._due()):
                self._problem = f"{HELD}: after {call} {sorted(held ^ due)} is in one of both only"
            await self.halt_if_wrong()

    def _open(self, prefix: str) -> None:
        """Another process has a store of its own."""
        self._prefix = prefix
        self._calls = _Calls(self._content, self._refuse)
        self._real = EtcdSessions("http://nowhere", fences=self, prefix=self._prefix, client=self._calls)

    async def fence(self, source: SourceId) -> None:
        """See Fences."""
        self._fenced.append(source)

    async def _refuse(self) -> None:
        self._problem = f"{ANSWERS}: {self.script['calls'][self._done]} asks etcd without an end"
        await self.halt_if_wrong()

    # What is asked, and what is right.

    async def _perform(self, call: tuple[Any, ...]) -> Heard:
        """The answer, the class of its error, or whom the logs were told to refuse meanwhile."""
        self._fenced.clear()
        self._calls.made = 0
        try:
            return await self._asked_for(call), tuple(self._fenced)
        except (SessionEndedError, WatchCompactedError, StoreError) as failure:
            return type(failure).__name__, tuple(self._fenced)

    async def _asked_for(self, call: tuple[Any, ...]) -> Hashable:
        real = self._real
        match call:
            case ("register", name, seconds):
                return await real.register(name, lease=seconds)
            case ("renew" | "end" | "fence" | "start" as name, *number):
                await getattr(real, name)(*number)
            case ("take",):
                live, revision = await real.take_over()
                return tuple(live), revision == self._content[etcd.REVISION] - len(self._fenced)
            case ("next",):
                event = await real.next_event(self._revision)
                self._revision = event.revision
                return event.source, event.alive
            case ("run",):
                running = asyncio.create_task(real.run(), name="run")
                done, _ = await asyncio.wait([running], timeout=1.0)
                running.cancel()
                return "it has ended" if done else None
            case ("close",):
                await real.close()
                return self._calls.closed
            case _:
                self._moved(call)
        return None

    def _moved(self, call: tuple[Any, ...]) -> None:
        """What is no call of the adapter."""
        match call:
            case ("lapse", number):
                alive = f"{self._prefix}/alive/{number:020}"
                for key, pair in self._content[etcd.KEYS]:
                    if decode(key).decode() == alive:
                        etcd.end_lease(self._content, pair.lease)
            case ("compact",):
                etcd.compact(self._content, self._content[etcd.REVISION])
            case ("skip",):
                self._revision = self._content[etcd.REVISION]
            case ("broken" | "mended" as state,):
                self._calls.broken = state == "broken"
            case ("elsewhere" | "here" as place,):
                self._open(_OTHER if place == "elsewhere" else _PREFIX)
            case ("again",):
                self._open(self._prefix)

    def _reckon(self, call: tuple[Any, ...]) -> Heard:
        """Note what a call does, and return what it has to answer."""
        known = self._known[self._prefix]
        if self._calls.broken and call[0] in _ASKED_OF_ETCD:
            return known.fails(*call)
        heard: Heard = getattr(known, call[0])(*call[1:])
        return heard

    def _held(self) -> set[tuple[str, str, int]]:
        lengths = self._content.get("lengths", {})
        return {
            (decode(key).decode(), decode(pair.value).decode(), lengths.get(pair.lease, 0))
            for key, pair in self._content[etcd.KEYS]
        }

    def _due(self) -> set[tuple[str, str, int]]:
        return self._known[_PREFIX].keys(_PREFIX) | self._known[_OTHER].keys(_OTHER)

    # What is looked at.

    def look(self) -> Hashable:
        """How many calls were made."""
        return self._done

    def wrong_at_the_end(self) -> str | None:
        """All calls were answered."""
        calls = self.script["calls"]
        return None if self._done == len(calls) else f"{ANSWERS}: {calls[self._done]} is not answered"


def calls() -> EtcdCallsProgram:
    """Return the program."""
    return EtcdCallsProgram()
