"""Calls of the sessions in one SQLite file, one after the other, beside a reckoning of what it has to hold.

The store's own code and SQL over a database in memory. Time passes, looks at the leases happen, the file is
opened again, and logs do not answer, by script.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.impl.broker.memory_database import MemoryDatabase
from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.errors import RpcError, SessionEndedError, WatchCompactedError
from tidemark.impl.values.report import SourceId
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.database import outside
from tidemark.models.simulation.world.process import Process

ANSWERS = "a_session_in_a_file_lives_as_long_as_its_lease"
"""Claim id: each session has a number that follows the last one, is renewed while its lease runs, and is
over at the first look after that; its begin and end are told once and in order; what is over is fenced."""
HELD = "the_file_holds_the_sessions_and_the_changes"
"""Claim id: the file has each session with its lease, end and state, and what is kept of the changes."""
_KEEP = 3
_PAUSE = 0.25
_MOST = 60
_SAME = {"next": "heard"}
"""No call makes as many statements."""
Heard = tuple[Hashable, tuple[SourceId, ...]]
"""An answer, or the class of an error, and whom the logs were told to refuse meanwhile."""

SCRIPTS: tuple[Script, ...] = (
    # Leases: renewed before their end, not at it and not after it, before a look has noticed it or later.
    {"calls": [("take",), ("register", "a", 2.0), ("register", "b", 5.0), ("take",), ("passes", 1.0),
               ("renew", 1), ("passes", 1.5), ("look",), ("renew", 1), ("passes", 2.0), ("renew", 1),
               ("take",), ("look",), ("take",), ("renew", 1), ("passes", 0.5), ("look",), ("renew", 2),
               ("register", "c", 1.0), ("take",), ("end", 3), ("renew", 3), ("end", 3), ("look",),
               ("fence", 3), ("end", 3), ("renew", 3), ("take",)]},
    # Changes are told in order; what is forgotten is not, and who asks for it hears that.
    {"calls": [("register", "a", 9.0), ("next",), ("register", "b", 9.0), ("end", 1), ("next",), ("next",),
               ("register", "c", 9.0), ("end", 2), ("compact", 3), ("next",), ("compact", 4), ("next",),
               ("take",), ("register", "d", 9.0), ("compact", 4), ("next",), ("skip",),
               ("register", "e", 9.0), ("compact", 7), ("take",), ("next",), ("skip",),
               ("register", "f", 9.0), ("next",)]},
    # A look forgets all but the last changes.
    {"calls": [("register", "a", 1.0), ("register", "b", 1.0), ("look",), ("register", "c", 4.0), ("look",),
               ("register", "d", 1.0), ("look",), ("next",), ("passes", 1.0), ("look",), ("look",),
               ("take",), ("skip",), ("passes", 3.0), ("look",), ("next",), ("take",)]},
    # Who follows waits for what is new, and is woken by each kind of change.
    {"calls": [("follow",), ("quiet",), ("register", "a", 1.0), ("heard",), ("follow",), ("compact", 1),
               ("quiet",), ("end", 1), ("heard",), ("register", "b", 1.0), ("next",), ("follow",),
               ("look",), ("quiet",), ("passes", 1.0), ("look",), ("heard",)]},
    # Another process opens the file, ends what is left, and lets the logs refuse all of it.
    {"calls": [("register", "a", 9.0), ("register", "b", 9.0), ("end", 1), ("again",), ("take",),
               ("register", "c", 9.0), ("again",), ("start",), ("take",), ("renew", 2), ("next",), ("next",),
               ("next",), ("next",), ("next",), ("register", "d", 9.0), ("next",), ("next",), ("start",),
               ("close",)]},
    # Logs that do not answer: nobody notes that they refuse.
    {"calls": [("register", "a", 9.0), ("register", "b", 9.0), ("end", 1), ("deaf",), ("take",),
               ("fence", 1), ("start",), ("heeding",), ("take",), ("take",), ("fence", 1)]},
    # Time passes while a call waits for its transaction: what counts is the time in it.
    {"calls": [("register", "a", 2.0), ("slow", 1.0), ("register", "b", 2.0), ("slow", 1.0), ("renew", 1),
               ("slow", 1.0), ("look",), ("take",)]},
)  # fmt: skip


@dataclass(eq=False)
class _Database:
    """One connection.

    too_many: to be awaited when there are too many statements of one call. begins: called at the begin of a
    transaction.
    """

    memory: MemoryDatabase
    too_many: Callable[[], Awaitable[None]]
    begins: Callable[[], None]
    made: int = 0
    closed: int = 0

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See Database."""
        self.made += 1
        if self.made > _MOST:
            await self.too_many()
        if statement.startswith("BEGIN"):
            self.begins()
        with outside():
            return await self.memory.execute(statement, values)

    async def close(self) -> None:
        """See Database."""
        self.closed += 1
        with outside():
            await self.memory.close()


