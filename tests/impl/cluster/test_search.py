"""Searches in the embedded cluster: nearest first, over shards, and at every level what a query shows."""

import pytest

from tests.impl.cluster.parts import client
from tidemark.impl.values.consistency import ConsistencyLevel

STRONG = ConsistencyLevel.STRONG


@pytest.mark.parametrize("flushed", [False, True])
async def test_a_search_brings_the_nearest_rows_of_all_shards(cluster, flushed):
    user = client(cluster, 0)
    await user.create("c", shards=2)
    await user.insert("c", {key: str(key) for key in range(0, 40, 2)})
    if flushed:
        await user.flush("c")
    await user.insert("c", {21: "late"})
    await user.delete("c", [22, 18])
    for level in (STRONG, ConsistencyLevel.SESSION):
        found = await user.search("c", near=21, limit=4, level=level)
        assert list(found.rows.items()) == [(21, "late"), (20, "20"), (24, "24"), (16, "16")]
    every = await user.search("c", near=0, limit=100, level=STRONG)
    assert every.rows == (await user.query("c", level=STRONG)).rows
    assert list(every.rows) == sorted(every.rows)
    assert len((await user.search("c", near=0, level=STRONG)).rows) == 10
