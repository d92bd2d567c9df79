"""The coordinator's metadata in SQLite: write-ahead journal, synchronous, one transaction a change."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tidemark.impl.storage.transactions import Database, Schema, Transactions, connection_to
from tidemark.impl.types import (
    BinlogRecord,
    ChannelRecord,
    Compaction,
    EndPosition,
    FlushRequest,
    MetaSnapshot,
    SegmentId,
    SegmentRecord,
    StartPosition,
)

SCHEMA = Schema(
    version=6,
    remedy="use a new directory",
    text="""
CREATE TABLE channels (
    channel TEXT PRIMARY KEY,
    checkpoint INTEGER NOT NULL,
    assigned_to TEXT,
    last_owner TEXT,
    term INTEGER NOT NULL,
    session INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    collected INTEGER NOT NULL,
    flush_requests TEXT NOT NULL,
    begins INTEGER NOT NULL
) STRICT;
CREATE TABLE segments (
    segment_id INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    dml_position INTEGER NOT NULL,
    flushed INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    begins INTEGER
) STRICT;
CREATE TABLE binlogs (
    segment_id INTEGER NOT NULL REFERENCES segments (segment_id),
    ordinal INTEGER NOT NULL,
    path TEXT NOT NULL,
    row_positions TEXT NOT NULL,
    PRIMARY KEY (segment_id, ordinal)
) STRICT;
CREATE TABLE compactions (
    segment_id INTEGER PRIMARY KEY REFERENCES segments (segment_id),
    applied TEXT NOT NULL,
    deltas TEXT NOT NULL,
    start INTEGER NOT NULL
) STRICT;
""",
)
SAVE_CHANNEL = "INSERT OR REPLACE INTO channels VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
SAVE_SEGMENT = """
INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (segment_id) DO UPDATE SET
    dml_position = excluded.dml_position, flushed = excluded.flushed, dropped = excluded.dropped,
    begins = excluded.begins
"""
SAVE_BINLOG = "INSERT OR REPLACE INTO binlogs VALUES (?, ?, ?, ?)"
SAVE_COMPACTION = "INSERT OR REPLACE INTO compactions VALUES (?, ?, ?, ?)"


class SqliteMetaStore:
    """A metadata store in one file; close it at the end. ``database``: the connection to the file."""

    def __init__(self, file: Path, *, database: Database | None = None) -> None:
        self._transactions = Transactions(
            connection_to(file, database),
            schema=SCHEMA,
            what=f"metadata in {file}",
        )

    async def load(self) -> MetaSnapshot:
        """All saved records."""
        async with self._transactions.begin() as database:
            channels = await database.execute("SELECT * FROM channels ORDER BY channel")
            segments = await database.execute("SELECT * FROM segments ORDER BY segment_id")
            binlogs = await self._load_binlogs(database)
            compactions = await database.execute("SELECT * FROM compactions")
        compacted = {row[0]: compaction_of(row) for row in compactions}
        return MetaSnapshot(
            channels=tuple(channel_of(row) for row in channels),
            segments=tuple(
                segment_of(row, binlogs.get(row[0], []), compacted.get(row[0], Compaction()))
                for row in segments
            ),
        )

    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """Save the records in one transaction."""
        async with self._transactions.begin() as database:
            for record in records:
                await database.execute(SAVE_CHANNEL, row_of(record))

    async def save_segment(self, record: SegmentRecord) -> None:
        """Save the record and its binlogs in one transaction."""
        async with self._transactions.begin() as database:
            await _save_segment(database, record)

    async def replace_segment(self, record: SegmentRecord) -> None:
        """Save the record, and replace its binlogs, in one transaction."""
        compaction, number = record.compaction, record.segment_id
        deltas = json.dumps([[delta.path, delta.row_positions] for delta in compaction.deltas])
        async with self._transactions.begin() as database:
            await database.execute("DELETE FROM binlogs WHERE segment_id = ?", (number,))
            await _save_segment(database, record)
            row = (number, json.dumps(compaction.applied), deltas, compaction.start)
            await database.execute(SAVE_COMPACTION, row)

    async def collect(self, channel: ChannelRecord, segments: Sequence[SegmentId]) -> None:
        """Replace the record and delete the segments with their binlogs in one transaction."""
        async with self._transactions.begin() as database:
            for segment in segments:
                await database.execute("DELETE FROM binlogs WHERE segment_id = ?", (segment,))
                await database.execute("DELETE FROM compactions WHERE segment_id = ?", (segment,))
                await database.execute("DELETE FROM segments WHERE segment_id = ?", (segment,))
            await database.execute(SAVE_CHANNEL, row_of(channel))

    async def close(self) -> None:
        """Close the file."""
        await self._transactions.close()

    async def _load_binlogs(self, database: Database) -> dict[int, list[BinlogRecord]]:
        binlogs: dict[int, list[BinlogRecord]] = {}
        for segment_id, path, positions in await database.execute(
            "SELECT segment_id, path, row_positions FROM binlogs ORDER BY segment_id, ordinal"
        ):
            record = BinlogRecord(path=path, row_positions=tuple(json.loads(positions)))
            binlogs.setdefault(segment_id, []).append(record)
        return binlogs


async def _save_segment(database: Database, record: SegmentRecord) -> None:
    marks = int(record.flushed), int(record.dropped)
    begins = record.begins.ts if record.begins is not None else None
    row = (record.segment_id, record.channel, record.dml_position.ts, *marks, begins)
    await database.execute(SAVE_SEGMENT, row)
    for ordinal, binlog in enumerate(record.binlogs):
        positions = json.dumps(binlog.row_positions)
        await database.execute(SAVE_BINLOG, (record.segment_id, ordinal, binlog.path, positions))


def row_of(record: ChannelRecord) -> tuple[Any, ...]:
    """The row of table channels for a record."""
    return (
        record.channel,
        record.checkpoint,
        record.assigned_to,
        record.last_owner,
        record.term,
        record.session,
        int(record.dropped),
        int(record.collected),
        json.dumps([[request.flush_ts, request.segments] for request in record.flush_requests]),
        record.begins,
    )


def channel_of(row: tuple[Any, ...]) -> ChannelRecord:
    """The record of a row of table channels."""
    channel, checkpoint, assigned_to, last_owner, term, session, dropped, collected, requests, begins = row
    return ChannelRecord(
        channel=channel,
        checkpoint=checkpoint,
        assigned_to=assigned_to,
        last_owner=last_owner,
        term=term,
        session=session,
        dropped=bool(dropped),
        collected=bool(collected),
        flush_requests=tuple(
            FlushRequest(flush_ts, tuple(segments)) for flush_ts, segments in json.loads(requests)
        ),
        begins=begins,
    )


def compaction_of(row: tuple[Any, ...]) -> Compaction:
    """The compaction of a row of table compactions."""
    _, applied, deltas, start = row
    return Compaction(
        applied=tuple(json.loads(applied)),
        deltas=tuple(BinlogRecord(path, tuple(positions)) for path, positions in json.loads(deltas)),
        start=start,
    )


def segment_of(
    row: tuple[Any, ...], binlogs: Sequence[BinlogRecord], compaction: Compaction
) -> SegmentRecord:
    """The record of a row of table segments, with its binlogs."""
    segment_id, channel, dml_position, flushed, dropped, begins = row
    return SegmentRecord(
        segment_id=segment_id,
        channel=channel,
        dml_position=EndPosition(dml_position),
        flushed=bool(flushed),
        dropped=bool(dropped),
        binlogs=tuple(binlogs),
        compaction=compaction,
        begins=StartPosition(begins) if begins is not None else None,
    )
