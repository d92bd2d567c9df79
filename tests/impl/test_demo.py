"""The demonstration: a real process, a real SIGKILL, real files; and its check can fail."""

import asyncio
import subprocess
import sys

import pytest

from tests.impl.parts import CHANNEL, pack, run
from tidemark.impl.cluster.audit import audit
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.direct import DirectCoordinatorClient
from tidemark.impl.datanode.data_node import DataNode, DataNodePorts
from tidemark.impl.demo.__main__ import main, parse
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.storage.file_log import FileLogReader, FileLogWriter
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import BinlogRecord, Compaction, MetaSnapshot, Row, SegmentRecord


def test_the_demonstration_survives_a_kill(tmp_path):
    command = [sys.executable, "-m", "tidemark.impl.demo", "--rows", "600", "--segments", "3", "--seed", "5"]
    done = subprocess.run(
        [*command, "--dir", str(tmp_path / "demo")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "with SIGKILL" in done.stdout
    assert "600 rows in the log: 0 lost, 0 doubled, 0 invented, 0 damaged binlogs." in done.stdout
    assert (tmp_path / "demo" / "coordinator.sqlite").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--segments", "0"], "--segments is 0"),
        (["--rows", "10"], "--rows is 10"),
        (["--dir", __file__], "is not an empty directory"),
    ],
)
def test_bad_options_end_with_code_2(options, words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_a_named_directory_is_kept(tmp_path):
    options, keep = parse(["--dir", str(tmp_path / "new"), "--seed", "9"])
    assert (options.seed, options.directory, keep) == (9, tmp_path / "new", True)


ROWS = (Row(1, 1, 10, "a"), Row(2, 1, 20, "b"))


@pytest.mark.parametrize(
    ("binlogs", "in_log", "words"),
    [
        ([("x", ROWS)], ROWS, "2 rows in the log: 0 lost, 0 doubled, 0 invented, 0 damaged"),
        ([("x", ROWS[:1])], ROWS, "1 lost, 0 doubled, 0 invented"),
        ([("x", ROWS), ("y", ROWS[1:])], ROWS, "0 lost, 1 doubled, 0 invented"),
        ([("x", ROWS)], ROWS[:1], "0 lost, 0 doubled, 1 invented"),
        ([("x", ())], (), "0 rows in the log: 0 lost"),
        ([("missing", None)], ROWS, "2 lost, 0 doubled, 0 invented, 1 damaged"),
    ],
)
def test_the_check_finds_every_kind_of_difference(tmp_path, binlogs, in_log, words):
    async def scenario():
        store = ParquetStore(tmp_path)
        records = []
        for path, rows in binlogs:
            if rows is not None:
                await store.put(path, rows)
            records.append(BinlogRecord(path, tuple(row.ts for row in rows or ())))
        segment = SegmentRecord(segment_id=1, channel=CHANNEL, binlogs=tuple(records))
        found = await audit(in_log, MetaSnapshot(segments=(segment,)), store)
        assert words in found.describe()
        assert found.clean is (words == "2 rows in the log: 0 lost, 0 doubled, 0 invented, 0 damaged")

    run(scenario())


def test_a_binlog_that_differs_from_its_record_is_found(tmp_path):
    async def scenario():
        store = ParquetStore(tmp_path)
        await store.put("x", ROWS)
        segment = SegmentRecord(segment_id=1, channel=CHANNEL, binlogs=(BinlogRecord("x", (1, 3)),))
        found = await audit(ROWS, MetaSnapshot(segments=(segment,)), store)
        assert found.problems == ("binlog x holds other rows than its record says",)
        assert not found.clean

    run(scenario())


@pytest.mark.parametrize(("deleted", "lost"), [(20, 0), (9, 1)])
def test_a_row_may_be_gone_if_its_key_was_deleted_later(tmp_path, deleted, lost):
    """A segment that was written anew lacks a row; so it may, if the log has a delete of that key."""

    async def scenario():
        store = ParquetStore(tmp_path)
        delete = Row(5, -1, key=deleted)
        await store.put("x", ROWS[:1])
        await store.put("d", [delete])
        rewritten = SegmentRecord(
            segment_id=1,
            channel=CHANNEL,
            binlogs=(BinlogRecord("x", (ROWS[0].ts,)),),
            compaction=Compaction(applied=("d",), start=ROWS[0].ts),
        )
        levels = SegmentRecord(segment_id=-1, channel=CHANNEL, compaction=Compaction(applied=("d",)))
        found = await audit((*ROWS, delete), MetaSnapshot(segments=(rewritten, levels)), store)
        assert (len(found.missing), found.clean) == (lost, not lost)

    run(scenario())


def test_recovery_from_real_files_neither_loses_nor_doubles(tmp_path):
    """Incarnations over one directory, each stopped after some packs; checkpoints lag behind."""
    packs = [pack(end, (end % 3, end), (1, 100 + end)) for end in range(1, 25)]

    async def incarnation(upto):
        meta = SqliteMetaStore(tmp_path / "meta")
        coordinator = Coordinator(meta=meta)
        await coordinator.load()
        if CHANNEL not in coordinator.channels:
            await coordinator.assign(CHANNEL, "node-1")
        clock = AsyncioClock()
        node = DataNode(
            node_id="node-1",
            ports=DataNodePorts(
                clock=clock,
                log=FileLogReader(tmp_path, clock=clock, poll_seconds=0.001),
                store=ParquetStore(tmp_path / "binlogs"),
                coordinator=DirectCoordinatorClient(coordinator),
            ),
            config=DataNodeConfig(
                full_buffer_bytes=60, checkpoint_interval_ts=2, checkpoint_tick_seconds=0.01
            ),
        )
        node.start()
        pipeline = await node.recover_channel(CHANNEL)
        node.flush_channel(CHANNEL, 24)
        seek = pipeline.write_buffer.consumed.ts
        while pipeline.write_buffer.consumed.ts < upto or (upto == 30 and pipeline.write_buffer.tasks):
            await asyncio.sleep(0.001)
            node.supervisor.check()
        await node.stop()
        await meta.close()
        return seek

    async def scenario():
        writer = FileLogWriter(tmp_path, CHANNEL)
        seeks = []
        for upto, share in (
            (7, packs[:9]),
            (15, packs[9:20]),
            (30, [*packs[20:], *map(pack, range(25, 31))]),
        ):
            for item in share:
                await writer.append(item)
            seeks.append(await incarnation(upto))
        meta = SqliteMetaStore(tmp_path / "meta")
        rows = [row for item in packs for row in item.rows]
        found = await audit(rows, await meta.load(), ParquetStore(tmp_path / "binlogs"))
        await meta.close()
        assert found.clean, found.describe()
        assert seeks == sorted(seeks)

    run(scenario())
