"""What a streaming node stores, in one SQLite file: messages by place, and both checkpoints."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from tidemark.impl.broker.messages import InsertMessage, decode_text, encode_text
from tidemark.impl.errors import CorruptDataError
from tidemark.impl.storage.transactions import Database, Schema, SqliteDatabase, Transactions
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.streaming.values import Checkpoints

SCHEMA = Schema(
    version=1,
    remedy="use a new directory",
    text="""
CREATE TABLE messages (
    place INTEGER PRIMARY KEY,
    message TEXT NOT NULL
) STRICT;
CREATE TABLE flusher (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    place INTEGER NOT NULL
) STRICT;
CREATE TABLE recovery (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    place INTEGER NOT NULL,
    rows TEXT NOT NULL
) STRICT;
INSERT INTO flusher VALUES (1, 0);
INSERT INTO recovery VALUES (1, 0, '{}')
""",
)


class SqliteStreamingStore:
    """A ``MessageStore`` and a ``CheckpointStore``; close it at the end. ``database``: the connection."""

    def __init__(self, file: Path, *, database: Database | None = None) -> None:
        self._file = file
        self._transactions = Transactions(
            database if database is not None else SqliteDatabase(file),
            schema=SCHEMA,
            what=f"what a streaming node stores in {file}",
        )

    async def put(self, place: int, message: InsertMessage) -> None:
        """See MessageStore."""
        row = (place, encode_text(message))
        async with self._transactions.begin() as database:
            await database.execute("INSERT OR IGNORE INTO messages VALUES (?, ?)", row)

    async def places(self, above: int) -> Collection[int]:
        """See MessageStore."""
        async with self._transactions.begin() as database:
            rows = await database.execute("SELECT place FROM messages WHERE place > ?", (above,))
        return {int(place) for (place,) in rows}

    async def messages(self) -> dict[int, InsertMessage]:
        """All messages by place. Raise CorruptDataError for what is none."""
        async with self._transactions.begin() as database:
            rows = await database.execute("SELECT place, message FROM messages ORDER BY place")
        return {int(place): self._insert(text) for place, text in rows}

    def _insert(self, text: str) -> InsertMessage:
        message = decode_text(text)
        if not isinstance(message, InsertMessage):
            raise CorruptDataError(f"{self._file} stores {text[:80]!r}, which has no rows; restore it")
        return message

    async def load(self) -> tuple[Checkpoints, Summary]:
        """See CheckpointStore."""
        async with self._transactions.begin() as database:
            [(flusher,)] = await database.execute("SELECT place FROM flusher")
            [(recovery, rows)] = await database.execute("SELECT place, rows FROM recovery")
        counts = {int(segment): int(count) for segment, count in json.loads(rows).items()}
        return Checkpoints(flusher=flusher, recovery=recovery), Summary(recovery, counts)

    async def save_flusher(self, upto: int) -> None:
        """See CheckpointStore."""
        async with self._transactions.begin() as database:
            await database.execute("UPDATE flusher SET place = ?", (upto,))

    async def save_recovery(self, summary: Summary) -> None:
        """See CheckpointStore."""
        values = (summary.place, json.dumps(dict(summary.rows)))
        async with self._transactions.begin() as database:
            await database.execute("UPDATE recovery SET place = ?, rows = ?", values)

    async def close(self) -> None:
        """Close the file."""
        await self._transactions.close()