class _Clock:
    """Time passes by script, and a pause lasts until the script looks again."""

    def __init__(self) -> None:
        self.time = 10.0
        self.pauses: list[float] = []
        self.rests = asyncio.Event()
        self.goes_on = asyncio.Event()

    def monotonic(self) -> float:
        """See SteadyClock."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        self.pauses.append(seconds)
        self.rests.set()
        await self.goes_on.wait()
        self.goes_on.clear()


@dataclass
class Session:
    """What is known of one: until when its lease runs, and what it is."""

    name: str
    lease: float
    expires: float
    state: str = "alive"


@dataclass
class Reckoning:
    """The sessions, from 1 on, and their changes as (number, whether it begins).

    Each call is a method: it notes what the call does, and returns what it has to answer, and whom the logs
    are told to refuse meanwhile.
    """

    now: float = 10.0
    sessions: list[Session] = field(default_factory=list)
    changes: list[tuple[SourceId, bool]] = field(default_factory=list)
    told: int = 0
    forgotten: int = 0
    deaf: bool = False

    def register(self, name: str, lease: float) -> Heard:
        """A number more."""
        self.sessions.append(Session(name, lease, self.now + lease))
        self.changes.append((len(self.sessions), True))
        return len(self.sessions), ()

    def passes(self, seconds: float) -> Heard:
        """Time passes."""
        self.now += seconds
        return None, ()

    slow = passes

    def renew(self, number: SourceId) -> Heard:
        """Before its end, whether anybody has noticed that or not."""
        one = self.sessions[number - 1]
        if one.state != "alive" or one.expires <= self.now:
            return "SessionEndedError", ()
        one.expires = self.now + one.lease
        return None, ()

    def end(self, number: SourceId) -> Heard:
        """A session is over, if it is not over yet."""
        if self.sessions[number - 1].state == "alive":
            self.sessions[number - 1].state = "ended"
            self.changes.append((number, False))
        return None, ()

    def look(self) -> Heard:
        """Sessions whose time has come are over, and old changes are forgotten."""
        for number, one in enumerate(self.sessions, 1):
            if one.expires <= self.now:
                self.end(number)
        self._forget(len(self.changes) - _KEEP)
        return _PAUSE, ()

    def fence(self, number: SourceId) -> Heard:
        """The logs refuse it."""
        return self._fenced([number], None)

    def take(self) -> Heard:
        """Who lives, and the last change; who is over and not fenced is fenced now."""
        live = tuple(n for n, one in enumerate(self.sessions, 1) if one.state == "alive")
        over = [n for n, one in enumerate(self.sessions, 1) if one.state == "ended"]
        return self._fenced(over, (live, len(self.changes)))

    def start(self) -> Heard:
        """All that there is ends, and is refused. That is not noted: it is done at each start."""
        numbers = tuple(range(1, len(self.sessions) + 1))
        for number in numbers:
            self.end(number)
        return ("RpcError", ()) if self.deaf else (None, numbers)

    def compact(self, upto: int) -> Heard:
        """Changes are forgotten."""
        self._forget(upto)
        return None, ()

    def heard(self) -> Heard:
        """The change after the last one that was told."""
        if self.told < self.forgotten:
            return "WatchCompactedError", ()
        self.told += 1
        return (self.told, *self.changes[self.told - 1]), ()

    def skip(self) -> Heard:
        """Who follows goes on with what is new."""
        self.told = len(self.changes)
        return None, ()

    def hear(self, *, deaf: bool) -> Heard:
        """Whether the logs answer."""
        self.deaf = deaf
        return None, ()

    def quiet(self) -> Heard:
        """Who waits goes on waiting."""
        return True, ()

    def close(self) -> Heard:
        """The connection is closed, once."""
        return 1, ()

    def again(self) -> Heard:
        """Another process: the file is what it was."""
        return None, ()

    follow = again

    def _fenced(self, numbers: list[SourceId], answer: Hashable) -> Heard:
        if self.deaf and numbers:
            return "RpcError", ()
        for number in numbers:
            self.sessions[number - 1].state = "fenced"
        return answer, tuple(numbers)

    def _forget(self, upto: int) -> None:
        self.forgotten = max(self.forgotten, min(upto, len(self.changes)))

    def rows(self) -> set[tuple[Any, ...]]:
        """All that the file holds."""
        found: set[tuple[Any, ...]] = set()
        for number, one in enumerate(self.sessions, 1):
            found.add(("session", number, one.name, one.lease, one.expires, one.state))
        for revision, (number, alive) in enumerate(self.changes, 1):
            if revision > self.forgotten:
                found.add(("change", revision, number, int(alive)))
        return found


class FileCallsProgram(ComparedProgram):
    """One process that calls; what it hears, and what the file holds, is compared after each call."""

    def __init__(self) -> None:
        super().__init__(SCRIPTS, timers=1)
        self._done = 0

    async def live(self, process: Process) -> None:
        """See ScriptedProgram."""
        with outside():
            self._memory = MemoryDatabase()
        self._fenced: list[SourceId] = []
        self._known = Reckoning()
        self._time = self._known.now
        self._late = 0.0
        self._running: asyncio.Task[None] | None = None
        self._open()
        self.begun = True
        for call in self.script["calls"]:
            await process.point("call")
            wanted = self._reckon(call)
            found = await self._perform(call)
            self._done += 1
            if found != wanted:
                self._problem = f"{ANSWERS}: {call} has answered {found}, and not {wanted}"
            elif (held := await self._held()) != (due := self._known.rows()):
                self._problem = f"{HELD}: after {call} {sorted(held ^ due)} is in one of both only"
            await self.halt_if_wrong()

    def _open(self) -> None:
        """Another process has a store of its own."""
        self._clock = _Clock()
        self._clock.time = self._time
        self._database = _Database(self._memory, self._refuse, self._begins)
        self._real = SqliteSessions(
            Path("sessions"),
            fences=self,
            clock=self._clock,
            steady=self._clock,
            look_seconds=_PAUSE,
            keep=_KEEP,
            database=self._database,
        )

    async def fence(self, source: SourceId) -> None:
        """See Fences."""
        if self._known.deaf:
            raise RpcError("the logs do not answer")
        self._fenced.append(source)

    def _begins(self) -> None:
        self._time, self._late = self._time + self._late, 0.0
        self._clock.time = self._time

    async def _refuse(self) -> None:
        self._problem = f"{ANSWERS}: {self.script['calls'][self._done]} asks the file without an end"
        await self.halt_if_wrong()

    # What is asked, and what is right.

    async def _perform(self, call: tuple[Any, ...]) -> Heard:
        """The answer, the class of its error, and whom the logs were told to refuse meanwhile."""
        self._fenced.clear()
        self._database.made = 0
        try:
            return await self._asked_for(call), tuple(self._fenced)
        except (SessionEndedError, WatchCompactedError, RpcError) as failure:
            return type(failure).__name__, tuple(self._fenced)

    async def _asked_for(self, call: tuple[Any, ...]) -> Hashable:
        real = self._real
        match call:
            case ("register", name, seconds):
                return await real.register(name, lease=seconds)
            case ("renew" | "end" | "fence" | "start" | "compact" as name, *number):
                await getattr(real, name)(*number)
            case ("take",):
                live, revision = await real.take_over()
                return tuple(live), revision
            case ("next",):
                return await self._next(self._after)
            case ("heard",):
                return await self._following
            case ("quiet",):
                return not self._following.done()
            case ("look",):
                return await self._look()
            case ("close",):
                await real.close()
                return self._database.closed
            case _:
                self._moved(call)
        return None

    async def _next(self, after: int) -> Hashable:
        event = await self._real.next_event(after)
        return event.revision, event.source, event.alive

    async def _look(self) -> Hashable:
        clock = self._clock
        if self._running is None:
            self._running = asyncio.create_task(self._real.run(), name="run")
        await clock.rests.wait()
        clock.rests.clear()
        clock.goes_on.set()
        await clock.rests.wait()
        return clock.pauses[-1]

    def _moved(self, call: tuple[Any, ...]) -> None:
        """What is no call of the store."""
        match call:
            case ("passes", seconds):
                self._time = self._clock.time = self._time + seconds
            case ("slow", seconds):
                self._late = seconds
            case ("follow",):
                told = self._known.told
                self._following = asyncio.create_task(self._next(told), name="follower")
            case ("again",):
                self._open()

    def _reckon(self, call: tuple[Any, ...]) -> Heard:
        """Note what a call does, and return what it has to answer."""
        if call[0] in ("deaf", "heeding"):
            return self._known.hear(deaf=call[0] == "deaf")
        self._after = self._known.told
        heard: Heard = getattr(self._known, _SAME.get(call[0], call[0]))(*call[1:])
        return heard

    async def _held(self) -> set[tuple[Any, ...]]:
        with outside():
            if not await self._memory.execute("SELECT 1 FROM sqlite_master WHERE name = 'changes'"):
                return set()  # nothing was asked so far
            sessions = await self._memory.execute("SELECT source, name, lease, expires, state FROM sessions")
            changes = await self._memory.execute("SELECT revision, source, alive FROM changes")
        return {("session", *row) for row in sessions} | {("change", *row) for row in changes}

    # What is looked at.

    def look(self) -> Hashable:
        """How many calls were made."""
        return self._done

    def wrong_at_the_end(self) -> str | None:
        """All calls were answered."""
        calls = self.script["calls"]
        return None if self._done == len(calls) else f"{ANSWERS}: {calls[self._done]} is not answered"


def file_calls() -> FileCallsProgram:
    """Return the program."""
    return FileCallsProgram()
