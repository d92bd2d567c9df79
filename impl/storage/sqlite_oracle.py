"""The oracle's window and leader key in one SQLite file: the embedded default.

Processes of one machine may share the file. A lease is counted by the clock that runs since the machine was
started, which all of them see. After a restart of the machine that clock begins anew: a lease that seems to
come from the future is over.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from tidemark.impl.errors import CorruptDataError, NotLeaderError, StoreError
from tidemark.impl.system.clocks import SystemSteadyClock
from tidemark.impl.tso.ports import NEVER_SAVED, Leadership, SteadyClock

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE window (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    saved INTEGER NOT NULL
) STRICT;
CREATE TABLE leader (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    term INTEGER NOT NULL,
    server TEXT NOT NULL,
    renewed REAL NOT NULL,
    expires REAL NOT NULL
) STRICT;
"""
SAVE = """
INSERT INTO window VALUES (1, ?)
ON CONFLICT (only) DO UPDATE SET saved = max(saved, excluded.saved)
"""
LEAD = "INSERT OR REPLACE INTO leader VALUES (1, ?, ?, ?, ?)"
RENEW = "UPDATE leader SET renewed = ?, expires = ?"
_BUSY_SECONDS = 5.0

Result = TypeVar("Result")


class SqliteOracleStore:
    """The store of one process. All statements run in one thread of its own; close it at the end.

    poll: seconds between two looks at the leader key of another.
    """

    def __init__(self, file: Path, *, steady: SteadyClock | None = None, poll: float = 0.1) -> None:
        self.file = file
        self._steady = steady if steady is not None else SystemSteadyClock()
        self._poll = poll
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="oracle-sqlite")
        self._connection: sqlite3.Connection | None = None

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        """See LeaderElection."""

        def work(connection: sqlite3.Connection) -> Leadership | None:
            now = self._steady.monotonic()
            if self._holder(connection, now) is not None:
                return None
            term = self._last_term(connection) + 1
            connection.execute(LEAD, (term, server, now, now + lease))
            return Leadership(server=server, term=term, lease=lease)

        return await self._run(work)

    async def renew(self, leadership: Leadership) -> None:
        """See LeaderElection."""

        def work(connection: sqlite3.Connection) -> None:
            now = self._check(connection, leadership)
            connection.execute(RENEW, (now, now + leadership.lease))

        await self._run(work)

    async def resign(self, leadership: Leadership) -> None:
        """See LeaderElection. The row stays, so that the next term has a new number."""

        def work(connection: sqlite3.Connection) -> None:
            now = self._steady.monotonic()
            if self._holder(connection, now) == leadership.term:
                connection.execute(RENEW, (now, now))

        await self._run(work)

    async def wait_vacant(self) -> None:
        """See LeaderElection."""
        if await self._run(lambda connection: self._holder(connection, self._steady.monotonic())) is not None:
            await asyncio.sleep(self._poll)

    async def load(self) -> int:
        """See WindowStore."""

        def work(connection: sqlite3.Connection) -> int:
            row = connection.execute("SELECT saved FROM window").fetchone()
            return NEVER_SAVED if row is None else int(row[0])

        return await self._run(work)

    async def save(self, end: int, leadership: Leadership) -> None:
        """See WindowStore."""

        def work(connection: sqlite3.Connection) -> None:
            self._check(connection, leadership)
            connection.execute(SAVE, (end,))

        await self._run(work)

    async def close(self) -> None:
        """Close the file and end the thread."""
        await asyncio.get_running_loop().run_in_executor(self._worker, self._close)
        self._worker.shutdown()

    # In the thread.

    def _holder(self, connection: sqlite3.Connection, now: float) -> int | None:
        """The term of the leader, if its lease runs."""
        row = connection.execute("SELECT term, renewed, expires FROM leader").fetchone()
        if row is None:
            return None
        term, renewed, expires = row
        return int(term) if renewed <= now < expires else None

    def _last_term(self, connection: sqlite3.Connection) -> int:
        row = connection.execute("SELECT term FROM leader").fetchone()
        return 0 if row is None else int(row[0])

    def _check(self, connection: sqlite3.Connection, leadership: Leadership) -> float:
        now = self._steady.monotonic()
        if self._holder(connection, now) != leadership.term:
            raise NotLeaderError(f"{leadership.server} holds no leader key in term {leadership.term}")
        return now

    async def _run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._transaction, work)

    def _transaction(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            connection = self._open()
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                return work(connection)
        except sqlite3.OperationalError as failure:
            raise StoreError(f"oracle in {self.file}: {failure}; check the file and its disk") from failure
        except sqlite3.DatabaseError as damage:
            raise CorruptDataError(f"oracle in {self.file} is damaged: {damage}; restore it") from damage

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(
                self.file, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            self._prepare(connection)
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create the tables in a new file; refuse a file of another version. Two may come at once."""
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            for statement in SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
        if version not in (0, SCHEMA_VERSION):
            connection.close()
            raise CorruptDataError(
                f"oracle in {self.file} has version {version}, this program reads {SCHEMA_VERSION};"
                " use another file"
            )

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
