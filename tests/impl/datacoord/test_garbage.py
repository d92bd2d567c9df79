"""The collector of garbage over real Parquet files."""

import asyncio

import pytest

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.garbage import FileReaders, GarbageCollector
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.storage.parquet_folder import ParquetFolder
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.types import (
    LOG_BEGINNING,
    BinlogRecord,
    EndPosition,
    Owner,
    Row,
    SaveBinlogPaths,
    SaveOutcome,
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
        """The channel's next owner."""
        return (await self.coordinator.recover_channel(CHANNEL, "node")).owner

    async def write(self, owner: Owner, position: int) -> str:
        """Write a file of one row."""
        path = f"{CHANNEL}/segment-{position}/term-{owner.term:06d}-position-{position:020d}"
        await self.store.put(path, [Row(position, position, 0)])
        return path

    async def save(self, owner: Owner, position: int, path: str) -> SaveOutcome:
        """Have it recorded."""
        binlog = BinlogRecord(path, (position,))
        request = SaveBinlogPaths(CHANNEL, owner, position, EndPosition(position), binlog)
        return await self.coordinator.save_binlog_paths(request)

    async def sync(self, owner: Owner, position: int) -> str:
        """Both."""
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
