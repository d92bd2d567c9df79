"""Iterators over a collection of two shards: all pages show what the first has shown of each."""

import pytest

from tests.impl.cluster.parts import client
from tidemark.impl.system.connection import RequestRefusedError
from tidemark.impl.values.consistency import ConsistencyLevel

STRONG = ConsistencyLevel.STRONG


async def all_of(pages):
    return [page async for page in pages]


async def test_what_is_written_between_two_pages_is_on_none(cluster):
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


async def test_a_page_of_another_collection_is_refused(cluster):
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
