"""Sorted runs against Python's sets."""

from __future__ import annotations

import numpy as np
import pytest

from tidemark.checks.spark.states.packed_states import least, merge, minus, owners_of, sorted_run


def block(seed, rows, words, *, top=2**64 - 1):
    return np.random.default_rng(seed).integers(0, top, size=(rows, words), dtype=np.uint64, endpoint=True)


def as_set(rows):
    return {tuple(row) for row in rows.tolist()}


@pytest.mark.parametrize("words", [1, 2, 5])
@pytest.mark.parametrize("rows", [0, 1, 2, 1000])
def test_a_run_has_every_state_once_in_an_order_that_ignores_the_input(words, rows):
    states = block(1, rows, words, top=3)  # many duplicates
    run = sorted_run(states)
    assert as_set(run) == as_set(states)
    assert len(run) == len(as_set(states))
    shuffled = np.random.default_rng(2).permutation(states)
    assert np.array_equal(sorted_run(shuffled), run)


@pytest.mark.parametrize("words", [1, 3])
def test_minus_and_merge(words):
    universe = block(3, 3000, words, top=40 if words == 1 else 9)
    one, two = sorted_run(universe[:2000]), sorted_run(universe[1000:])
    rest = minus(two, [one])
    assert as_set(rest) == as_set(two) - as_set(one)
    out = np.empty((len(one) + len(rest), words), np.uint64)
    merge(one, rest, out)
    assert np.array_equal(out, sorted_run(universe))


@pytest.mark.parametrize(("few", "many"), [(3, 5000), (5000, 3), (0, 10), (10, 0)])
def test_minus_with_runs_of_very_different_size(few, many):
    states = block(4, few + many, 2)
    known = sorted_run(np.concatenate([states[:many], states[-few // 2 or many :]]))
    run = sorted_run(states[many - 1 :] if many else states)
    assert as_set(minus(run, [known])) == as_set(run) - as_set(known)
    assert np.array_equal(minus(run, []), run)


def test_owners_have_about_the_same_number_of_states():
    counts = np.bincount(owners_of(np.arange(7000, dtype=np.uint64).reshape(-1, 1), 7))
    assert len(counts) == 7
    assert counts.min() > 850


def test_the_least_state():
    states = np.array([[2, 0], [1, 9], [1, 8], [3, 0]], np.uint64)
    assert least(states).tolist() == [1, 8]
