"""The edges of nodes and coordinator, made of objects of the controlled world: the real store of sessions
over a database in memory, and the logs' fences. A transaction of the store is one step.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.rootcoord.ports import SessionEvent
from tidemark.impl.rootcoord.report import SourceId
from tidemark.impl.runtime import AsyncioClock
from tidemark.models.protocols.common.gate import Gate
from tidemark.models.protocols.ids.ports import StillClock
from tidemark.models.protocols.sessions.refinement import StoreView
from tidemark.models.simulation.world.database import outside
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

STORE, LOGS = "cell sessions", "cell logs"
T = TypeVar("T")


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("what has to be one step waits")


class _Database:
    """A connection to the shared database.

    world: each transaction begins with a step of its own, if it is set.
    committed: told of what each transaction has read.
    """

    def __init__(self, connection: sqlite3.Connection, committed: Callable[[list[Any]], None]) -> None:
        self.world: World | None = None
        self.bit = 0
        self._connection = connection
        self._committed = committed
        self._read: list[Any] = []

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See Database."""
        if self.world is not None and statement.startswith("BEGIN"):
            world, bit = self.world, self.bit
            await world.operation("transaction", lambda: world.touch(writes=bit))
        if statement == "COMMIT":
            self._committed(self._read)
        with outside():
            found = self._connection.execute(statement, values).fetchall()
        self._read = [] if statement.startswith("BEGIN") else [*self._read, found]
        return found

    async def close(self) -> None:
        """See Database. The connection stays: it is shared."""
        with outside():
            if self._connection.in_transaction:
                self._connection.rollback()


def _ignored(found: list[Any]) -> None:
    """What was read is of no interest."""
    del found


class SharedSessions:
    """The store, and what it was. Each of its operations is one step, but for ``take_over`` and ``fence``.

    changes: every change that there was.
    fenced: whom the logs refuse, in the order of the fences.
    """

    def __init__(self, world: World, sessions: type[SqliteSessions]) -> None:
        self.changes: list[SessionEvent] = []
        self.fenced: list[SourceId] = []
        self.world = world
        self.gate = Gate(world)
        self._class = sessions
        self._bits = (world.interner.bit(STORE), world.interner.bit(LOGS))
        with outside():
            self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._own = self.open(stepwise=False, committed=_ignored)

    def open(self, *, stepwise: bool, committed: Callable[[list[Any]], None]) -> SqliteSessions:
        """The store as one process has opened it. ``committed``: told of what each transaction has read."""
        database = _Database(self._connection, committed)
        still = StillClock()
        made = self._class(
            Path("sessions"), fences=self, clock=AsyncioClock(), steady=still, database=database
        )
        at_once(made.compact(0))
        database.world, database.bit = (self.world if stepwise else None), self._bits[0]
        return made

    async def fence(self, source: SourceId) -> None:
        """See Fences."""

        def refuse() -> None:
            self.world.touch(writes=self._bits[1])
            self.fenced.append(source)

        await self.world.operation(f"fence {source}", refuse)

    # What nodes and the store itself do.

    async def register(self, name: str) -> SourceId:
        """A node begins a session."""

        def effect() -> int:
            source = at_once(self._own.register(name, lease=1.0))
            self._changed()
            return source

        return int(await self.world.operation("register", effect))

    async def end(self, source: SourceId) -> None:
        """A lease is over."""

        def effect() -> None:
            at_once(self._own.end(source))
            self._changed()

        await self.world.operation(f"end {source}", effect)

    async def compact(self) -> None:
        """All changes are forgotten."""

        def effect() -> None:
            at_once(self._own.compact(len(self.changes)))
            self._changed()

        await self.gate.operation("compact", lambda: bool(self.changes), effect)

    async def next_event(self, after: int) -> SessionEvent:
        """The coordinator's watch."""

        def effect() -> SessionEvent:
            self.world.touch(reads=self._bits[0])
            return at_once(self._own.next_event(after))

        ready = f"watch after {after}"
        event: SessionEvent = await self.gate.operation(ready, lambda: len(self.changes) > after, effect)
        return event

    def _changed(self) -> None:
        self.world.touch(writes=self._bits[0])
        with outside():
            found = self._connection.execute(
                "SELECT revision, source, alive FROM changes WHERE revision > ?", (len(self.changes),)
            ).fetchall()
        self.changes += [SessionEvent(int(r), int(s), bool(alive)) for r, s, alive in found]
        self.gate.look()

    def view(self) -> StoreView:
        """What it holds."""
        with outside():
            ((oldest,),) = self._connection.execute("SELECT min(revision) FROM changes").fetchall()
        last = len(self.changes)
        return StoreView(tuple(self.changes), last if oldest is None else int(oldest) - 1)

    def rows(self) -> tuple[Any, ...]:
        """Its sessions, with their states."""
        with outside():
            return tuple(self._connection.execute("SELECT source, state FROM sessions").fetchall())


class Takeover:
    """The store as the coordinator sees it; the answer of ``take_over`` comes in a step of its own.

    phase, first: see the refinement. listed: the live ones of the last list.
    """

    def __init__(self, process: Process, shared: SharedSessions) -> None:
        self.phase = "down"
        self.first = 0
        self.listed: tuple[SourceId, ...] = ()
        self._process = process
        self._shared = shared
        self._real = shared.open(stepwise=True, committed=self._has_read)

    def _has_read(self, found: list[Any]) -> None:
        """The first transaction of ``take_over`` is the list; it reads the live sessions first."""
        if self.phase == "begun":
            self.phase, self.first = "listed", len(self._shared.changes)
            self.listed = tuple(int(source) for (source,) in found[0])

    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        """See SessionStore."""
        self.phase, self.first = "begun", len(self._shared.changes)
        live, revision = await self._real.take_over()
        await self._process.point("sessions.serve")
        self.phase = "serving"
        return live, revision

    async def next_event(self, after: int) -> SessionEvent:
        """See SessionStore."""
        return await self._shared.next_event(after)

    async def fence(self, source: SourceId) -> None:
        """See SessionStore."""
        await self._real.fence(source)
