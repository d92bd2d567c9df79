"""The root coordinator's catalogue in one SQLite file: collections, and reserved numbers."""

import json
from pathlib import Path

from tidemark.impl.storage.transactions import Database, Schema, Transactions, connection_to
from tidemark.impl.values.collection_version import CollectionVersion

SCHEMA = Schema(
    version=3,
    remedy="use a new directory",
    text="""
CREATE TABLE collections (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    schema TEXT NOT NULL,
    number INTEGER NOT NULL,
    created INTEGER NOT NULL,
    channels TEXT NOT NULL,
    changed INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    alias_of TEXT NOT NULL
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
            connection_to(file, database),
            schema=SCHEMA,
            what=f"catalogue in {file}",
        )

    async def load(self) -> tuple[CollectionVersion, ...]:
        """See CatalogStore."""
        async with self._transactions.begin() as database:
            rows = await database.execute("SELECT * FROM collections ORDER BY number, name")
        return tuple(
            CollectionVersion(
                name,
                version,
                schema,
                number=number,
                created=created,
                channels=tuple(json.loads(channels)),
                changed=changed,
                gone=bool(gone),
                alias_of=alias_of,
            )
            for name, version, schema, number, created, channels, changed, gone, alias_of in rows
        )

    async def save(self, record: CollectionVersion) -> None:
        """See CatalogStore."""
        row = (
            *(record.name, record.version, record.schema, record.number, record.created),
            *(json.dumps(record.channels), record.changed, int(record.gone), record.alias_of),
        )
        async with self._transactions.begin() as database:
            await database.execute(
                "INSERT OR REPLACE INTO collections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row
            )

    async def reserve(self, count: int) -> int:
        """See CatalogStore."""
        async with self._transactions.begin() as database:
            [(after,)] = await database.execute("UPDATE numbers SET next = next + ? RETURNING next", (count,))
        return int(after) - count

    async def close(self) -> None:
        """Close the file."""
        await self._transactions.close()
