"""SIGKILL at seeded points, again and again: nothing acknowledged is lost, nothing is stored twice."""

import asyncio
import random
import time

from tests.impl.cluster.parts import play
from tidemark.impl.cluster.child import Child, cluster_command, spawn, start
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.example import promises_of
from tidemark.impl.cluster.promises import Promises, Write
from tidemark.impl.cluster.stored import audit_cluster, rows_in_logs
from tidemark.impl.system.connection import ConnectionLostError
from tidemark.impl.values.consistency import ConsistencyLevel

KILLS = 3
SIZES = ("--full-buffer-bytes", "600", "--segment-rows", "40")
COLLECTION = "c"


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
        client = await child.client(number)
        while True:
            if self.there and self.rng.random() < 0.25:
                keys = [self.there.pop(self.rng.randrange(len(self.there)))]
                deletes, asked = True, client.delete(COLLECTION, keys)
            else:
                keys = [next(self.keys) for _ in range(self.rng.randint(1, 6))]
                deletes, asked = False, client.insert(COLLECTION, {key: f"value-{key}" for key in keys})
            writes = [Write(key, f"w{number}", deletes) for key in keys]
            self.promises.writes += writes
            ts, ended = await asked, time.monotonic_ns()
            for write in writes:
                write.ts, write.ended = ts, ended
            self.acknowledged += 1
            self.there.extend([] if deletes else keys)
            self.news.set()

    async def flush(self, child: Child) -> None:
        """Flush now and then."""
        client = await child.client(0)
        while True:
            await asyncio.sleep(self.rng.uniform(0.02, 0.15))
            await client.flush(COLLECTION)
            self.flushes += 1
            self.news.set()

    async def read(self, child: Child) -> None:
        """Read at every level, and check each answer."""
        client = await child.client(1)
        while True:
            level = self.rng.choice([*ConsistencyLevel][:4])
            begun = time.monotonic_ns()
            found = await client.query(COLLECTION, level=level)
            assert self.promises.broken(found, level=level, client="reader", begun=begun) == []
            self.reads += 1
            self.news.set()

    async def until(self, acknowledged: int, *, lives: int) -> None:
        """Wait for so many more acknowledged writes, and for a flush and a read in each life."""
        goal = self.acknowledged + acknowledged
        while self.acknowledged < goal or min(self.flushes, self.reads) < lives:
            self.news.clear()
            await self.news.wait()


async def life(workload: Workload, child: Child, lives: int) -> None:
    """One process: clients work, until it is killed at a point that the seed decides."""
    rng = workload.rng
    users = [workload.write(child, 0), workload.write(child, 1), workload.flush(child), workload.read(child)]
    tasks = [asyncio.create_task(user) for user in users]
    await workload.until(rng.randint(15, 60), lives=lives)
    await asyncio.sleep(rng.uniform(0, 0.03))
    await child.kill()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(ended, ConnectionLostError), ended


def test_acknowledged_rows_survive_every_kill(tmp_path):
    workload = Workload(seed=22)

    async def scenario():
        root = tmp_path / "cluster"
        child = await start(*cluster_command(root, *SIZES))
        user = await child.client(0)
        await user.create(COLLECTION, shards=2)
        await user.close()
        for lives in range(1, KILLS + 1):
            await life(workload, child, lives)
            recovering = await spawn(*cluster_command(root, *SIZES))
            await asyncio.sleep(workload.rng.uniform(0, 1.0))
            recovering.kill()
            await recovering.wait()
            child = await start(*cluster_command(root, *SIZES))
        try:
            user = await child.client(1)
            begun = time.monotonic_ns()
            found = await user.query(COLLECTION, level=ConsistencyLevel.STRONG)
            wrong = workload.promises.broken(
                found, level=ConsistencyLevel.STRONG, client="reader", begun=begun
            )
            assert wrong == []
            await user.flush(COLLECTION)
            await user.close()
            await child.end()
        finally:
            await child.kill()
        config = ClusterConfig()
        stored = await audit_cluster(root, config)
        assert stored.clean, stored.describe()
        in_log = {row.ts for row in await rows_in_logs(root, config)}
        assert {write.ts for write in workload.promises.writes if write.ts is not None} <= in_log
        assert workload.acknowledged >= 15 * KILLS
        assert stored.expected >= workload.acknowledged

    play(scenario)
