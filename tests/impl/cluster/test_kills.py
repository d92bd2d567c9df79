"""SIGKILL at seeded points, again and again: nothing acknowledged is lost, nothing is stored twice."""

import asyncio
import time

from tests.impl.cluster.audit import rows_in_logs, wrong_rows
from tests.impl.cluster.parts import COLLECTION, Workload, play
from tidemark.impl.cluster.child import Child, cluster_command, spawn, start
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.system.connection import ConnectionLostError
from tidemark.impl.values.consistency import ConsistencyLevel

KILLS = 3
SIZES = ("--full-buffer-bytes", "600", "--segment-rows", "40")


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


async def killed_again_and_again(root):
    workload = Workload(seed=22)
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
        wrong = workload.promises.broken(found, level=ConsistencyLevel.STRONG, client="reader", begun=begun)
        assert wrong == []
        await user.flush(COLLECTION)
        await user.close()
        await child.end()
    finally:
        await child.kill()
    config = ClusterConfig()
    assert await wrong_rows(root, config) == {}
    in_log = {row.ts for row in await rows_in_logs(root, config)}
    assert {write.ts for write in workload.promises.writes if write.ts is not None} <= in_log
    assert workload.acknowledged >= 15 * KILLS


def test_acknowledged_rows_survive_every_kill(tmp_path):
    play(lambda: killed_again_and_again(tmp_path / "cluster"))
