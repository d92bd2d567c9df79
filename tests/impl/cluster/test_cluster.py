"""The embedded cluster in one event loop: the opening example at every level, and what may go wrong in it."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from tests.impl.cluster.audit import rows_in_logs, wrong_rows
from tests.impl.cluster.parts import QUICK, client, running, until
from tidemark.impl.cluster.cluster import Cluster
from tidemark.impl.cluster.example import EXPECTED
from tidemark.impl.cluster.example import play as play_example
from tidemark.impl.errors import ClusterLockedError, CollectionError, RpcError
from tidemark.impl.system.connection import RequestRefusedError
from tidemark.impl.timestamp import split
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.messages import Tick


async def test_the_opening_example_at_every_level(cluster):
    for level in ConsistencyLevel:
        story = await play_example(client(cluster, 0), client(cluster, 1), level, config=QUICK, shards=2)
        assert story.wrong == []
        assert story.promises.judged == 4
        if level in (ConsistencyLevel.STRONG, ConsistencyLevel.CUSTOMIZED):
            assert tuple(story.found) == EXPECTED


async def test_one_timestamp_from_the_oracle_to_the_row(tmp_path):
    """The timestamp of the answer is that of the row in the log and in the binlog, and a time of today."""

    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        await user.create("c")
        inserted = await user.insert("c", {1: "a"})
        flushed = await user.flush("c")
        assert abs(split(inserted).physical / 1000 - time.time()) < 60
        assert inserted < flushed
        [segment] = cluster.storage.coordinator.segments.values()
        assert [binlog.row_positions for binlog in segment.binlogs] == [(inserted,)]
        assert segment.flushed
    assert [row.ts for row in await rows_in_logs(tmp_path, QUICK)] == [inserted]
    assert await wrong_rows(tmp_path, QUICK) == {}


async def test_what_is_stored_and_what_is_served_go_on_together(tmp_path):
    """Many small segments, flushes between writes, a query node that is killed and one that takes over."""

    async with running(tmp_path) as cluster:
        writer, reader = client(cluster, 0), client(cluster, 1)
        await writer.create("c", shards=2)
        there: dict[int, str] = {}
        for turn in range(6):
            rows = {turn * 10 + n: f"{turn}" for n in range(10)}
            await writer.insert("c", rows)
            there |= rows
            gone = [key for key in there if key % 7 == turn]
            await writer.delete("c", gone)
            there = {key: value for key, value in there.items() if key not in gone}
            if turn % 2:
                await writer.flush("c")
            if turn == 3:
                await cluster.replicas.kill(1)
            if turn == 4:
                await cluster.replicas.revive(1)
            found = await reader.query("c", level=ConsistencyLevel.STRONG)
            assert found.rows == there
        sealed = [node.delegators[c].sealed for node in cluster.replicas.nodes.values()
                  for c in cluster.replicas.channels]  # fmt: skip
        assert all(sealed), "flushed segments are served from their binlogs"
        some = [key for key in there if key % 3 == 0]
        assert (await reader.query("c", level=ConsistencyLevel.STRONG, keys=some)).rows.keys() == set(some)
    assert await wrong_rows(tmp_path, QUICK) == {}


async def test_deletes_come_into_the_files_and_the_rows_are_gone(tmp_path):
    """A query node that starts afterwards finds what the files have, without level zero."""

    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        await user.create("c")
        await user.insert("c", dict.fromkeys(range(10), "old"))
        await user.delete("c", range(5))
        await user.insert("c", {0: "new"})
        await user.flush("c")
        segments = cluster.storage.coordinator.segments

        def is_done():
            stored = [b for r in segments.values() for b in r.binlogs if r.segment_id < 0]
            return not stored and sum(len(b.row_positions) for r in segments.values() for b in r.binlogs) == 6

        await until(is_done)
        await cluster.replicas.kill(0)
        await cluster.replicas.revive(0)
        found = await user.query("c", level=ConsistencyLevel.STRONG)
        assert found.rows == {0: "new"} | dict.fromkeys(range(5, 10), "old")
    assert await wrong_rows(tmp_path, QUICK) == {}
    assert len(await rows_in_logs(tmp_path, QUICK)) == 16


async def test_a_proxy_whose_session_ends_is_fenced_and_comes_back(cluster):
    user = client(cluster, 0)
    await user.create("c")
    await user.insert("c", {1: "a"})
    host = cluster.hosts[0]
    before = (await host.serving()).source
    await cluster.foundation.sessions.end(before)
    await until(lambda: host.proxy is not None and host.proxy.source != before)
    await user.insert("c", {2: "b"})
    assert set((await user.query("c", level=ConsistencyLevel.STRONG)).rows) == {1, 2}
    for log in cluster.foundation.broker.logs.values():
        with pytest.raises(RpcError, match="its session has ended"):
            await log.append(before, Tick(1))


async def test_errors_name_what_is_wrong(cluster, tmp_path):
    user = client(cluster, 0)
    with pytest.raises(RequestRefusedError, match="no collection 'c'; create it first"):
        await user.insert("c", {1: "a"})
    with pytest.raises(RequestRefusedError, match="9 shards; give 1 to 2"):
        await user.create("c", shards=9)
    await user.create("c")
    with pytest.raises(RequestRefusedError, match="already"):
        await user.create("c")
    with pytest.raises(RequestRefusedError, match="nothing to write"):
        await user.delete("c", [])
    cluster.catalog.meta.versions["d"] = replace(cluster.catalog.meta.describe("c"), created=0)
    with pytest.raises(CollectionError, match="no collection 'd'"):  # it is being created
        await cluster.load("d")
    second = Cluster(tmp_path)
    with pytest.raises(ClusterLockedError, match="end it first"):
        await second.start()


async def test_each_node_reads_a_physical_channel_once_and_a_slow_shard_holds_up_no_other(tmp_path):
    """Shards of two collections lie in one physical channel. One whose pipeline stands still is split off;
    when it goes on it is merged again, and nothing is missing.
    """
    config = replace(QUICK, channels=1, query_nodes=1, proxies=1, packs=2, lag_seconds=0.1)

    async with running(tmp_path, config) as cluster:
        user = client(cluster, 0)
        for name in ("slow", "quick"):
            await user.create(name)
        node: Any = cluster.replicas.nodes[0]
        shards = list(node.pipelines)
        [manager] = node.dispatchers.managers.values()
        await until(lambda: manager.main is not None and sorted(manager.main.targets) == sorted(shards))
        assert (manager.deputies, len(manager.tasks)) == ({}, 1)
        gate = asyncio.Event()
        pipeline = node.pipelines[shards[0]]
        process, pipeline.process = pipeline.process, lambda pack: held(gate, process, pack)
        await user.insert("slow", {1: "a"})
        written = await user.insert("quick", {1: "b"})
        stopped = node.service_time(shards[0])
        await until(lambda: list(manager.main.targets) == [shards[1]])
        await until(lambda: node.service_time(shards[1]) > written)
        assert node.service_time(shards[0]) <= max(stopped, written)
        gate.set()
        await until(lambda: len(manager.main.targets) == 2)
        assert (await user.query("slow", level=ConsistencyLevel.STRONG)).rows == {1: "a"}
        assert (await user.query("quick", level=ConsistencyLevel.STRONG)).rows == {1: "b"}


async def held(gate, process, pack):
    """Process a pack once the gate is open."""
    await gate.wait()
    await process(pack)
