"""What the tests of the cluster share: one in this process, its clients, and what is stored of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tidemark.impl.broker.channel_log import read_entries
from tidemark.impl.broker.messages import DeleteMessage, InsertMessage, rows_of
from tidemark.impl.client.client import Client
from tidemark.impl.cluster.cluster import Cluster
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.cluster.server import LocalConnection
from tidemark.impl.demo.audit import Audit, audit
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import Row

QUICK = ClusterConfig(tick_seconds=0.01, full_buffer_bytes=400, segment_rows=12)
"""Small segments and buffers: much is stored before a flush."""
SECONDS = 60.0


@asynccontextmanager
async def running(root: Path, config: ClusterConfig = QUICK, **options: Any) -> AsyncIterator[Cluster]:
    """A cluster, and its failure if it has one."""
    cluster = Cluster(root, config=config, **options)
    try:
        await cluster.start()
        yield cluster
        cluster.supervisor.check()
    finally:
        await cluster.stop()


def client(cluster: Cluster, proxy: int) -> Client:
    """A client of a proxy, counted from 0."""
    return Client(LocalConnection(cluster.gateways[proxy]))


def play(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario; one that hangs fails."""

    async def limited() -> None:
        async with asyncio.timeout(SECONDS):
            await scenario()

    asyncio.run(limited())


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that comes about by itself; ``play`` limits the time."""
    for _ in range(int(SECONDS * 100)):
        if condition():
            return
        await asyncio.sleep(0.01)


async def logged(root: Path, config: ClusterConfig = QUICK) -> list[Row]:
    """What the logs hold, as rows that are to be stored: a delete is a row of its level-zero segment."""
    directory = ClusterDirectory(root)
    return [
        row
        for channel in config.channel_names
        for entry in await read_entries(directory.logs, channel)
        if isinstance(entry.message, InsertMessage | DeleteMessage)
        for row in rows_of(entry.message)
    ]


async def audited(root: Path, config: ClusterConfig = QUICK) -> Audit:
    """What is stored, against the logs. The cluster has ended."""
    directory = ClusterDirectory(root)
    meta = SqliteMetaStore(directory.meta)
    try:
        return await audit(await logged(root, config), await meta.load(), ParquetStore(directory.binlogs))
    finally:
        await meta.close()
