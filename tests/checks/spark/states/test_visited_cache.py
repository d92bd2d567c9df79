"""Tables of known states: right, or not used."""

from __future__ import annotations

import dataclasses
import fcntl

import numpy as np
import pytest

from tests.checks.spark.opponents import LAMPS, TWO_PHASE, distributed, make, native_summary, summary
from tidemark.checks.spark.search.breadth_first import Search
from tidemark.checks.spark.states import visited_cache as known
from tidemark.checks.spark.states.table import Table, empty_place
from tidemark.checks.spark.states.visited_cache import VisitedCache


@pytest.mark.parametrize(("words", "top"), [(1, 4000), (2, 6), (3, 5)])
def test_a_table_tells_which_rows_are_new(words, top):
    """Rows repeat, within a block and between blocks; the row of zeros is one of them."""
    table = Table(empty_place(Table.size(words)), words=words, larger=empty_place)
    random, all_rows = np.random.default_rng(1), set[tuple[int, ...]]()
    for _ in range(12):
        block = random.integers(0, top, size=(2000, words), dtype=np.uint64)
        rows = {tuple(row) for row in block.tolist()}
        fresh = [tuple(row) for row in table.insert(block).tolist()]
        assert len(fresh) == len(set(fresh))
        assert set(fresh) == rows - all_rows
        all_rows |= rows
    assert len(table) == len(all_rows)
    assert (0,) * words in all_rows


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """This process takes itself for a worker of an executor with this folder."""
    folder = tmp_path / "executor"
    folder.mkdir()
    monkeypatch.setattr(known, "shared_folder", lambda: folder)
    monkeypatch.setattr(known, "_mapped", {})
    return folder


def known_of(directory, partition=0):
    return VisitedCache(session=directory.plan.session, partition=partition, store=directory.store)


def rest_of(directory, number, partition=0):
    """What a table says of the states of a round, as if they had just come."""
    _, block = directory.store.open(directory.store.log_path(number, partition), partition)
    return known_of(directory, partition).fresh([block.copy()], before=number)


@pytest.mark.parametrize("instance", [LAMPS, TWO_PHASE], ids=lambda i: i.name)
@pytest.mark.parametrize("partitions", [1, 3])
def test_counts_with_shared_tables(tmp_path, shared, instance, partitions):
    found = distributed(tmp_path / "run", instance, partitions=partitions)
    assert summary(found) == native_summary(instance)
    assert len(list(shared.glob("known-*.table"))) == partitions
    assert not list(tmp_path.rglob("merged-*"))


def test_another_process_goes_on_with_a_table_and_catches_up(tmp_path, shared, monkeypatch):
    directory = make(tmp_path / "run", TWO_PHASE, partitions=1)
    Search(directory).run()
    opened = []
    store_open = type(directory.store).open

    def noted(store, path, partition):
        opened.append(path.name)
        return store_open(store, path, partition)

    (table,) = shared.glob("*.table")
    table.unlink()
    monkeypatch.setattr(known, "_mapped", {})
    assert len(rest_of(directory, 5)) == 216
    monkeypatch.setattr(known, "_mapped", {})
    monkeypatch.setattr(type(directory.store), "open", noted)
    assert len(rest_of(directory, 8)) == 233
    assert opened == [f"level-{number:06d}.bin" for number in (8, 6, 7)]


def test_a_table_that_is_ahead_or_in_use_is_left_alone(tmp_path, shared):
    directory = make(tmp_path / "run", TWO_PHASE, partitions=1)
    Search(directory).run()
    assert rest_of(directory, 4) is None
    assert not known_of(directory).given_up
    with next(shared.glob("*.lock")).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert known_of(directory).fresh([], before=15) is None
    assert len(known_of(directory).fresh([], before=15)) == 0


def test_a_table_whose_writer_died_is_made_again(tmp_path, shared):
    directory = make(tmp_path / "run", TWO_PHASE, partitions=1)
    found = Search(directory).run()
    (flat,) = [flat for _, flat in known._mapped.values()]
    table = Table(flat, words=directory.store.words, larger=empty_place)
    table.insert(np.full((3, directory.store.words), 12345, np.uint64))
    table.open()
    fresh = rest_of(directory, 8)
    assert len(fresh) == 233
    (flat,) = [flat for _, flat in known._mapped.values()]
    table = Table(flat, words=directory.store.words, larger=empty_place)
    assert (table.rounds, table.is_open, len(table)) == (9, False, sum(found.levels[:9]))


@pytest.mark.parametrize("folder", ["shared", "none"])
def test_without_room_the_runs_are_looked_through(tmp_path, request, monkeypatch, folder):
    if folder == "shared":
        request.getfixturevalue("shared")
    monkeypatch.setattr(known, "SHARE", 0.0)
    directory = make(tmp_path / "run", dataclasses.replace(TWO_PHASE, bounds={"Manager": 5}), partitions=1)
    found = Search(directory).run()
    assert found.distinct == 8832
    assert known_of(directory).given_up
    assert list(tmp_path.rglob("merged-*"))
    assert not list(tmp_path.rglob("*.table"))


def test_the_next_search_removes_the_tables_of_the_last_one(tmp_path, shared):
    first = make(tmp_path / "one", LAMPS, partitions=2)
    Search(first).run()
    second = make(tmp_path / "two", LAMPS, partitions=1)
    Search(second).run()
    names = [path.name for path in shared.glob("*.table")]
    assert names == [f"known-{second.plan.session}-0.table"]
