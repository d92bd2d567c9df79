"""The edges of nodes and coordinator, made of objects of the controlled world: the real store of sessions
over a database in memory, and the logs' fences. A transaction of the store is one step.
"""

from collections.abc import Callable, Coroutine, Hashable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tidemark.impl.broker.memory_database import MemoryDatabase
from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.rootcoord.ports import SessionEvent, SessionStore
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.values.report import SourceId
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

    def __init__(self, memory: MemoryDatabase, committed: Callable[[list[Any]], None]) -> None:
        self.world: World | None = None
        self.bit = 0
        self._memory = memory
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
            found = await self._memory.execute(statement, values)
        self._read = [] if statement.startswith("BEGIN") else [*self._read, found]
        return found

    async def close(self) -> None:
        """See Database. The connection stays: it is shared."""
        with outside():
            await self._memory.close()


def _ignored(found: list[Any]) -> None:
    """What was read is of no interest."""
    del found


class Shared(Protocol):
    """The store of the sessions as the program sees it.

    changes: every change that there was, by number. fenced: whom the logs refuse, in the order of the fences.
    """

    changes: list[SessionEvent]
    fenced: list[SourceId]
    gate: Gate

    async def register(self, name: str) -> SourceId:
        """A node begins a session."""

    async def end(self, source: SourceId) -> None:
        """A lease is over."""

    async def compact(self) -> None:
        """All changes are forgotten."""

    def follow(self, listed: Callable[[Sequence[SourceId]], None]) -> SessionStore:
        """The store as a coordinator has opened it. ``listed``: told of the live ones when they are read."""

    async def next_event(self, after: int) -> SessionEvent:
        """The coordinator's watch."""

    def number_of(self, revision: int) -> int:
        """Return how many changes of sessions there were up to a revision of the store."""

    def view(self) -> StoreView:
        """What it holds."""

    def rows(self) -> Hashable:
        """All that it holds, as far as it influences what happens next."""


class Fencing:
    """See Shared: what every store of sessions has."""

    def __init__(self, world: World) -> None:
        self.changes: list[SessionEvent] = []
        self.fenced: list[SourceId] = []
        self.world = world
        self.gate = Gate(world)
        self._bits = (world.interner.bit(STORE), world.interner.bit(LOGS))

    async def fence(self, source: SourceId) -> None:
        """See Fences."""

        def refuse() -> None:
            self.world.touch(writes=self._bits[1])
            self.fenced.append(source)

        await self.world.operation(f"fence {source}", refuse)


class SharedSessions(Fencing):
    """The store, and what it was. Each of its operations is one step, but for ``take_over`` and ``fence``."""

    def __init__(self, world: World, sessions: type[SqliteSessions] = SqliteSessions) -> None:
        super().__init__(world)
        self._class = sessions
        with outside():
            self._memory = MemoryDatabase()
        self._own = self.open(stepwise=False, committed=_ignored)

    def open(self, *, stepwise: bool, committed: Callable[[list[Any]], None]) -> SqliteSessions:
        """The store as one process has opened it. ``committed``: told of what each transaction has read."""
        database = _Database(self._memory, committed)
        still = StillClock()
        made = self._class(
            Path("sessions"), fences=self, clock=AsyncioClock(), steady=still, database=database
        )
        at_once(made.compact(0))
        database.world, database.bit = (self.world if stepwise else None), self._bits[0]
        return made

    def follow(self, listed: Callable[[Sequence[SourceId]], None]) -> SessionStore:
        """See Shared. The list is the transaction that reads the live sessions first."""

        def committed(found: list[Any]) -> None:
            if found:
                listed([int(row[0]) for row in found[0]])

        return self.open(stepwise=True, committed=committed)

    def number_of(self, revision: int) -> int:
        """See Shared. Revisions grow by one."""
        return revision

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
        found = self._found(
            "SELECT revision, source, alive FROM changes WHERE revision > ?", len(self.changes)
        )
        self.changes += [SessionEvent(int(r), int(s), bool(alive)) for r, s, alive in found]
        self.gate.look()

    def view(self) -> StoreView:
        """What it holds."""
        ((oldest,),) = self._found("SELECT min(revision) FROM changes")
        last = len(self.changes)
        return StoreView(tuple(self.changes), last if oldest is None else int(oldest) - 1)

    def rows(self) -> tuple[Any, ...]:
        """Its sessions, with their states."""
        return tuple(self._found("SELECT source, state FROM sessions"))

    def _found(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with outside():
            return at_once(self._memory.execute(statement, values))


class Takeover:
    """The store as the coordinator sees it; the answer of ``take_over`` comes in a step of its own.

    phase, first: see the refinement. listed: the live ones of the last list.
    """

    def __init__(self, process: Process, shared: Shared) -> None:
        self.phase = "down"
        self.first = 0
        self.listed: tuple[SourceId, ...] = ()
        self._process = process
        self._shared = shared
        self._real = shared.follow(self._has_listed)

    def _has_listed(self, live: Sequence[SourceId]) -> None:
        """The first transaction of ``take_over`` is the list."""
        if self.phase == "begun":
            self.phase, self.first, self.listed = "listed", len(self._shared.changes), tuple(live)

    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        """See SessionStore."""
        self.phase, self.first = "begun", len(self._shared.changes)
        live, revision = await self._real.take_over()
        await self._process.point("sessions.serve")
        self.phase = "serving"
        return live, revision

    def number_of(self, revision: int) -> int:
        """Return how many changes of sessions there were up to a revision of the store."""
        return self._shared.number_of(revision)

    async def next_event(self, after: int) -> SessionEvent:
        """See SessionStore."""
        return await self._shared.next_event(after)

    async def fence(self, source: SourceId) -> None:
        """See SessionStore."""
        await self._real.fence(source)
