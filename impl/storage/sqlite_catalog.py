"""The root coordinator's catalogue in one SQLite file: collections, and numbers that are reserved ahead."""

from __future__ import annotations

import json
from pathlib import Path

from tidemark.impl.rootcoord.catalog import CollectionRecord
from tidemark.impl.storage.transactions import Database, Schema, SqliteDatabase, Transactions

SCHEMA = Schema(
    version=1,
    remedy="use a new directory",
    text="""
CREATE TABLE collections (
    collection INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    channels TEXT NOT NULL
) STRICT;
CREATE TABLE numbers (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    next INTEGER NOT NULL
) STRICT;
INSERT INTO numbers VALUES (1, 1)
""",
)


class SqliteCatalogStore:
    """A ``CatalogStore``; close it at the end. ``database``: the connection to the file."""

    def __init__(self, file: Path, *, database: Database | None = None) -> None:
        self._transactions = Transactions(
            database if database is not None else SqliteDatabase(file),
            schema=SCHEMA,
            what=f"catalogue in {file}",
        )

    async def load(self) -> tuple[CollectionRecord, ...]:
        """See CatalogStore."""
        async with self._transactions.begin() as database:
            rows = await database.execute("SELECT * FROM collections ORDER BY collection")
        return tuple(
            CollectionRecord(number, name, created, tuple(json.loads(channels)))
            for number, name, created, channels in rows
        )

    async def save(self, record: CollectionRecord) -> None:
        """See CatalogStore."""
        row = (record.number, record.name, record.created, json.dumps(record.channels))
        async with self._transactions.begin() as database:
            await database.execute("INSERT INTO collections VALUES (?, ?, ?, ?)", row)

    async def reserve(self, count: int) -> int:
        """See CatalogStore."""
        async with self._transactions.begin() as database:
            [(after,)] = await database.execute("UPDATE numbers SET next = next + ? RETURNING next", (count,))
        return int(after) - count

    async def close(self) -> None:
        """Close the file."""
        await self._transactions.close()
