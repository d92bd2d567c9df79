"""The released collections, in one SQLite file: a release outlives its process."""

from pathlib import Path

from tidemark.impl.storage.transactions import Database, Schema, Transactions, connection_to

SCHEMA = Schema(
    version=1,
    remedy="remove the file: every collection is served then",
    text="CREATE TABLE released (number INTEGER PRIMARY KEY) STRICT",
)


class SqliteReleases:
    """The numbers of released collections; close it at the end. ``database``: the connection to the file.

    Every method raises StoreError on failure.
    """

    def __init__(self, file: Path, *, database: Database | None = None) -> None:
        self._transactions = Transactions(
            connection_to(file, database), schema=SCHEMA, what=f"released collections in {file}"
        )

    async def load(self) -> tuple[int, ...]:
        """All of them, in order."""
        async with self._transactions.begin() as database:
            rows = await database.execute("SELECT number FROM released ORDER BY number")
        return tuple(number for (number,) in rows)

    async def add(self, number: int) -> None:
        """Add a released collection. Does nothing if it is there."""
        async with self._transactions.begin() as database:
            await database.execute("INSERT OR IGNORE INTO released VALUES (?)", (number,))

    async def discard(self, number: int) -> None:
        """Remove a loaded or dropped collection."""
        async with self._transactions.begin() as database:
            await database.execute("DELETE FROM released WHERE number = ?", (number,))

    async def close(self) -> None:
        """Close the file."""
        await self._transactions.close()
