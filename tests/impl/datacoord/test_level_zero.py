"""The compactor of level zero over real metadata and binlogs: what it applies, drops and writes anew."""

import asyncio

import pytest

from tests.impl.parts import CHANNEL
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.level_zero import LevelZeroCompactor
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import (
    BinlogRecord,
    ChannelPosition,
    EndPosition,
    Row,
    SaveBinlogPaths,
    UpdateCheckpoints,
)

ROWS = (Row(1, 1, key=7), Row(2, 1, key=8), Row(5, 1, key=7))
DELETE = Row(3, -1, key=7)


class Bench:
    """A coordinator with a segment of three rows, and a level-zero segment with a delete of two of them."""

    def __init__(self, root):
        self.meta = SqliteMetaStore(root / "meta")
        self.store = ParquetStore(root / "binlogs")

    async def open(self):
        self.coordinator = Coordinator(meta=self.meta)
        await self.coordinator.load()
        self.compactor = LevelZeroCompactor(coordinator=self.coordinator, store=self.store)
        return self

    async def fill(self, *, checkpoint=5, flushed=True):
        await self.coordinator.assign(CHANNEL, "a")
        self.owner = (await self.coordinator.recover_channel(CHANNEL, "a")).owner
        await self.save(1, ROWS, flushed=flushed)
        await self.save(-1, (DELETE,))
        position = ChannelPosition(CHANNEL, EndPosition(checkpoint), self.owner)
        await self.coordinator.update_channel_checkpoints(UpdateCheckpoints((position,)))

    async def save(self, segment, rows, *, flushed=False):
        path = f"{CHANNEL}/segment-{segment}/{rows[-1].ts}"
        await self.store.put(path, rows)
        binlog = BinlogRecord(path, tuple(row.ts for row in rows))
        request = SaveBinlogPaths(
            CHANNEL, self.owner, segment, EndPosition(rows[-1].ts), binlog, flushed=flushed
        )
        await self.coordinator.save_binlog_paths(request)

    async def rows(self, segment):
        return [
            row
            for one in self.coordinator.segments[segment].binlogs
            for row in await self.store.get(one.path)
        ]


def play(tmp_path, scenario, **given):
    async def run():
        bench = await Bench(tmp_path).open()
        try:
            await bench.fill(**given)
            await scenario(bench)
        finally:
            await bench.meta.close()

    asyncio.run(run())


def test_a_delete_removes_the_older_row_of_its_key_and_leaves_level_zero(tmp_path):
    async def scenario(bench):
        assert bench.coordinator.delete_checkpoint(CHANNEL) == 2
        await bench.compactor.compact(CHANNEL)
        assert await bench.rows(-1) == []
        assert bench.coordinator.delete_checkpoint(CHANNEL) == 5
        assert await bench.rows(1) == list(ROWS), "a rewriting removes rows, and nothing else does"
        await bench.compactor.rewrite(CHANNEL)
        assert await bench.rows(1) == [ROWS[1], ROWS[2]]
        done = dict(bench.coordinator.segments)
        await bench.compactor.compact(CHANNEL)
        await bench.compactor.rewrite(CHANNEL)
        assert bench.coordinator.segments == done

    play(tmp_path, scenario)


def test_what_was_done_is_known_to_the_next_coordinator(tmp_path):
    async def scenario(bench):
        await bench.compactor.compact(CHANNEL)
        await bench.compactor.rewrite(CHANNEL)
        known = dict(bench.coordinator.segments)
        await bench.open()
        assert bench.coordinator.segments == known
        assert bench.coordinator.segments[1].compaction.start == 1
        await bench.save(-1, (Row(9, -1, key=8),))
        assert len(bench.coordinator.segments[-1].binlogs) == 1, "the dropped binlog does not come back"

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("given", "why"),
    [({"checkpoint": 2}, "rows before the delete may be unknown"), ({"flushed": False}, "rows may follow")],
)
def test_a_level_zero_binlog_waits(tmp_path, given, why):
    async def scenario(bench):
        await bench.compactor.compact(CHANNEL)
        assert await bench.rows(-1) == [DELETE], why

    play(tmp_path, scenario, **given)


def test_a_record_that_has_changed_is_not_replaced(tmp_path):
    async def scenario(bench):
        before = bench.coordinator.segments[-1]
        await bench.save(-1, (Row(6, -1, key=8),))
        await bench.coordinator.replace_segment(before, before)
        assert len(bench.coordinator.segments[-1].binlogs) == 2

    play(tmp_path, scenario)
