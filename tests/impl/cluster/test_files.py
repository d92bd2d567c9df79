"""What a cluster that has ended leaves: evidence of its messages; the audit of its rows; its releases."""

import asyncio
import json

import pytest

from tests.impl.cluster.audit import wrong_rows
from tidemark.impl.broker.memory_database import MemoryDatabase
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.cluster.leave import leave_messages
from tidemark.impl.cluster.releases import SqliteReleases
from tidemark.impl.errors import StoreError
from tidemark.impl.storage.file_log import checked
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import BinlogRecord, EndPosition, Row, SegmentRecord
from tidemark.impl.values.messages import DdlMessage, DeleteMessage, Entry, InsertMessage, Tick, encode

CONFIG = ClusterConfig(channels=3)
A, B, C = Row(8, 31, 1, "a"), Row(8, 32, 2, "b"), Row(9, 34, 3, "c")
REMOVED = tuple(Row(11, -33, key) for key in (1, 5, 6))
LOGS = {
    "dml_0": (
        Entry(1, -4, Tick(5)),
        Entry(2, -4, DdlMessage(6, "dml_0_7v0", "create")),
        Entry(3, 9, InsertMessage(8, "dml_0_7v0", (A, B))),
        Entry(4, 10, DeleteMessage(11, "dml_0_7v0", -33, (1, 5, 6))),
    ),
    "dml_2": (Entry(1, 9, InsertMessage(9, "dml_2_7v1", (C,))), Entry(2, 9, Tick(12))),
}
"""Two of the three channels have a log."""
LINES = (
    ("dml_0", 1, 5, -4, {"type": "tick"}),
    ("dml_0", 2, 6, -4, {"type": "create", "shard": "dml_0_7v0"}),
    ("dml_0", 3, 8, 9, {"type": "insert", "shard": "dml_0_7v0", "rows": 2, "segment": 31}),
    ("dml_0", 4, 11, 10, {"type": "delete", "shard": "dml_0_7v0", "rows": 3}),
    ("dml_2", 1, 9, 9, {"type": "insert", "shard": "dml_2_7v1", "rows": 1, "segment": 34}),
    ("dml_2", 2, 12, 9, {"type": "tick"}),
)
STORED = ((31, (A,)), (32, (B,)), (-33, REMOVED), (34, (C,)))
INVENTED = Row(13, 35, 8, "d")


@pytest.fixture
def directory(tmp_path):
    """The first two entries of a log are in one line, the others in lines of their own."""
    directory = ClusterDirectory(tmp_path / "one")
    directory.logs.mkdir(parents=True)
    for channel, entries in LOGS.items():
        lines = [entries[:2], *([entry] for entry in entries[2:])]
        documents = [[[entry.place, entry.source, encode(entry.message)] for entry in line] for line in lines]
        text = b"".join(checked(json.dumps(document).encode()) + b"\n" for document in documents)
        (directory.logs / f"{channel}.jsonl").write_bytes(text)
    return directory


def test_a_line_is_left_for_each_message(directory, tmp_path):
    file = tmp_path / "messages"
    assert asyncio.run(leave_messages(directory.root, file, config=CONFIG)) == len(LINES)
    assert [json.loads(line) for line in file.read_text().splitlines()] == [
        {"kind": "broker", "topic": topic, "id": place, "ts": ts, "source": source, **facts}
        for topic, place, ts, source, facts in LINES
    ]
    assert file.read_text().endswith("\n")


def test_what_cannot_be_read_or_written_is_an_error(directory, tmp_path):
    with pytest.raises(OSError):
        asyncio.run(leave_messages(directory.root, tmp_path / "absent" / "messages", config=CONFIG))
    damaged = directory.logs / "dml_2.jsonl"
    damaged.unlink()
    damaged.mkdir()
    with pytest.raises(StoreError):
        asyncio.run(leave_messages(directory.root, tmp_path / "messages", config=CONFIG))


@pytest.mark.parametrize(
    ("stored", "wrong"),
    [
        (STORED, {}),
        (STORED[1:], {"lost": {A}}),
        (STORED[:2] + STORED[3:], {"lost": {*REMOVED}}),
        ((*STORED, (36, (C,))), {"doubled": {C}}),
        ((*STORED, (35, (INVENTED,))), {"invented": {INVENTED}}),
    ],
)
def test_the_comparison_of_the_other_tests_can_fail(directory, stored, wrong):
    async def compared():
        store, meta = ParquetStore(directory.binlogs), SqliteMetaStore(directory.meta)
        for number, rows in stored:
            path = f"c/segment-{number}/term-000001-position-1"
            await store.put(path, rows)
            named = (BinlogRecord(path, tuple(row.ts for row in rows)),)
            await meta.save_segment(SegmentRecord(number, "c", EndPosition(rows[-1].ts), binlogs=named))
        await meta.close()
        return await wrong_rows(directory.root, CONFIG)

    assert asyncio.run(compared()) == wrong


class Records(MemoryDatabase):
    """open: whether they are."""

    open = False

    async def execute(self, statement, values=()):
        self.open = True
        return await super().execute(statement, values)

    async def close(self):
        self.open = False
        await super().close()


async def test_releases_close_their_file(tmp_path):
    records = Records()
    releases = SqliteReleases(tmp_path, database=records)
    await releases.add(1)
    assert records.open
    await releases.close()
    assert not records.open
