"""What the tests of the cluster share: one in this process, its clients, and what is stored of it."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tidemark.impl.client.client import Client
from tidemark.impl.cluster.child import Child
from tidemark.impl.cluster.cluster import Cluster
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.example import promises_of
from tidemark.impl.cluster.promises import Promises, Write
from tidemark.impl.cluster.server import LocalConnection
from tidemark.impl.values.consistency import ConsistencyLevel

QUICK = ClusterConfig(tick_seconds=0.01, full_buffer_bytes=400, segment_rows=12)
"""Small segments and buffers: much is stored before a flush."""
SECONDS = 60.0
COLLECTION = "c"


@asynccontextmanager
async def running(root: Path, config: ClusterConfig = QUICK, **options: Any) -> AsyncIterator[Cluster]:
    """A cluster, and its failure if it has one. It leaves no task behind."""
    cluster = Cluster(root, config=config, **options)
    before = asyncio.all_tasks()
    try:
        await cluster.start()
        yield cluster
        cluster.supervisor.check()
    finally:
        await cluster.stop()
    assert asyncio.all_tasks() <= before


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


class Workload:
    """Clients that write until the cluster is gone, and what is known of their writes."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.promises: Promises = promises_of(ClusterConfig())
        self.there: list[int] = []
        self.keys = iter(range(1_000_000))
        self.acknowledged = 0
        self.flushes = 0
        self.reads = 0
        self.news = asyncio.Event()

    async def write(self, child: Child, number: int) -> None:
        """Insert and delete at one proxy until the connection is lost."""
        user = await child.client(number)
        while True:
            await self.write_once(user, f"w{number}")

    async def write_once(self, user: Client, name: str) -> None:
        """Insert a few rows, or delete one."""
        if self.there and self.rng.random() < 0.25:
            keys = [self.there.pop(self.rng.randrange(len(self.there)))]
            deletes, asked = True, user.delete(COLLECTION, keys)
        else:
            keys = [next(self.keys) for _ in range(self.rng.randint(1, 6))]
            deletes, asked = False, user.insert(COLLECTION, {key: f"value-{key}" for key in keys})
        writes = [Write(key, name, deletes) for key in keys]
        self.promises.writes += writes
        ts, ended = await asked, time.monotonic_ns()
        for write in writes:
            write.ts, write.ended = ts, ended
        self.acknowledged += 1
        self.there.extend([] if deletes else keys)
        self.news.set()

    async def flush(self, child: Child) -> None:
        """Flush now and then."""
        user = await child.client(0)
        while True:
            await asyncio.sleep(self.rng.uniform(0.02, 0.15))
            await user.flush(COLLECTION)
            self.flushes += 1
            self.news.set()

    async def read(self, child: Child) -> None:
        """Read at every level, and check each answer."""
        user = await child.client(1)
        while True:
            level = self.rng.choice([*ConsistencyLevel][:4])
            begun = time.monotonic_ns()
            found = await user.query(COLLECTION, level=level)
            assert self.promises.broken(found, level=level, client="reader", begun=begun) == []
            self.reads += 1
            self.news.set()

    async def until(self, acknowledged: int, *, lives: int) -> None:
        """Wait for so many more acknowledged writes, and for a flush and a read in each life."""
        goal = self.acknowledged + acknowledged
        while self.acknowledged < goal or min(self.flushes, self.reads) < lives:
            self.news.clear()
            await self.news.wait()
