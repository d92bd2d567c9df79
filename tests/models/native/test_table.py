"""The set of visited states, against a Python dictionary."""

import numpy as np
import pytest

from tidemark.models.native.digest import FIRST, SECOND, SEED, digest_rows
from tidemark.models.native.search.table import Visited

VALUES = {1: 20_000, 2: 150, 3: 30, 7: 4}
"""By number of words: enough different rows that each round brings new ones; many come again."""


@pytest.mark.parametrize("words", [1, 2, 3, 7])
def test_states_are_numbered_in_order_of_discovery(words: int) -> None:
    choices = np.random.default_rng(words)
    visited, known = Visited(words, steps=5, capacity=40_000), dict[tuple[int, ...], int]()
    for base in range(0, 60, 20):
        rows = choices.integers(0, VALUES[words], size=(9_000, words), dtype=np.uint64)
        parent = choices.integers(0, 20, size=9_000)
        step = choices.integers(0, 5, size=9_000, dtype=np.int32)
        before = visited.count
        visited.absorb(rows, parent, step, count=9_000, base=base)
        for row, origin, by in zip(map(tuple, rows.tolist()), parent.tolist(), step.tolist(), strict=True):
            if row not in known:
                number = known[row] = len(known)
                assert visited.parent(number) == base + origin
                assert visited.step(number) == by
        assert visited.count == len(known) > before
    assert list(map(tuple, visited.states.tolist())) == list(known)
    assert np.array_equal(visited.find(visited.states), np.arange(len(known)))
    assert visited.find(np.full((1, words), 1 << 40, dtype=np.uint64)).tolist() == [-1]


def test_states_of_one_digest_are_two_states() -> None:
    """The digest only tells where to look. The second word undoes what the first has changed."""

    def first_mixed(word: int) -> int:
        value = ((int(SEED) ^ word) * int(FIRST)) & ((1 << 64) - 1)
        return value ^ (value >> 32)

    rows = np.array([[word, 5 ^ first_mixed(word)] for word in range(100)], dtype=np.uint64)
    assert len(set(digest_rows(rows).tolist())) == 1
    visited = Visited(2, steps=1, capacity=1_000)
    nothing = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int32)
    for _ in range(2):
        visited.absorb(rows, *nothing, count=len(rows), base=0)
        assert visited.count == len(rows)
    assert visited.find(rows).tolist() == list(range(len(rows)))


def test_room_is_counted_as_if_all_were_new() -> None:
    visited = Visited(1, steps=1, capacity=10)
    assert visited.has_room(10)
    visited.add_initial(np.arange(4, dtype=np.uint64).reshape(-1, 1))
    assert not visited.has_room(7)


def test_the_digest_never_changes() -> None:
    """Distributed searches divide states by it, and kept files rely on it."""

    def mixed(words: list[int]) -> int:
        value, ones = int(SEED), (1 << 64) - 1
        for word in words:
            value = ((value ^ word) * int(FIRST)) & ones
            value ^= value >> 32
        value = (value * int(SECOND)) & ones
        return value ^ (value >> 29)

    rows = [[0, 0], [1, 0], [0, 1], [(1 << 64) - 1, 12345]]
    assert digest_rows(np.array(rows, dtype=np.uint64)).tolist() == [mixed(row) for row in rows]
    assert mixed([1, 2, 3]) == 12906735228909386619
