"""A process dies between a flush and its confirmation: the next one carries on, though no client asks again.

That a resumed flush does what it has to is judged in the gate; here is seen that the processes resume it.
"""

import asyncio
import sys

from tests.impl.cluster.parts import client, play, running, until
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.demo.node_process import CHANNEL, NODE_ID, meta_file
from tidemark.impl.demo.story import LogKeeper
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore


def test_a_cluster_confirms_the_flush_of_the_process_before_it(tmp_path):
    async def scenario():
        async with running(tmp_path) as cluster:
            user = client(cluster, 0)
            await user.create("c")
            await user.insert("c", {1: "a"})
            storage = cluster.storage
            [channel] = storage.coordinator.channels
            segments = storage.allocator.end_all(channel)
            flush_ts = await cluster.foundation.oracle.alloc(1)
            await storage.coordinator.request_flush(channel, flush_ts, segments)
        async with running(tmp_path) as cluster:
            coordinator = cluster.storage.coordinator
            await until(lambda: not coordinator.channel(channel).flush_requests)
            assert coordinator.channel(channel).checkpoint >= flush_ts
            assert [coordinator.segments[segment].flushed for segment in segments] == [True]

    play(scenario)


def test_the_demonstrated_node_confirms_the_flush_of_the_process_before_it(tmp_path):
    async def scenario():
        log = LogKeeper(tmp_path)
        await log.append([(1, 7, "a")])
        flush_ts = log.tick
        ticks = asyncio.create_task(log.run_ticks())
        meta = SqliteMetaStore(meta_file(tmp_path))
        coordinator = Coordinator(meta=meta)
        await coordinator.load()
        await coordinator.assign(CHANNEL, NODE_ID)
        await coordinator.request_flush(CHANNEL, flush_ts)
        node = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tidemark.impl.demo.node_process", "--dir", str(tmp_path)),
            *("--full-buffer-bytes", "1000000"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            while (await meta.load()).channels[0].flush_requests:
                assert node.returncode is None, "the node has ended"
                await asyncio.sleep(0.01)
            [record] = (await meta.load()).channels
            assert record.checkpoint >= flush_ts
        finally:
            if node.returncode is None:
                node.kill()
            await node.wait()
            ticks.cancel()
            await meta.close()

    play(scenario)
