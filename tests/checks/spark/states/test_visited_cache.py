"""Sets of packed states: sorted runs, tables of known states, filters of states that were sent."""

import dataclasses
import fcntl

import numpy as np
import pytest

from tests.checks.spark.opponents import LAMPS, TWO_PHASE, distributed, make, native_summary, summary
from tidemark.checks.spark.search.breadth_first import Search
from tidemark.checks.spark.states import visited_cache as known
from tidemark.checks.spark.states.packed_states import least, merge, minus, owners_of, sorted_run
from tidemark.checks.spark.states.sent_filter import SentFilter
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


def block(seed, rows, words, *, top=2**64 - 1):
    return np.random.default_rng(seed).integers(0, top, size=(rows, words), dtype=np.uint64, endpoint=True)


def as_set(rows):
    return {tuple(row) for row in rows.tolist()}


def sent(remembered, states):
    return [tuple(row) for part in remembered.split(states) for row in part.tolist()]


@pytest.mark.parametrize("memory", [0, 1 << 16])
@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_it_loses_nothing_and_sends_each_state_to_its_owner(partitions, memory):
    states = block(5, 4000, 2, top=30)
    remembered = SentFilter(words=2, partitions=partitions, memory=memory)
    remembered.begin(1)
    parts = [remembered.split(states[at : at + 500]) for at in range(0, 4000, 500)]
    for owner in range(partitions):
        mine = np.concatenate([part[owner] for part in parts])
        assert (owners_of(mine, partitions) == owner).all()
        assert as_set(mine) == as_set(states[owners_of(states, partitions) == owner])
        assert len(mine) < 4000


def test_what_was_sent_in_an_earlier_round_is_not_sent_again():
    states = block(6, 50, 1, top=2**60)
    remembered = SentFilter(words=1, partitions=2)
    remembered.begin(3)
    assert len(sent(remembered, states)) == 50
    remembered.begin(4)
    assert sent(remembered, states) == []


def test_another_attempt_in_the_same_round_sends_everything_again():
    """The first one may have been lost with all that it sent."""
    states = block(7, 50, 1, top=2**60)
    remembered = SentFilter(words=1, partitions=2)
    remembered.begin(3)
    remembered.split(states[:20])
    remembered.begin(3)
    assert as_set(states) == set(sent(remembered, states))
    assert sent(remembered, states) == []


def test_a_round_that_is_done_again_forgets_the_later_ones():
    states = block(8, 50, 1, top=2**60)
    remembered = SentFilter(words=1, partitions=2)
    remembered.begin(5)
    remembered.split(states)
    remembered.begin(4)
    assert as_set(states) == set(sent(remembered, states))


def test_attempts_before_a_repeated_round_stay_trusted():
    early, late = block(9, 20, 1, top=2**60), block(10, 20, 1, top=2**60)
    remembered = SentFilter(words=1, partitions=1)
    remembered.begin(1)
    remembered.split(early)
    for _ in range(2):
        remembered.begin(2)
        assert as_set(late) == set(sent(remembered, np.concatenate([early, late])))


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
