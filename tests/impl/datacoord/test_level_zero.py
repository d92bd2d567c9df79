"""The compactor of level zero over real metadata and binlogs: what it applies, drops and writes anew."""

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest

from tests.impl.parts import CHANNEL
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.level_zero import LevelZeroCompactor
from tidemark.impl.errors import StoreError
from tidemark.impl.storage.memory import MemoryMetaStore, MemoryObjectStore
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import (
    BinlogRecord,
    ChannelPosition,
    ChannelRecord,
    Compaction,
    EndPosition,
    Row,
    SaveBinlogPaths,
    SegmentRecord,
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


@asynccontextmanager
async def filled(root, **given):
    bench = await Bench(root).open()
    await bench.fill(**given)
    yield bench
    await bench.meta.close()


@pytest.fixture
def bench(tmp_path):
    return filled(tmp_path)


async def test_a_delete_removes_the_older_row_of_its_key_and_leaves_level_zero(bench):
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


async def test_what_was_done_is_known_to_the_next_coordinator(bench):
    await bench.compactor.compact(CHANNEL)
    await bench.compactor.rewrite(CHANNEL)
    known = dict(bench.coordinator.segments)
    await bench.open()
    assert bench.coordinator.segments == known
    assert bench.coordinator.segments[1].compaction.start == 1
    await bench.save(-1, (Row(9, -1, key=8),))
    assert len(bench.coordinator.segments[-1].binlogs) == 1, "the dropped binlog does not come back"


@pytest.mark.parametrize(
    ("given", "why"),
    [({"checkpoint": 2}, "rows before the delete may be unknown"), ({"flushed": False}, "rows may follow")],
)
async def test_a_level_zero_binlog_waits(tmp_path, given, why):
    async with filled(tmp_path, **given) as bench:
        await bench.compactor.compact(CHANNEL)
        assert await bench.rows(-1) == [DELETE], why


async def test_a_record_that_has_changed_is_not_replaced(bench):
    before = bench.coordinator.segments[-1]
    await bench.save(-1, (Row(6, -1, key=8),))
    await bench.coordinator.replace_segment(before, before)
    assert len(bench.coordinator.segments[-1].binlogs) == 2


OLD = (Row(1, 1, 10), Row(2, 1, 11), Row(6, 1, 10))
DELETES = (Row(5, -2, 10), Row(5, -2, 12))
DELTA, REWRITTEN = "c/segment-1/delta-c-level", "c/segment-1/compacted-000001"
APPLIED = Compaction(applied=("c/level",), deltas=(BinlogRecord(DELTA, (5,)),))
EARLIER = replace(APPLIED, deltas=(*APPLIED.deltas, BinlogRecord("c/segment-1/delta-earlier", (1,))))
ONCE = {
    "applied and dropped": (Compaction(), ["compact"], [DELTA], ["c/rows", DELTA]),
    "applied and rewritten": (Compaction(), ["compact", "rewrite"], [DELTA, REWRITTEN], [REWRITTEN]),
    "applied by an earlier process": (APPLIED, ["compact"], [], ["c/rows", DELTA]),
    "the latest delete counts": (EARLIER, ["rewrite"], [REWRITTEN], [REWRITTEN, "c/level"]),
    "a file is not written": (Compaction(), ["compact"], [], ["c/rows", "c/level"]),
    "two compactions at once": (Compaction(), ["compact compact"], [DELTA], ["c/rows", DELTA]),
    "two rewritings at once": (APPLIED, ["rewrite rewrite"], [REWRITTEN], [REWRITTEN, "c/level"]),
    "both at once": (APPLIED, ["compact rewrite", "rewrite"], [REWRITTEN], [REWRITTEN]),
}
"""What is applied already; what is done, some at once; the files that are written; those that are named."""


class Slow(MemoryObjectStore):
    """Others run between a call and its answer."""

    def __init__(self, *, fails):
        super().__init__()
        self.fails, self.written = fails, []
        self.objects = {"c/rows": OLD, "c/level": DELETES, DELTA: DELETES[:1]}
        self.objects["c/segment-1/delta-earlier"] = (Row(1, -2, 10),)

    async def get(self, path):
        await asyncio.sleep(0)
        return await super().get(path)

    async def put(self, path, rows):
        await asyncio.sleep(0)
        if self.fails:
            raise StoreError(f"{path} is not written")
        self.written.append(path)
        await super().put(path, rows)


@pytest.mark.parametrize("case", ONCE)
async def test_each_file_is_written_once_whoever_else_wants_it(case):
    compaction, does, written, named = ONCE[case]
    meta, store = MemoryMetaStore(), Slow(fails=case == "a file is not written")
    await meta.save_channels([ChannelRecord("c", checkpoint=7)])
    for number, path, rows in ((1, "c/rows", OLD), (-2, "c/level", DELETES)):
        binlogs = (BinlogRecord(path, tuple(row.ts for row in rows)),)
        known = compaction if number == 1 else Compaction()
        await meta.save_segment(SegmentRecord(number, "c", flushed=True, binlogs=binlogs, compaction=known))
    coordinator = Coordinator(meta=meta)
    await coordinator.load()
    compactor = LevelZeroCompactor(coordinator=coordinator, store=store)
    for together in does:
        with suppress(StoreError):
            await asyncio.gather(*(getattr(compactor, kind)("c") for kind in together.split()))
    found = [
        one for record in coordinator.segments_of("c") for one in (*record.binlogs, *record.compaction.deltas)
    ]
    assert sorted(one.path for one in found) == sorted(named)
    for one in found:
        assert tuple(row.ts for row in store.objects[one.path]) == one.row_positions
    assert store.objects.get(REWRITTEN, OLD[1:]) == OLD[1:]
    assert coordinator.segments[1].compaction.applied == (() if store.fails else ("c/level",))
    assert store.written == written
