"""Transactions in one SQLite file: write-ahead journal, synchronous, the write lock taken at the start."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.storage.files import in_thread

BUSY_SECONDS = 5.0
"""How long a statement waits for the lock of another process."""
SETTINGS = ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON")
"""A commit is forced to the disk before it returns, and a crash leaves whole transactions only."""

Row = tuple[Any, ...]
Connect = Callable[..., sqlite3.Connection]


class Database(Protocol):
    """A connection to one SQLite file, one statement at a time. Errors are those of ``sqlite3``.

    If the caller is cancelled, the statement ends before the caller continues.
    """

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run a statement and return its rows. The connection is opened if need be."""

    async def close(self) -> None:
        """Close the connection, which rolls back. A later statement opens it again."""


class SqliteDatabase:
    """A real connection. Each statement runs in some thread, one after the other. ``connect``: opens it."""

    def __init__(self, file: Path, *, connect: Connect = sqlite3.connect) -> None:
        self._file = file
        self._connect = connect
        self._connection: sqlite3.Connection | None = None

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """See Database."""
        return await in_thread(None, lambda: self._open().execute(statement, values).fetchall())

    async def close(self) -> None:
        """See Database."""
        await in_thread(None, self._close)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect(
                self._file, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS
            )
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def connection_to(file: Path, database: Database | None) -> Database:
    """The connection that is passed in; else a real one to the file."""
    return SqliteDatabase(file) if database is None else database


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The tables of a file. ``remedy``: advice for a file of another version."""

    version: int
    text: str
    remedy: str


class Transactions:
    """One file, in transactions one after the other. Close it at the end.

    Args:
        database: the connection.
        schema: the tables, created in a new file.
        what: names the file in messages.
    """

    def __init__(self, database: Database, *, schema: Schema, what: str) -> None:
        self._database = database
        self._schema = schema
        self._what = what
        self._lock = asyncio.Lock()
        self._ready = False

    def begin(self) -> Transaction:
        """A transaction, for ``async with``: committed at the end, rolled back after any error.

        Raise StoreError on failure, CorruptDataError for a file that is damaged or of another version. An
        error of the end itself leaves the outcome open.
        """
        return Transaction(self)

    async def enter(self) -> Database:
        """Wait for the turn of a transaction, and begin it."""
        await self._lock.acquire()
        try:
            await self._prepare()
            await self._database.execute("BEGIN IMMEDIATE")
        except BaseException as failure:
            await self._abandon(failure)
            raise
        return self._database

    async def leave(self, failure: BaseException | None) -> None:
        """Commit, or roll back after an error."""
        if failure is not None:
            await self._abandon(failure)
            return
        try:
            await self._database.execute("COMMIT")
        except BaseException as uncertain:
            await self._abandon(uncertain)
            raise
        self._lock.release()

    async def _abandon(self, failure: BaseException) -> None:
        """Roll back by closing, also if this task was cancelled."""
        self._ready = False
        try:
            await self._database.close()
        finally:
            self._lock.release()
        if isinstance(failure, sqlite3.OperationalError):
            raise StoreError(f"{self._what}: {failure}; check the file and its disk") from failure
        if isinstance(failure, sqlite3.DatabaseError):
            raise CorruptDataError(f"{self._what} is damaged: {failure}; restore it") from failure

    async def close(self) -> None:
        """Close the file."""
        async with self._lock:
            self._ready = False
            await self._database.close()

    async def _prepare(self) -> None:
        """Create the tables in a new file; refuse a file of another version. Two processes may do so."""
        if self._ready:
            return
        database, schema = self._database, self._schema
        for setting in SETTINGS:
            await database.execute(setting)
        await database.execute("BEGIN IMMEDIATE")
        [(version,)] = await database.execute("PRAGMA user_version")
        if version == 0:
            for statement in filter(str.strip, schema.text.split(";")):
                await database.execute(statement)
            await database.execute(f"PRAGMA user_version = {schema.version}")
        await database.execute("COMMIT")
        if version not in (0, schema.version):
            raise CorruptDataError(
                f"{self._what} has version {version}, this program reads {schema.version}; {schema.remedy}"
            )
        self._ready = True


class Transaction:
    """One transaction of a file."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def __aenter__(self) -> Database:
        return await self._transactions.enter()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transactions.leave(error)
