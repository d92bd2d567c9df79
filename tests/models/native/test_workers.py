"""Searches with several workers: the same states under the same numbers, the same everything."""

import numpy as np
import pytest

from tidemark.checks.crosscheck.peers import COUNTEREXAMPLES, PEERS
from tidemark.models.instance import Instance
from tidemark.models.native.kernel import Kernel, compile_kernel
from tidemark.models.native.search import rounds
from tidemark.models.native.search.breadth_first import Search, SearchLimits, search
from tidemark.models.native.search.checkpoint import load, save
from tidemark.models.native.search.merge import Merge
from tidemark.models.native.search.path import path_to
from tidemark.models.native.search.result import SearchResult
from tidemark.models.native.search.table import Rows, Visited
from tidemark.models.native.search.worker_pool import WorkerPool

SMALL = "tests.protocols.small:"


@pytest.fixture(autouse=True)
def _small_rounds_are_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "SHARED_ROWS", 1)


def kernel(name: str) -> Kernel:
    if name in PEERS:
        return compile_kernel(PEERS[name].instance)
    return compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 6}))


def same(one: SearchResult, two: SearchResult) -> None:
    assert np.array_equal(one.states, two.states)
    assert np.array_equal(one.visited.links, two.visited.links)
    assert np.array_equal(one.visited.spans, two.visited.spans)
    for name in ("distinct", "generated", "depth", "out_of_bounds"):
        assert getattr(one, name) == getattr(two, name)
    assert one.generated_by_action() == two.generated_by_action()
    assert one.out_of_bounds_by_action() == two.out_of_bounds_by_action()
    assert np.array_equal(one.visited.links, two.visited.links)
    for name in ("guards", "state_hits", "step_hits", "deadlocks", "first_deadlock", "levels"):
        assert np.array_equal(getattr(one.totals, name), getattr(two.totals, name)), name


@pytest.mark.parametrize("workers", [2, 3, 7])
@pytest.mark.parametrize("name", ["two-phase", "tso-s", "flush-cp-s"])
def test_any_number_of_workers_finds_the_same(name: str, workers: int) -> None:
    one, many = search(kernel(name), workers=1), search(kernel(name), workers=workers)
    same(one, many)
    if name in PEERS:
        assert (many.distinct, many.generated, many.depth) == (
            PEERS[name].distinct,
            PEERS[name].generated,
            PEERS[name].depth,
        )


@pytest.mark.parametrize("protocol", sorted(COUNTEREXAMPLES))
def test_any_number_of_workers_finds_the_same_counterexample(protocol: str) -> None:
    size, steps = COUNTEREXAMPLES[protocol]
    results = [search(compile_kernel(Instance(protocol, **size)), workers=n) for n in (1, 4)]
    found = []
    for result in results:
        props = [*result.kernel.state_claims, *result.kernel.step_claims]
        hits = {prop.id: result.hit(prop) for prop in props if prop.kind != "reachable"}
        found.append({key: path_to(result, hit) for key, hit in hits.items() if hit is not None})
    assert found[0] == found[1]
    assert min(len(path.steps) for path in found[0].values()) == steps


@pytest.mark.parametrize("limits", [SearchLimits(states=5_000), SearchLimits(memory=1_500_000)])
def test_a_stopped_search_is_the_same_and_goes_on_with_other_workers(limits, tmp_path):
    whole = search(kernel("two-phase"), workers=2)
    stopped = [Search(kernel("two-phase"), limits, workers=n) for n in (1, 3)]
    first, second = (part.run() for part in stopped)
    assert not first.complete
    assert first.stopped == second.stopped
    same(first, second)
    save(stopped[1], tmp_path / "search.npz")
    same(load(tmp_path / "search.npz", kernel("two-phase"), workers=2).run(), whole)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_rows_of_chunks_that_are_entered_at_once_are_numbered_in_order(workers: int) -> None:
    """Repetitions within and between chunks and rounds; the table grows in the middle of a round."""
    choices, pool = np.random.default_rng(workers), WorkerPool(workers)
    chunks, room = 4, 20_000
    visited = Visited(2, steps=3, capacity=200_000, pool=pool, front=(chunks, room))
    rows, known = [Rows(2, room) for _ in range(chunks)], dict[tuple[int, ...], int]()
    smallest = visited.table.size
    for _ in range(3):
        counts = choices.integers(0, room, size=chunks).tolist()
        for part in rows:
            part.packed[:] = choices.integers(0, 200, size=part.packed.shape, dtype=np.uint64)
            part.parent[:] = choices.integers(0, 50, size=part.parent.shape)
            part.step[:] = choices.integers(0, 3, size=part.step.shape)
        merge = Merge(visited, [100 * chunk for chunk in range(chunks)])
        entered = [0] * chunks

        def enter(chunk: int) -> None:
            last = chunks - 1 - chunk  # even one worker then finds the rows of later chunks first
            entered[last] = merge.insert(last, rows[last], entered[last], counts[last])  # noqa: B023

        while entered != counts:
            pool.each(chunks, enter)
            if entered != counts:
                merge.grow()
        merge.number()
        for chunk in range(chunks):
            merge.commit(chunk)
        merge.finish()
        for chunk, count in enumerate(counts):
            assert merge.firsts[chunk] == len(known)
            for at in range(count):
                row = tuple(rows[chunk].packed[at].tolist())
                if row not in known:
                    number = known[row] = len(known)
                    assert visited.parent(number) == 100 * chunk + rows[chunk].parent[at]
                    assert visited.step(number) == rows[chunk].step[at]
    assert visited.table.size > 2 * smallest
    assert visited.filled[0] == visited.count == len(known)
    assert list(map(tuple, visited.states.tolist())) == list(known)
    assert np.array_equal(visited.find(visited.states), np.arange(len(known)))


def test_an_error_of_a_worker_is_not_lost() -> None:
    def job(number: int) -> None:
        if number == 3:
            raise ValueError("number 3")

    pool = WorkerPool(2)
    with pytest.raises(ValueError, match="number 3"):
        pool.each(8, job)
    done: list[int] = []
    pool.each(8, done.append)
    assert sorted(done) == list(range(8))
    with pytest.raises(ValueError, match="at least 1"):
        WorkerPool(0)


def test_a_state_takes_less_than_24_bytes() -> None:
    """Table, state and parent, at every size of a table of some size: words of 8, links of 4, slots."""
    visited = Visited(1, steps=3, capacity=7_000_000, pool=WorkerPool(2))
    worst = 0.0
    step = 500_000
    for first in range(0, 7_000_000, step):
        rows = np.arange(first, first + step, dtype=np.uint64).reshape(-1, 1)
        visited.absorb(rows, np.zeros(step, np.int64), np.zeros(step, np.int32), count=step, base=0)
        if visited.table.size > 1 << 20:
            worst = max(worst, visited.bytes_per_state)
    assert 20 < worst <= 24.0
