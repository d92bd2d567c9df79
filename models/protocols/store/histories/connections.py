"""SQLite under the real ``SqliteDatabase``: each statement runs in a thread, in one step, and one may fail.

SQLite itself does the work, see ``tidemark.models.simulation.world.database``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tidemark.models.protocols.common.faults import DAMAGE, FAIL, LOSE, Faults
from tidemark.models.simulation.world.database import DatabaseConnection, DatabaseFile


class Connector:
    """What opens connections to one file, in place of ``sqlite3.connect``.

    Attributes:
        made: all that were opened so far.
        careless: a transaction was committed by a connection that does not force it, or checks no references.
    """

    def __init__(self, file: DatabaseFile, faults: Faults) -> None:
        self._file = file
        self._faults = faults
        self.made: list[Opened] = []
        self.careless = False

    def __call__(
        self,
        path: Path,
        *,
        isolation_level: str | None = "",
        check_same_thread: bool = True,
        timeout: float = 5.0,
    ) -> Opened:
        """Open a connection. ``timeout``: nobody else has the file, so that nothing waits for a lock."""
        del path, timeout
        self.strikes(FAIL)
        connection, implicit = self._file.connect(), isolation_level is not None
        made = Opened(self, connection, implicit=implicit, one_thread=check_same_thread)
        self.made.append(made)
        return made

    def open(self) -> list[Opened]:
        """Those that are not closed, nor gone with their process."""
        return [opened for opened in self.made if opened.is_open]

    def strikes(self, *kinds: str) -> str | None:
        """Raise the error if the statement is the one that fails. Return LOSE if it does so afterwards."""
        found = self._faults.strikes(*kinds)
        if found is not None:
            self._faults.words = "disk image is malformed" if found == DAMAGE else "disk I/O error"
        if found == FAIL:
            raise sqlite3.OperationalError("disk I/O error")
        if found == DAMAGE:
            raise sqlite3.DatabaseError("database disk image is malformed")
        return found


class Opened:
    """A connection.

    implicit: it begins transactions by itself, as sqlite3 does by default. one_thread: it refuses statements
    of another thread, likewise; each statement comes from another one.
    """

    def __init__(
        self, connector: Connector, connection: DatabaseConnection, *, implicit: bool, one_thread: bool
    ) -> None:
        self._connector = connector
        self._connection = connection
        self._implicit = implicit
        self._one_thread = one_thread
        self._closed = False

    @property
    def is_open(self) -> bool:
        """It is not closed, and its process lives."""
        return not self._closed and self._connection.lane.alive

    def execute(self, statement: str, values: Sequence[Any] = ()) -> _Rows:
        """Run a statement."""
        if not self.is_open:
            raise sqlite3.ProgrammingError("Cannot operate on a closed database.")
        if self._one_thread:
            raise sqlite3.ProgrammingError("SQLite objects can only be used in the thread that made them.")
        if statement == "COMMIT":
            settings = [
                self._connection.run_now(f"PRAGMA {name}") for name in ("synchronous", "foreign_keys")
            ]
            self._connector.careless |= settings != [[(2,)], [(1,)]]
        kinds = (FAIL, DAMAGE, LOSE) if statement == "COMMIT" else (FAIL, DAMAGE)
        lost = self._connector.strikes(*kinds) == LOSE
        if self._implicit and statement.split(maxsplit=1)[0] in ("INSERT", "UPDATE", "DELETE"):
            self._connection.run_now("BEGIN")
        rows = self._connection.run_now(statement, values)
        if lost:
            raise sqlite3.OperationalError("disk I/O error")
        return _Rows(rows)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

    def close(self) -> None:
        """Close the connection. What was not committed is undone."""
        self._closed = True
        self._connection.close_now()


class _Rows:
    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._rows = rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        return self._rows
