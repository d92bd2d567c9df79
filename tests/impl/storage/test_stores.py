"""The real adapters: Parquet files, SQLite metadata, the file log."""

import asyncio
import sqlite3
import zlib

import pyarrow.parquet as pq
import pytest

from tests.impl.parts import CHANNEL, pack, run
from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.storage.file_log import FileLogReader, FileLogWriter, encode, log_file, read_log
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.storage.transactions import SqliteDatabase
from tidemark.impl.types import BinlogRecord, ChannelRecord, EndPosition, FlushRequest, Row, SegmentRecord

ROWS = (Row(3, 1, 30, "three"), Row(4, 1, 40, ""))


def test_a_binlog_comes_back_as_it_was_written(tmp_path):
    async def scenario():
        store = ParquetStore(tmp_path / "binlogs")
        await store.put("channel/segment-1/a", ROWS)
        assert await store.get("channel/segment-1/a") == ROWS
        assert store.paths() == ("channel/segment-1/a",)
        assert pq.read_metadata(store.file_of("channel/segment-1/a")).num_rows == 2

    run(scenario())


def test_a_second_write_replaces_the_first(tmp_path):
    async def scenario():
        store = ParquetStore(tmp_path)
        await store.put("a", ROWS)
        await store.put("a", ROWS[:1])
        assert await store.get("a") == ROWS[:1]

    run(scenario())


