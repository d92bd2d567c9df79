"""The collector of garbage over real Parquet files."""

import asyncio
from unittest.mock import call, patch

import pytest

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.garbage import FileReaders, GarbageCollector
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.storage.parquet_folder import ParquetFolder
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.types import (
    LOG_BEGINNING,
    BinlogRecord,
    ChannelRecord,
    Compaction,
    EndPosition,
    FlushRequest,
    Owner,
    Row,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentRecord,
)

CHANNEL = "by-dev/channel"


class Room:
    """A coordinator, a directory and a collector."""

    def __init__(self, root):
        self.store = ParquetStore(root)
        self.folder = ParquetFolder(self.store)
        self.coordinator = Coordinator(meta=MemoryMetaStore())
        self.readers = FileReaders()
        self.collector = GarbageCollector(
            coordinator=self.coordinator, folder=self.folder, readers=self.readers
        )

    async def take(self):
        return (await self.coordinator.recover_channel(CHANNEL, "node")).owner

    async def write(self, owner: Owner, position: int) -> str:
        path = f"{CHANNEL}/segment-{position}/term-{owner.term:06d}-position-{position:020d}"
        await self.store.put(path, [Row(position, position, 0)])
        return path

    async def save(self, owner: Owner, position: int, path: str) -> SaveOutcome:
        binlog = BinlogRecord(path, (position,))
        request = SaveBinlogPaths(CHANNEL, owner, position, EndPosition(position), binlog)
        return await self.coordinator.save_binlog_paths(request)

    async def sync(self, owner: Owner, position: int) -> str:
        path = await self.write(owner, position)
        assert await self.save(owner, position, path) is SaveOutcome.RECORDED
        return path


async def _beside_a_sync(room: Room) -> None:
    await room.coordinator.assign(CHANNEL, "node")
    first = await room.take()
    kept = await room.sync(first, 1)
    under_way = await room.write(first, 2)
    await room.collector.collect()
    assert room.store.paths() == tuple(sorted([kept, under_way]))
    second = await room.take()
    assert await room.save(first, 2, under_way) is SaveOutcome.NOT_OWNER
    mine = await room.write(second, 3)
    await room.collector.collect()
    assert room.store.paths() == tuple(sorted([kept, mine]))


async def _dropped_and_created_again(room: Room) -> None:
    await room.coordinator.assign(CHANNEL, "node")
    owner = await room.take()
    path = await room.sync(owner, 1)
    compacted = f"{CHANNEL}/segment-1/compacted-000001"
    await room.store.put(compacted, [Row(1, 1, 0)])
    room.readers.lend("query node", [path])
    await room.coordinator.drop_channel(CHANNEL, owner)
    await room.collector.collect()
    assert room.store.paths() == (path,)
    assert not room.coordinator.channel(CHANNEL).collected
    room.readers.give_back("query node")
    await room.collector.collect()
    assert room.store.paths() == ()
    assert room.coordinator.channel(CHANNEL).collected
    late = await room.write(owner, 2)
    await room.coordinator.create_channel(CHANNEL, LOG_BEGINNING)
    new = await room.sync(await room.take(), 3)
    assert late in room.store.paths()
    await room.collector.collect()
    assert room.store.paths() == (new,)


@pytest.mark.parametrize("story", [_beside_a_sync, _dropped_and_created_again])
def test_what_is_named_or_may_be_named_stays(tmp_path, story):
    asyncio.run(story(Room(tmp_path)))


OLD, PRESENT = "segment-1/term-000002-position-1", "segment-1/term-000003-position-2"
RECORDED = "living/segment-1/term-000001-position-1"
OF_A_DROPPED_SEGMENT = "living/segment-3/term-000001-position-1"
READ = ("living/segment-2/term-000002-position-3", f"read/{OLD}")
WITHOUT_TERM = "living/segment-1/compacted-000001"
KEPT = (RECORDED, OF_A_DROPPED_SEGMENT, "living/segment-1/delta-x", f"living/{PRESENT}", WITHOUT_TERM, *READ)
GONE = (
    *(f"{channel}/{OLD}" for channel in ("living", "dropped", "awaited", "collected")),
    f"dropped/{PRESENT}",
    "dropped/segment-1/compacted-000001",
)


class Folder:
    """Names of objects, and those that were deleted."""

    def __init__(self, paths):
        self.files, self.deleted = sorted(paths), []

    async def paths(self, folder):
        return tuple(path for path in self.files if path.startswith(f"{folder}/"))

    async def delete(self, path):
        self.files.remove(path)
        self.deleted.append(path)


async def _filled():
    """A coordinator with channels of every kind."""
    meta = MemoryMetaStore()
    await meta.save_channels(
        (
            ChannelRecord("living", term=3),
            ChannelRecord("empty", term=3),
            ChannelRecord("dropped", term=3, dropped=True),
            ChannelRecord("awaited", term=3, dropped=True, flush_requests=(FlushRequest(9),)),
            ChannelRecord("read", term=3, dropped=True),
            ChannelRecord("collected", term=3, dropped=True, collected=True),
        )
    )
    delta = Compaction(deltas=(BinlogRecord("living/segment-1/delta-x", (1,)),))
    for segment in (
        SegmentRecord(1, "living", binlogs=(BinlogRecord(RECORDED, (1,)),), compaction=delta),
        SegmentRecord(2, "dropped", dropped=True),
        SegmentRecord(3, "living", dropped=True, binlogs=(BinlogRecord(OF_A_DROPPED_SEGMENT, (1,)),)),
    ):
        await meta.save_segment(segment)
    coordinator = Coordinator(meta=meta)
    await coordinator.load()
    return coordinator


@pytest.mark.parametrize("rounds", [1, 2])
async def test_a_round_deletes_the_garbage_of_all_channels_and_forgets_what_has_no_file_left(rounds):
    coordinator, folder, readers = await _filled(), Folder([*KEPT, *GONE]), FileReaders()
    for number, path in enumerate(READ):
        readers.lend(f"reader {number}", [path])
    collector = GarbageCollector(coordinator=coordinator, folder=folder, readers=readers)
    with patch.object(coordinator, "collect_channel", wraps=coordinator.collect_channel) as forgets:
        for _ in range(rounds):
            await collector.collect()
    assert folder.files == sorted(KEPT)
    assert sorted(folder.deleted) == sorted(GONE)
    assert forgets.mock_calls == [call("dropped")]
    assert sorted(coordinator.segments) == [1, 3]
