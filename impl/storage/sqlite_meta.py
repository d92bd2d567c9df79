"""The coordinator's metadata in SQLite: write-ahead journal, synchronous, one transaction a change."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.types import (
    BinlogRecord,
    ChannelRecord,
    EndPosition,
    FlushRequest,
    MetaSnapshot,
    SegmentRecord,
)

SCHEMA_VERSION = 3
SCHEMA = """
CREATE TABLE channels (
    channel TEXT PRIMARY KEY,
    checkpoint INTEGER NOT NULL,
    assigned_to TEXT,
    last_owner TEXT,
    term INTEGER NOT NULL,
    session INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    flush_requests TEXT NOT NULL
) STRICT;
CREATE TABLE segments (
    segment_id INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    dml_position INTEGER NOT NULL,
    flushed INTEGER NOT NULL,
    dropped INTEGER NOT NULL
) STRICT;
CREATE TABLE binlogs (
    segment_id INTEGER NOT NULL REFERENCES segments (segment_id),
    ordinal INTEGER NOT NULL,
    path TEXT NOT NULL,
    row_positions TEXT NOT NULL,
    PRIMARY KEY (segment_id, ordinal)
) STRICT;
"""
SAVE_CHANNEL = "INSERT OR REPLACE INTO channels VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
SAVE_SEGMENT = """
INSERT INTO segments VALUES (?, ?, ?, ?, ?)
ON CONFLICT (segment_id) DO UPDATE SET
    dml_position = excluded.dml_position, flushed = excluded.flushed, dropped = excluded.dropped
"""
SAVE_BINLOG = "INSERT OR REPLACE INTO binlogs VALUES (?, ?, ?, ?)"

Result = TypeVar("Result")


class SqliteMetaStore:
    """A metadata store in one file. All statements run in one thread of its own; close it at the end."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sqlite")
        self._connection: sqlite3.Connection | None = None

    async def load(self) -> MetaSnapshot:
        """Everything that was saved."""
        return await self._run(self._load)

    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """Save the records in one transaction."""
        rows = [
            (
                record.channel,
                record.checkpoint,
                record.assigned_to,
                record.last_owner,
                record.term,
                record.session,
                int(record.dropped),
                json.dumps([[request.flush_ts, request.segments] for request in record.flush_requests]),
            )
            for record in records
        ]

        def save(connection: sqlite3.Connection) -> None:
            connection.executemany(SAVE_CHANNEL, rows)

        await self._run(save)

    async def save_segment(self, record: SegmentRecord) -> None:
        """Save the record and its binlogs in one transaction."""

        def save(connection: sqlite3.Connection) -> None:
            connection.execute(
                SAVE_SEGMENT,
                (
                    record.segment_id,
                    record.channel,
                    record.dml_position.ts,
                    int(record.flushed),
                    int(record.dropped),
                ),
            )
            connection.executemany(
                SAVE_BINLOG,
                (
                    (record.segment_id, ordinal, binlog.path, json.dumps(binlog.row_positions))
                    for ordinal, binlog in enumerate(record.binlogs)
                ),
            )

        await self._run(save)

    async def close(self) -> None:
        """Close the file and end the thread."""
        await asyncio.get_running_loop().run_in_executor(self._worker, self._close)
        self._worker.shutdown()

    async def _run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._transaction, work)

    def _transaction(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            connection = self._open()
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                return work(connection)
        except sqlite3.OperationalError as failure:
            raise StoreError(f"metadata in {self.file}: {failure}; check the file and its disk") from failure
        except sqlite3.DatabaseError as damage:
            raise CorruptDataError(f"metadata in {self.file} is damaged: {damage}; restore it") from damage

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self.file, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            self._prepare(connection)
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create the tables in a new file; refuse a file of another version."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            connection.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
        elif version != SCHEMA_VERSION:
            connection.close()
            raise CorruptDataError(
                f"metadata in {self.file} has version {version}, this program reads {SCHEMA_VERSION};"
                " use a new directory"
            )

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _load(self, connection: sqlite3.Connection) -> MetaSnapshot:
        channels = connection.execute("SELECT * FROM channels ORDER BY channel")
        segments = connection.execute("SELECT * FROM segments ORDER BY segment_id")
        binlogs = self._load_binlogs(connection)
        return MetaSnapshot(
            channels=tuple(channel_of(row) for row in channels),
            segments=tuple(segment_of(row, binlogs.get(row[0], [])) for row in segments),
        )

    def _load_binlogs(self, connection: sqlite3.Connection) -> dict[int, list[BinlogRecord]]:
        binlogs: dict[int, list[BinlogRecord]] = {}
        for segment_id, path, positions in connection.execute(
            "SELECT segment_id, path, row_positions FROM binlogs ORDER BY segment_id, ordinal"
        ):
            record = BinlogRecord(path=path, row_positions=tuple(json.loads(positions)))
            binlogs.setdefault(segment_id, []).append(record)
        return binlogs


def channel_of(row: tuple[Any, ...]) -> ChannelRecord:
    """The record of a row of table channels."""
    channel, checkpoint, assigned_to, last_owner, term, session, dropped, flush_requests = row
    return ChannelRecord(
        channel=channel,
        checkpoint=checkpoint,
        assigned_to=assigned_to,
        last_owner=last_owner,
        term=term,
        session=session,
        dropped=bool(dropped),
        flush_requests=tuple(
            FlushRequest(flush_ts, tuple(segments)) for flush_ts, segments in json.loads(flush_requests)
        ),
    )


def segment_of(row: tuple[Any, ...], binlogs: Sequence[BinlogRecord]) -> SegmentRecord:
    """The record of a row of table segments, with its binlogs."""
    segment_id, channel, dml_position, flushed, dropped = row
    return SegmentRecord(
        segment_id=segment_id,
        channel=channel,
        dml_position=EndPosition(dml_position),
        flushed=bool(flushed),
        dropped=bool(dropped),
        binlogs=tuple(binlogs),
    )
