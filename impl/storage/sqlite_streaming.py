"""The stored state of a streaming node in one SQLite file: messages by place, and both checkpoints."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from tidemark.impl.errors import CorruptDataError
from tidemark.impl.storage.transactions import Database, Schema, Transactions, connection_to
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.streaming.transaction_messages import DataMessage
from tidemark.impl.streaming.values import Checkpoints
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, decode, encode

SCHEMA = Schema(
    version=2,
    remedy="use a new directory",
    text="""
CREATE TABLE messages (
    place INTEGER PRIMARY KEY,
    messages TEXT NOT NULL
) STRICT;
CREATE TABLE flusher (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    place INTEGER NOT NULL
) STRICT;
CREATE TABLE recovery (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    place INTEGER NOT NULL,
    rows TEXT NOT NULL,
    start INTEGER NOT NULL
) STRICT;
INSERT INTO flusher VALUES (1, 0);
INSERT INTO recovery VALUES (1, 0, '{}', 0)
""",
)


class SqliteStreamingStore:
    """A ``MessageStore`` and a ``CheckpointStore``; close it at the end. ``database``: the connection."""

    def __init__(self, file: Path, *, database: Database | None = None) -> None:
        self._file = file
        self._transactions = Transactions(
            connection_to(file, database),
            schema=SCHEMA,
            what=f"what a streaming node stores in {file}",
        )

    async def put(self, place: int, messages: Sequence[DataMessage]) -> None:
        """See MessageStore."""
        row = (place, json.dumps([encode(message) for message in messages], separators=(",", ":")))
        async with self._transactions.begin() as database:
            await database.execute("INSERT OR IGNORE INTO messages VALUES (?, ?)", row)

    async def places(self, above: int) -> Collection[int]:
        """See MessageStore."""
        async with self._transactions.begin() as database:
            rows = await database.execute("SELECT place FROM messages WHERE place > ?", (above,))
        return {int(place) for (place,) in rows}

    async def messages(self) -> dict[int, tuple[DataMessage, ...]]:
        """The stored messages by place. Raise CorruptDataError for a damaged one."""
        async with self._transactions.begin() as database:
            rows = await database.execute("SELECT place, messages FROM messages ORDER BY place")
        return {int(place): tuple(self._data(one) for one in json.loads(text)) for place, text in rows}

    def _data(self, document: Any) -> DataMessage:
        message = decode(document)
        if not isinstance(message, InsertMessage | DeleteMessage):
            raise CorruptDataError(f"{self._file} stores {document!r}, which has no rows; restore it")
        return message

    async def load(self) -> tuple[Checkpoints, Summary]:
        """See CheckpointStore."""
        async with self._transactions.begin() as database:
            [(flusher,)] = await database.execute("SELECT place FROM flusher")
            [(place, rows, start)] = await database.execute("SELECT place, rows, start FROM recovery")
        counts = {int(segment): int(count) for segment, count in json.loads(rows).items()}
        return Checkpoints(flusher=flusher, recovery=start), Summary(place, counts, start)

    async def save_flusher(self, upto: int) -> None:
        """See CheckpointStore."""
        async with self._transactions.begin() as database:
            await database.execute("UPDATE flusher SET place = ?", (upto,))

    async def save_recovery(self, summary: Summary) -> None:
        """See CheckpointStore."""
        values = (summary.place, json.dumps(dict(summary.rows)), summary.start)
        async with self._transactions.begin() as database:
            await database.execute("UPDATE recovery SET place = ?, rows = ?, start = ?", values)

    async def close(self) -> None:
        """Close the file."""
        await self._transactions.close()