def test_an_interrupted_write_leaves_no_object(tmp_path, monkeypatch):
    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    async def scenario():
        store = ParquetStore(tmp_path)
        monkeypatch.setattr("tidemark.impl.storage.files.os.fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            await store.put("a", ROWS)
        assert store.paths() == ()
        with pytest.raises(StoreError, match="it was never written"):
            await store.get("a")

    run(scenario())


def test_a_damaged_binlog_is_named(tmp_path):
    async def scenario():
        store = ParquetStore(tmp_path)
        await store.put("a", ROWS)
        file = store.file_of("a")
        file.write_bytes(file.read_bytes()[:-7])
        with pytest.raises(CorruptDataError, match=r"a\.parquet is damaged"):
            await store.get("a")

    run(scenario())


@pytest.mark.parametrize("path", ["../a", "/a", "", "b/../../a"])
def test_a_path_cannot_leave_the_directory(tmp_path, path):
    with pytest.raises(ValueError, match="must be relative and without"):
        ParquetStore(tmp_path).file_of(path)


CHANNEL_RECORD = ChannelRecord(
    channel=CHANNEL,
    checkpoint=5,
    assigned_to=None,
    last_owner="a",
    term=3,
    session=9,
    dropped=True,
    flush_requests=(FlushRequest(6), FlushRequest(9, (1, 2))),
)
SEGMENT_RECORD = SegmentRecord(
    segment_id=1,
    channel=CHANNEL,
    dml_position=EndPosition(8),
    flushed=True,
    binlogs=(BinlogRecord("a", (3, 4)), BinlogRecord("b", (8,))),
)


def test_metadata_come_back_in_another_process_of_the_file(tmp_path):
    async def scenario():
        first = SqliteMetaStore(tmp_path / "meta")
        await first.save_channels([ChannelRecord(channel="z"), CHANNEL_RECORD])
        await first.save_segment(SegmentRecord(segment_id=1, channel=CHANNEL))
        await first.save_segment(SEGMENT_RECORD)
        second = SqliteMetaStore(tmp_path / "meta")
        snapshot = await second.load()
        assert snapshot.channels == (CHANNEL_RECORD, ChannelRecord(channel="z"))
        assert snapshot.segments == (SEGMENT_RECORD,)
        await first.close()
        await second.close()

    run(scenario())


def test_a_failing_change_leaves_nothing_of_itself(tmp_path):
    async def scenario():
        store = SqliteMetaStore(tmp_path / "meta")
        await store.save_channels([CHANNEL_RECORD])
        broken = ChannelRecord(channel="b", term=None)  # type: ignore[arg-type]
        with pytest.raises(CorruptDataError, match="NOT NULL"):
            await store.save_channels([ChannelRecord(channel="new"), broken])
        assert (await store.load()).channels == (CHANNEL_RECORD,)
        await store.close()

    run(scenario())


def test_sqlite_is_asked_for_durability(tmp_path):
    async def scenario():
        database = SqliteDatabase(tmp_path / "meta")
        store = SqliteMetaStore(tmp_path / "meta", database=database)
        await store.load()
        assert await database.execute("PRAGMA journal_mode") == [("wal",)]
        assert await database.execute("PRAGMA synchronous") == [(2,)]
        await store.close()


def test_a_cancelled_save_leaves_nothing_open(tmp_path):
    async def scenario():
        store = SqliteMetaStore(tmp_path / "meta")
        for number in range(1, 8):
            saving = asyncio.create_task(store.save_channels([ChannelRecord(channel="a", checkpoint=number)]))
            await asyncio.sleep(0.0002 * (number % 7))
            saving.cancel()
            await asyncio.gather(saving, return_exceptions=True)
            other = SqliteMetaStore(tmp_path / "meta")
            await other.save_channels([ChannelRecord(channel="b", checkpoint=number)])
            found = {record.channel: record.checkpoint for record in (await other.load()).channels}
            assert found["b"] == number
            assert found.get("a", 0) <= number
            await other.close()
        await store.close()

    run(scenario())


def test_a_file_of_another_version_is_refused(tmp_path):
    async def scenario():
        with sqlite3.connect(tmp_path / "meta") as connection:
            connection.execute("PRAGMA user_version = 7")
        connection.close()
        store = SqliteMetaStore(tmp_path / "meta")
        with pytest.raises(CorruptDataError, match="has version 7, this program reads 6"):
            await store.load()
        await store.close()

    run(scenario())


def test_a_file_that_is_no_database_is_refused(tmp_path):
    async def scenario():
        (tmp_path / "meta").write_bytes(b"not a database, but long enough to be looked at" * 20)
        store = SqliteMetaStore(tmp_path / "meta")
        with pytest.raises(CorruptDataError, match="is damaged"):
            await store.load()
        await store.close()

    run(scenario())


def test_a_reader_follows_the_log_and_waits_for_whole_lines(tmp_path):
    async def scenario():
        writer = FileLogWriter(tmp_path, CHANNEL)
        packs = [pack(1, (1, 1)), pack(2, close=True), pack(3, (2, 3), (1, 4))]
        await writer.append(packs[0])
        await writer.append(packs[1])
        reader = FileLogReader(tmp_path, clock=AsyncioClock(), poll_seconds=0.001)
        assert await reader.next_pack(CHANNEL, EndPosition(0)) == packs[0]
        assert await reader.next_pack(CHANNEL, EndPosition(1)) == packs[1]
        waiting = asyncio.create_task(reader.next_pack(CHANNEL, EndPosition(2)))
        line = encode(packs[2])
        for part in (line[:30], line[30:]):
            await asyncio.sleep(0.02)
            assert not waiting.done()
            with log_file(tmp_path, CHANNEL).open("ab") as out:
                out.write(part)
        with log_file(tmp_path, CHANNEL).open("ab") as out:
            out.write(b"\n")
        assert await waiting == packs[2]
        assert await read_log(tmp_path, CHANNEL) == tuple(packs)

    run(scenario())


def line_of(text: bytes) -> bytes:
    return b"%08x %s\n" % (zlib.crc32(text), text)


@pytest.mark.parametrize(
    "text", [b"nonsense", b'{"start":1}', b'{"start":5,"end":2,"rows":[],"close":false,"drop":false}']
)
def test_a_line_that_is_no_pack_is_named(tmp_path, text):
    async def scenario():
        log_file(tmp_path, CHANNEL).write_bytes(line_of(text))
        with pytest.raises(CorruptDataError, match=r"channel-1\.jsonl has a damaged line"):
            await read_log(tmp_path, CHANNEL)

    run(scenario())


def test_damage_before_the_last_line_is_named_and_not_cut_off(tmp_path):
    async def scenario():
        await FileLogWriter(tmp_path, CHANNEL).append(pack(1, (1, 1)))
        file = log_file(tmp_path, CHANNEL)
        first = file.read_bytes()
        file.write_bytes(first.replace(b"start", b"stort") + first)
        before = file.read_bytes()
        with pytest.raises(CorruptDataError, match="restore it"):
            await read_log(tmp_path, CHANNEL)
        with pytest.raises(CorruptDataError, match="restore it"):
            await FileLogWriter(tmp_path, CHANNEL).append(pack(2, start=1))
        assert file.read_bytes() == before

    run(scenario())


@pytest.mark.parametrize("rest", [b"0", b"\0\0\0\0", b"\0\0\0\n", line_of(b"{}")[:-1], b"00000000 {}\n"])
def test_what_is_left_of_an_append_is_cut_off_by_the_next_writer(tmp_path, rest):
    async def scenario():
        await FileLogWriter(tmp_path, CHANNEL).append(pack(1, (1, 1)))
        with log_file(tmp_path, CHANNEL).open("ab") as out:
            out.write(rest)
        assert await read_log(tmp_path, CHANNEL) == (pack(1, (1, 1)),)
        await FileLogWriter(tmp_path, CHANNEL).append(pack(2, start=1))
        assert await read_log(tmp_path, CHANNEL) == (pack(1, (1, 1)), pack(2, start=1))

    run(scenario())


def test_a_cancelled_append_is_over_when_its_caller_goes_on(tmp_path):
    async def scenario():
        writer = FileLogWriter(tmp_path, CHANNEL)
        for end in range(1, 12):
            appending = asyncio.create_task(writer.append(pack(end, start=end - 1)))
            await asyncio.sleep(0.0001 * (end % 7))
            appending.cancel()
            await asyncio.gather(appending, return_exceptions=True)
            found = [one.end.ts for one in await read_log(tmp_path, CHANNEL)]
            assert found == sorted(set(found)), "packs are in the order of their appends, once each"

    run(scenario())


def test_a_log_that_does_not_exist_is_empty(tmp_path):
    async def scenario():
        assert await read_log(tmp_path, CHANNEL) == ()

    run(scenario())
