"""Collections of the embedded cluster that change and go, with clients that know an older one."""

import asyncio

import pytest

from tests.impl.cluster.parts import QUICK, client, running, until
from tidemark.impl.system.connection import RequestRefusedError
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.messages import DdlMessage

STRONG = ConsistencyLevel.STRONG


def messages_of(cluster):
    return [
        entry.message
        for log in cluster.foundation.broker.logs.values()
        for entry in log.entries
        if hasattr(entry.message, "channel")
    ]


@pytest.mark.parametrize("again", ["create", "create_alias"])
async def test_the_channels_of_a_dropped_collection_end_after_a_restart_though_its_name_is_used_again(
    tmp_path, again, monkeypatch
):
    """The process ends before its data node has stored the drop."""
    dropped: list[str] = []

    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        await user.create("other", shards=1)
        await user.create("c", shards=2)
        await user.insert("c", dict.fromkeys(range(3), "v"))
        channels = cluster.catalog.get("c").channels
        for channel in channels:
            monkeypatch.setattr(cluster.storage.node.pipelines[channel], "process", _never)
        await user.drop("c")
        await (user.create("c", shards=1) if again == "create" else user.create_alias("c", "other"))
        assert not any(cluster.storage.coordinator.channel(channel).dropped for channel in channels)
        dropped.extend(channels)
    async with running(tmp_path) as cluster:
        coordinator = cluster.storage.coordinator
        await until(lambda: all(coordinator.channel(channel).collected for channel in dropped))
        assert coordinator.segments == {}


async def _never(*_: object) -> None:
    """Do nothing, for ever."""
    await asyncio.Event().wait()


async def test_nothing_follows_a_drop_and_its_name_is_free(tmp_path):
    """Clients write through both proxies while a third one drops; then the name is used again."""

    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        await user.create("c", shards=2)
        refused: list[str] = []

        async def write(proxy):
            writer, key = client(cluster, proxy), proxy * 1000
            while True:
                try:
                    await writer.insert("c", {key: "v"})
                except RequestRefusedError as refusal:
                    refused.append(refusal.kind)
                    return
                key += 1

        writers = [asyncio.create_task(write(proxy)) for proxy in (0, 1)]
        await until(lambda: len(messages_of(cluster)) > 20)
        dropped = await user.drop("c")
        await asyncio.gather(*writers)
        assert set(refused) <= {"CollectionError", "SchemaMismatchError"}
        found = messages_of(cluster)
        assert max(message.ts for message in found) == dropped
        with pytest.raises(RequestRefusedError, match="no collection 'c'"):
            await user.query("c", level=STRONG)
        channels = {message.channel for message in found}
        coordinator = cluster.storage.coordinator
        await until(lambda: all(coordinator.channel(channel).collected for channel in channels))
        assert coordinator.segments == {}
        await user.create("c", shards=1)
        assert (await user.query("c", level=STRONG)).rows == {}
        await user.insert("c", {1: "again"})
    async with running(tmp_path) as cluster:
        assert (await client(cluster, 1).query("c", level=STRONG)).rows == {1: "again"}


async def test_a_drop_that_was_stored_is_finished_by_the_next_process(tmp_path):
    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        await user.create("c")
        await user.insert("c", {1: "a"})

        async def fails(channel, ts, text):
            del channel, ts, text
            await asyncio.Event().wait()

        cluster.catalog._announce = fails
        drop = asyncio.create_task(user.drop("c"))
        await until(lambda: cluster.catalog.meta.describe("c").gone)
        await until(lambda: cluster.catalog.meta.acknowledged.get("c") == 2)
        drop.cancel()
    async with running(tmp_path, QUICK) as cluster:
        record = cluster.catalog.meta.describe("c")
        assert record.gone
        assert record.changed
        assert max(message.ts for message in messages_of(cluster)) == record.changed
        await until(lambda: cluster.storage.coordinator.channel(record.channels[0]).collected)


async def test_a_change_goes_on_when_the_proxy_that_has_asked_for_it_ends(cluster):
    """Its caller does not know what became of it; nobody takes it for a change that did nothing."""

    user, held, announce = client(cluster, 0), asyncio.Event(), cluster.catalog._announce
    await user.create("c", shards=2)
    assert await cluster.gateways[1].show() == ("c",)

    async def waits(channel, ts, text):
        await held.wait()
        await announce(channel, ts, text)

    cluster.catalog._announce = waits
    proxy = await cluster.hosts[0].serving()
    altering = asyncio.create_task(user.alter("c", "new"))
    await until(lambda: cluster.catalog.meta.describe("c").schema == "new")
    await cluster.foundation.sessions.end(proxy.source)
    with pytest.raises(RequestRefusedError, match="the outcome is unknown"):
        await altering
    held.set()
    await until(lambda: bool(cluster.catalog.meta.describe("c").changed))
    changed = [m for m in messages_of(cluster) if isinstance(m, DdlMessage) and m.text == "alter"]
    assert {message.ts for message in changed} == {cluster.catalog.meta.describe("c").changed}
    assert len(changed) == 2


async def test_an_alias_moves_to_another_collection(tmp_path):
    """Both proxies know it at once, and so do clients that have written by it; it outlives the process."""

    async with running(tmp_path) as cluster:
        first, second = client(cluster, 0), client(cluster, 1)
        await first.create("old")
        await first.create("new")
        await first.create_alias("a", "old")
        await second.insert("a", {1: "old"})
        moved = await first.alter_alias("a", "new")
        assert await second.insert("a", {2: "new"}) > moved
        assert (await second.query("a", level=STRONG)).rows == {2: "new"}
        await first.alter("new", "key, value, more")
        assert await second.insert("a", {3: "new"}) > moved
        for refused, why in (
            (first.drop("new"), "has the aliases a; drop them first"),
            (first.drop("a"), "name the collection itself"),
            (first.create("a"), "is an alias of 'new'"),
            (first.create_alias("old", "new"), "there is a collection 'old' already"),
            (first.alter_alias("b", "new"), "there is no alias 'b'"),
        ):
            with pytest.raises(RequestRefusedError, match=why):
                await refused
        await first.drop("old")
    async with running(tmp_path) as cluster:
        user = client(cluster, 1)
        assert set((await user.query("a", level=STRONG)).rows) == {2, 3}
        await user.drop_alias("a")
        await user.drop("new")
        with pytest.raises(RequestRefusedError, match="no collection 'a'"):
            await client(cluster, 0).insert("a", {4: "gone"})
