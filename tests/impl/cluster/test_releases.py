"""Releases of the embedded cluster: kept over its end, and over an end in the middle of one."""

import asyncio
from contextlib import suppress

import pytest

from tests.impl.cluster.parts import client, running
from tidemark.impl.cluster.releases import SqliteReleases
from tidemark.impl.system.connection import RequestRefusedError
from tidemark.impl.values.consistency import ConsistencyLevel

STRONG = ConsistencyLevel.STRONG


async def rows_of(cluster, name):
    """What a read shows; None if the collection is not loaded."""
    try:
        return (await client(cluster, 1).query(name, level=STRONG)).rows
    except RequestRefusedError as refused:
        return None if "is not loaded; load it" in str(refused) else refused


async def test_a_release_and_a_load_are_kept_over_a_restart(tmp_path):
    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        for name in ("kept", "let-go"):
            await user.create(name)
            await user.insert(name, {1: name})
        await user.release("let-go")
        await user.insert("let-go", {2: "later"})
    async with running(tmp_path) as cluster:
        assert await rows_of(cluster, "kept") == {1: "kept"}
        assert await rows_of(cluster, "let-go") is None
        await client(cluster, 0).load("let-go")
        assert await rows_of(cluster, "let-go") == {1: "let-go", 2: "later"}
    async with running(tmp_path) as cluster:
        assert await rows_of(cluster, "let-go") == {1: "let-go", 2: "later"}


@pytest.mark.parametrize("call", ["release", "load"])
async def test_what_is_asked_for_is_stored_before_the_nodes_are_told(tmp_path, call, monkeypatch):
    """The process ends while the nodes are told: nobody was answered, and the next process does it."""

    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        await user.create("c")
        if call == "load":
            await user.release("c")
        told = asyncio.Event()

        async def never(*_):
            told.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(cluster.replicas, call, never)
        asked = asyncio.create_task(getattr(cluster, call)("c"))
        await told.wait()
        asked.cancel()
        with suppress(asyncio.CancelledError):
            await asked
    async with running(tmp_path) as cluster:
        assert await rows_of(cluster, "c") == (None if call == "release" else {})


async def test_a_load_waits_for_a_release_and_the_last_one_counts(tmp_path, monkeypatch):
    """Whatever comes first, the nodes and the file agree."""

    async with running(tmp_path) as cluster:
        await client(cluster, 0).create("c")
        assert await rows_of(cluster, "c") == {}
        tell, going, go_on = cluster.replicas.release, asyncio.Event(), asyncio.Event()

        async def slow(collection):
            going.set()
            await go_on.wait()
            await tell(collection)

        monkeypatch.setattr(cluster.replicas, "release", slow)
        releasing = asyncio.create_task(cluster.release("c"))
        await going.wait()
        loading = asyncio.create_task(cluster.load("c"))
        await asyncio.sleep(0.05)
        go_on.set()
        await asyncio.gather(releasing, loading)
        assert await rows_of(cluster, "c") == {}
    async with running(tmp_path) as cluster:
        assert await rows_of(cluster, "c") == {}


async def test_a_dropped_collection_is_forgotten(tmp_path):
    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        await user.create("c")
        await user.release("c")
        assert await client(cluster, 1).drop("c")
    store = SqliteReleases(cluster.directory.releases)
    assert await store.load() == ()
    await store.close()
