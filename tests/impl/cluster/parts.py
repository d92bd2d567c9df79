"""What the tests of the cluster share: one in this process, its clients, and what is stored of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tidemark.impl.client.client import Client
from tidemark.impl.cluster.cluster import Cluster
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.server import LocalConnection

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
