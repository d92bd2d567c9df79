"""A real SQLite file in the controlled world: each statement is a step, and the power may fail.

SQLite itself does the work, on a file in a folder of its own; what is simulated is who runs when, and what a
power failure leaves. Of that SQLite's documentation says: whole transactions only, and with ``synchronous``
at FULL or above every one whose commit has returned. Below FULL the transactions since the last forced one
may be lost. Locks are SQLite's own; a statement that has to wait for one waits without a step.
"""

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tidemark.models.simulation.closed_world import GUARD
from tidemark.models.simulation.loop.lane import Event, Lane
from tidemark.models.simulation.world.environment import Environment
from tidemark.models.simulation.world.media import Outcome

_FULL = 2
_MEMORY = "/dev/shm"  # noqa: S108  # a folder in memory, where there is one


class DatabaseFile:
    """One SQLite file that connections of several processes share. ``changed`` is told of each task whose
    transaction has changed the file, and of what was committed before.
    """

    def __init__(
        self,
        world: Environment,
        name: str,
        *,
        changed: Callable[[str, sqlite3.Connection], None] | None = None,
    ) -> None:
        self._world = world
        self.owner = f"database {name}"
        self.bit = world.interner.bit(self.owner)
        with outside():
            self._folder = Path(tempfile.mkdtemp(dir=_MEMORY if os.path.isdir(_MEMORY) else None))  # noqa: PTH112
        self.path = self._folder / "file"
        self.connections: list[DatabaseConnection] = []
        self._changed = changed
        self._waiting: list[tuple[Lane, asyncio.Future[None]]] = []
        self._observer: sqlite3.Connection | None = None
        self._version = 0
        self._kept: sqlite3.Connection | None = None
        self._copies: dict[int, sqlite3.Connection] = {}
        self.generation = 0
        self._observe()

    def connect(self) -> "DatabaseConnection":
        """Return a connection of the process whose code runs now."""
        made = DatabaseConnection(self._world, self, self._world.caller)
        self.connections.append(made)
        return made

    @contextmanager
    def directly(self) -> Iterator["DirectDatabase"]:
        """A connection without steps, for what is done before the program begins."""
        with outside():
            database = DirectDatabase(self.opened())
            try:
                yield database
            finally:
                database.connection.close()
                self._close()
                self._observe()
                self._copies, self._kept = {}, None
                self.generation += 1

    def copy(self) -> sqlite3.Connection:
        """Return what is committed, as a database in memory. Not to be changed."""
        if self.generation not in self._copies:
            self._copies = {self.generation: self._copied()}
        return self._copies[self.generation]

    def forced(self) -> sqlite3.Connection:
        """Return what survives a power failure in any case, likewise."""
        return self._kept if self._kept is not None else self.copy()

    def look(self, task: str, *, wrote: bool, forces: bool) -> None:
        """Look whether something was committed by a task. ``wrote``: its transaction has written, if only
        what was there before. ``forces``: a commit is forced to the disk.
        """
        assert self._observer is not None
        (version,) = self._observer.execute("PRAGMA data_version").fetchone()
        if version == self._version and not wrote:
            return
        self._version = version
        before = self._copies[self.generation]
        self.generation += 1
        if forces:
            self._kept = None
        elif self._kept is None:
            self._kept = before
        if self._changed is not None:
            self._changed(task, before)

    def _observe(self) -> None:
        with outside():
            self._observer = self.opened()
            (self._version,) = self._observer.execute("PRAGMA data_version").fetchone()

    def released(self) -> None:
        """A lock may be free: whoever waits tries again, in a step of its own if that is another process."""
        waiting, self._waiting = self._waiting, []
        for lane, future in waiting:
            if future.done():
                continue
            if lane is self._world.caller:
                future.set_result(None)
            else:
                self._wake(lane, future)

    def _wake(self, lane: Lane, future: "asyncio.Future[None]") -> None:
        label = f"try again {lane.title}#{lane.next_number()}"

        def fire() -> None:
            del self._world.events[label]
            if not future.done():
                future.set_result(None)

        self._world.events[label] = Event(label, lane, fire)

    async def wait(self) -> None:
        """Wait until a lock may be free."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((self._world.caller, future))
        await future

    # As a medium.

    def state(self) -> Hashable:
        """See Medium."""
        with outside():
            own = tuple((c.settings(), _content(c.connection)) for c in self.connections if c.connection)
            return _content(self.copy()), _content(self.forced()), own

    def crash_outcomes(self) -> list[Outcome]:
        """See Medium. All that was committed may have reached the disk."""
        if self._kept is None:
            return []
        return [("every commit on disk", _nothing), ("only forced commits on disk", self._restore)]

    def _restore(self) -> None:
        with outside():
            self._close()
            for file in self._folder.iterdir():
                file.unlink()
            again = self.opened()
            self.forced().backup(again)
            again.close()
            self._observe()
            self._copies, self._kept = {}, None
            self.generation += 1
            self._world.touch(writes=self.bit)

    def caller_died(self, lane: Lane) -> None:
        """See Medium. What a dead process had not committed is undone."""
        gone = [connection for connection in self.connections if connection.lane is lane]
        for connection in gone:
            connection.drop()
        self.connections = [connection for connection in self.connections if connection.lane is not lane]
        if gone:
            self._world.touch(writes=self.bit)
        self._waiting = [(other, future) for other, future in self._waiting if other is not lane]

    def dismantle(self) -> None:
        """See Medium."""
        self._close()
        shutil.rmtree(self._folder)

    def _close(self) -> None:
        for connection in self.connections:
            connection.drop()
        if self._observer is not None:
            self._observer.close()
            self._observer = None

    def opened(self) -> sqlite3.Connection:
        """A real connection."""
        return sqlite3.connect(self.path, isolation_level=None, timeout=0, check_same_thread=False)

    def _copied(self) -> sqlite3.Connection:
        with outside():
            source, copy = self.opened(), sqlite3.connect(":memory:", isolation_level=None)
            source.backup(copy)
            source.close()
            return copy


class DatabaseConnection:
    """A connection as ``tidemark.impl.storage.transactions.Database`` describes it."""

    def __init__(self, world: Environment, file: DatabaseFile, lane: Lane) -> None:
        self._world = world
        self._file = file
        self.lane = lane
        self.connection: sqlite3.Connection | None = None
        self._written = 0

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement in a step of its own; settings of the connection take none."""
        if statement.startswith("PRAGMA") and "=" in statement and not self.in_transaction:
            return self._run(statement, values)
        title, task = " ".join(statement.split()[:2]).lower(), _task()
        while True:
            done, rows = await self._world.operation(title, lambda: self._try(statement, values, task))
            if done:
                return rows
            await self._file.wait()

    async def close(self) -> None:
        """Close the connection."""
        await self._world.operation("close", self._end)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self.connection is not None and self.connection.in_transaction

    def settings(self) -> Hashable:
        """Return what of the settings matters."""
        return self._forces(), self.in_transaction

    def drop(self) -> None:
        """Close the real connection."""
        if self.connection is not None:
            with outside():
                self.connection.close()
            self.connection = None
            self._written = 0

    def _end(self) -> None:
        self._world.touch(writes=self._file.bit)
        self.drop()
        self._file.released()

    def _try(self, statement: str, values: Sequence[Any], task: str) -> tuple[bool, list[tuple[Any, ...]]]:
        """Run a statement unless it has to wait for a lock that is not its own transaction's to wait for."""
        self._world.touch(writes=self._file.bit)
        began = self.in_transaction
        try:
            rows = self._run(statement, values)
        except sqlite3.OperationalError as failure:
            if failure.sqlite_errorcode == sqlite3.SQLITE_BUSY and not began:
                return False, []
            raise
        finally:
            if not self.in_transaction:
                self._ended(task, undone=statement == "ROLLBACK")
        return True, rows

    def _ended(self, task: str, *, undone: bool) -> None:
        """No transaction is open, any more or yet."""
        written = 0 if self.connection is None else self.connection.total_changes
        with outside():
            wrote = written > self._written and not undone
            self._file.look(task, wrote=wrote, forces=self._forces())
        self._written = written
        self._file.released()

    def _run(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with outside():
            if self.connection is None:
                self.connection = self._file.opened()
            if not self.in_transaction:
                self._file.copy()
            return self.connection.execute(statement, values).fetchall()

    def _forces(self) -> bool:
        if self.connection is None:
            return True
        (level,) = self.connection.execute("PRAGMA synchronous").fetchone()
        return bool(level >= _FULL)


class DirectDatabase:
    """A connection whose statements take no step."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement at once."""
        return self.connection.execute(statement, values).fetchall()

    async def close(self) -> None:
        """Undo what was not committed."""
        self.connection.rollback()


class DatabaseSnapshot(DirectDatabase):
    """A copy of a copy, for a reader that must not wait."""

    def __init__(self, source: sqlite3.Connection) -> None:
        with outside():
            super().__init__(sqlite3.connect(":memory:", isolation_level=None))
            source.backup(self.connection)


class outside:  # noqa: N801  # reads as what it says
    """``with outside():`` the world itself, not the program in it, uses the machine. A generator would leave
    the trace of its last exception in the frame of the coroutine that is running, and tell equal states
    apart.
    """

    def __enter__(self) -> None:
        self._before, GUARD.armed = GUARD.armed, False

    def __exit__(self, *failure: object) -> None:
        GUARD.armed = self._before


def _content(connection: sqlite3.Connection | None) -> Hashable:
    if connection is None:
        return None
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    ).fetchall()
    texts = {name: f"SELECT * FROM {name} ORDER BY 1" for (name,) in tables}  # noqa: S608  # names of tables
    return tuple((name, tuple(connection.execute(text))) for name, text in texts.items())


def _task() -> str:
    task = asyncio.current_task()
    return task.get_name() if task is not None else ""


def _nothing() -> None:
    """Leave everything as it is."""
