"""Iterators over a collection of two shards: all pages show what the first has shown of each."""

import asyncio

import pytest

from tests.impl.cluster.parts import client, running, until
from tidemark.impl.proxy.writes import shard_of
from tidemark.impl.system.connection import RequestRefusedError
from tidemark.impl.values.consistency import ConsistencyLevel

STRONG = ConsistencyLevel.STRONG


class Late:
    """A query node that answers reads of one shard later than those of the other."""

    def __init__(self, node, channel):
        self.asked = 0
        self.answered = 0
        self.may_answer = asyncio.Event()
        self.channel = channel
        self._serve, node.serve = node.serve, self.serve

    async def serve(self, channel, read, *, deadline=None):
        self.asked += 1
        if channel == self.channel:
            await self.may_answer.wait()
        found = await self._serve(channel, read, deadline=deadline)
        self.answered += 1
        return found


async def all_of(pages):
    return [page async for page in pages]


async def test_pages_have_their_rows_once_and_by_key(tmp_path):
    async with running(tmp_path) as cluster:
        user, other = client(cluster, 0), client(cluster, 1)
        await user.create("c", shards=2)
        rows = {key: f"v{key}" for key in (7, 1, 9, 3, 5, 2)}
        await user.insert("c", rows)
        found = await all_of(other.pages("c", size=4, level=STRONG))
        assert [list(page.rows) for page in found] == [[1, 2, 3, 5], [7, 9]]
        assert {key: value for page in found for key, value in page.rows.items()} == rows
        found = await all_of(other.pages("c", size=3, level=STRONG))
        assert [len(page.rows) for page in found] == [3, 3, 0]
        assert other.session.timestamp == found[0].moment
        with pytest.raises(ValueError, match="the size of a page is 0"):
            await anext(other.pages("c", size=0))


async def test_what_is_written_between_two_pages_is_on_none(tmp_path):
    async with running(tmp_path) as cluster:
        user, other = client(cluster, 0), client(cluster, 1)
        await user.create("c", shards=2)
        rows = dict.fromkeys(range(0, 16, 2), "v")
        await user.insert("c", rows)
        pages = other.pages("c", size=3, level=STRONG)
        found = [await anext(pages)]
        await user.delete("c", [8, 10])
        await user.insert("c", dict.fromkeys(range(1, 16, 2), "late"))
        await user.flush("c")
        assert len((await other.query("c", level=STRONG)).rows) == 14
        found += await all_of(pages)
        assert [list(page.rows) for page in found] == [[0, 2, 4], [6, 8, 10], [12, 14]]
        assert [page.moments for page in found] == [found[0].moments] * 3


async def test_a_further_page_shows_no_row_that_the_first_has_not_seen_on_its_shard(tmp_path):
    """The first page has an old answer of one shard and a new one of the other. With the greatest of the two
    moments, the further page would show the rows that were written in between on the first one.
    """

    async with running(tmp_path) as cluster:
        user, other = client(cluster, 0), client(cluster, 1)
        await user.create("c", shards=2)
        await user.insert("c", {0: "v"})
        early, late = cluster.replicas.channels
        nodes = [Late(node, late) for node in cluster.replicas.nodes.values()]
        pages = other.pages("c", size=1, level=STRONG)
        asked = asyncio.ensure_future(anext(pages))
        await until(lambda: all(node.answered == 1 and node.asked == 2 for node in nodes))
        written = await user.insert("c", dict.fromkeys(range(1, 11), "between"))
        replicas = cluster.replicas.nodes.values()
        await until(lambda: all(node.service_time(late) >= written for node in replicas))
        for node in nodes:
            node.may_answer.set()
        first = await asked
        assert first.moments[early] < written <= first.moments[late]
        found = [first, *await all_of(pages)]
        shown = [key for page in found for key in page.rows]
        assert shown == [0, *(key for key in range(1, 11) if shard_of(key, 2) == 1)]


async def test_a_page_of_another_collection_is_refused(tmp_path):
    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        for name in ("c", "d"):
            await user.create(name, shards=2)
            await user.insert(name, dict.fromkeys(range(4), name))
        await user.create_alias("a", "c")
        pages = user.pages("a", size=2, level=STRONG)
        assert (await anext(pages)).rows == {0: "c", 1: "c"}
        await user.alter_alias("a", "d")
        with pytest.raises(RequestRefusedError, match=r"UnknownChannelError: .* read all channels"):
            await anext(pages)
