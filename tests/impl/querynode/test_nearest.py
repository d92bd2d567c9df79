"""Searches: what is cut in parts is what is cut of the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.impl.types import Row
from tidemark.impl.values.nearest import Nearest

ROWS = st.lists(
    st.builds(Row, ts=st.integers(1, 30), segment_id=st.just(1), key=st.integers(0, 12), value=st.just("v")),
    max_size=12,
    unique_by=lambda row: (row.key, row.ts),
)


@given(ROWS, st.integers(-3, 15), st.integers(1, 8), st.integers(1, 4))
def test_a_search_of_shards_is_that_of_all_rows(rows, place, limit, shards):
    """All rows of a key are in one shard."""
    nearest = Nearest(place, limit)
    parts = [nearest.cut([row for row in rows if row.key % shards == shard]) for shard in range(shards)]
    found = nearest.cut([row for part in parts for row in part])
    assert found == nearest.cut(rows)
    keys = sorted({row.key for row in rows}, key=lambda key: (abs(key - place), key))
    assert [row.key for row in found] == keys[:limit]
    assert all(row.ts == max(other.ts for other in rows if other.key == row.key) for row in found)


@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_below_one_is_refused(limit):
    with pytest.raises(ValueError, match=f"the limit of a search is {limit}; ask for at least 1 row"):
        Nearest(5, limit)
