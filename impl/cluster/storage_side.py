"""The storage side: the data coordinator with its metadata, the data node, segments and flushes."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from tidemark.impl.broker.packs import PackReader
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.cluster.foundation import Foundation
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datacoord.collection_flush import CollectionFlush
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.direct import DirectCoordinatorClient
from tidemark.impl.datacoord.flush_service import FlushService, FlushServiceConfig
from tidemark.impl.datacoord.garbage import FileReaders, GarbageCollector
from tidemark.impl.datacoord.level_zero import LevelZeroCompactor
from tidemark.impl.datacoord.segment_allocation import SegmentAllocator
from tidemark.impl.datanode.data_node import DataNode, DataNodePorts
from tidemark.impl.datanode.direct import DirectNodeClient
from tidemark.impl.runtime import Supervisor
from tidemark.impl.storage.parquet_folder import ParquetFolder
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.types import ChannelName

DATA_NODE = "data-node-1"


class StorageSide:
    """Data coordinator and data node."""

    def __init__(self, directory: ClusterDirectory, *, foundation: Foundation, config: ClusterConfig) -> None:
        self._meta = SqliteMetaStore(directory.meta)
        self.store = ParquetStore(directory.binlogs)
        self.coordinator = Coordinator(meta=self._meta)
        self._dispatchers = NodeDispatchers(foundation.broker, config=config.dispatchers)
        self.node = DataNode(
            node_id=DATA_NODE,
            session=time.time_ns(),
            ports=DataNodePorts(
                clock=foundation.clock,
                log=PackReader(foundation.broker, dispatchers=self._dispatchers),
                store=self.store,
                coordinator=DirectCoordinatorClient(self.coordinator),
            ),
            config=DataNodeConfig(
                full_buffer_bytes=config.full_buffer_bytes,
                checkpoint_interval_ts=config.checkpoint_ts,
                checkpoint_tick_seconds=config.tick_seconds,
            ),
        )
        self.compactor = LevelZeroCompactor(coordinator=self.coordinator, store=self.store)
        self._collector = GarbageCollector(
            coordinator=self.coordinator, folder=ParquetFolder(self.store), readers=FileReaders()
        )
        self._clock, self._pause = foundation.clock, config.compaction_seconds
        self._flush_service = FlushService(
            coordinator=self.coordinator,
            node=DirectNodeClient(self.node),
            clock=foundation.clock,
            config=FlushServiceConfig(poll_seconds=config.tick_seconds / 2),
        )
        self._oracle = foundation.oracle
        self._rows = config.segment_rows

    async def start(
        self, stack: AsyncExitStack, *, supervisor: Supervisor, take_number: Callable[[], int]
    ) -> None:
        """Load the stored records, and continue unconfirmed flushes."""
        stack.push_async_callback(self._meta.close)
        await self.coordinator.load()
        self.allocator = SegmentAllocator(
            coordinator=self.coordinator, take_number=take_number, max_rows=self._rows
        )
        self.flushes = CollectionFlush(
            oracle=self._oracle, allocator=self.allocator, service=self._flush_service
        )
        stack.push_async_callback(self._dispatchers.stop)
        supervisor.spawn(self._dispatchers.supervisor.wait_failed, "dispatchers of the data node")
        self.node.start()
        stack.push_async_callback(self.node.stop)
        supervisor.spawn(self.node.supervisor.wait_failed, "data node")
        supervisor.spawn(self._compact, "compactor")

    async def open(self, channels: Sequence[ChannelName]) -> None:
        """Assign new channels, and let the node recover them."""
        for channel in channels:
            if channel not in self.coordinator.channels:
                await self.coordinator.assign(channel, DATA_NODE)
        living = [channel for channel in channels if not self.coordinator.channel(channel).dropped]
        await asyncio.gather(*(self.node.recover_channel(channel) for channel in living))

    async def collect_dropped(self) -> None:
        """Delete the files of channels whose data node has stored everything up to their drop, and forget
        their segments. Query nodes have released them.
        """
        for channel, record in list(self.coordinator.channels.items()):
            if record.dropped and not record.flush_requests:
                await self._collector.delete_files(channel)
                await self._collector.forget(channel)

    async def resume_flushes(self) -> None:
        """Continue the unconfirmed flushes of an earlier process."""
        await self._flush_service.resume()

    async def _compact(self) -> None:
        """Bring deletes into the files of segments, and remove deleted rows, from time to time."""
        while True:
            await self._clock.sleep(self._pause)
            for record in tuple(self.coordinator.channels.values()):
                await self.compactor.compact(record.channel)
                await self.compactor.rewrite(record.channel)
