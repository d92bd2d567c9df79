"""How much of a search tree is left, on trees whose size is known, whole or in parts."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.checks.interleave.programs import shared
from tidemark.checks.interleave import (
    DepthFirst,
    ExecutionLimits,
    Exploration,
    Optimal,
    Options,
    Reduction,
    explore,
    explore_subtree,
)
from tidemark.checks.interleave.executions.run import Runner
from tidemark.checks.interleave.judge import interleave
from tidemark.checks.interleave.search_loop import quiet
from tidemark.checks.interleave.searches import split
from tidemark.checks.interleave.spark import Forecast, Round, Searched, deal
from tidemark.checks.interleave.trees.tree import Estimator, Growth
from tidemark.checks.interleave.trees.work import WorkItem
from tidemark.models.manifest import Expectation, Expected, InterleaveEntry
from tidemark.models.simulation import Interner, ProgramRef

PROGRAMS = "tests.checks.interleave.programs:"


def estimates(program: ProgramRef, make: Callable[[Interner], DepthFirst]) -> list[float]:
    """The estimated size of the whole after each execution, as a multiple of the true one."""
    interner = Interner()
    strategy = make(interner)
    runner = Runner(program.load(), strategy, interner=interner, steps=200)
    sizes: list[float] = []
    with quiet():
        while strategy.new_execution():
            runner.run()
            sizes.append(len(sizes) + 1 + strategy.left())
    return [size / len(sizes) for size in sizes]


def test_a_regular_tree_is_known_from_its_first_leaf():
    """Six increments of one cell: 6! leaves, and every child of a node is like the first one."""
    sizes = estimates(shared("ainc", 6), DepthFirst)
    assert len(sizes) == 720
    assert sizes == pytest.approx([1.0] * 720)


@pytest.mark.parametrize(
    ("program", "search"),
    [
        (shared("lastzero", 3), partial(DepthFirst, reduction=False)),
        (shared("lastzero", 6), DepthFirst),
        (shared("lost_update", 4), DepthFirst),
        (shared("lastzero", 6), Optimal),
        (ProgramRef.of(f"{PROGRAMS}calls", repeats=True, crashes=2, lost_replies=1), Optimal),
    ],
    ids=["raw", "sleep-sets", "lost-update", "optimal", "faults"],
)
def test_half_way_the_estimate_is_right_within_a_factor_of_two(program, search):
    sizes = estimates(program, search)
    assert len(sizes) > 100
    assert all(0.5 < size < 2 for size in sizes[len(sizes) // 2 :])


def test_it_is_never_less_than_what_is_done_and_what_is_planned():
    estimator = Estimator()
    assert estimator.left([]) == 0
    assert estimator.left([Growth(enabled=5, finished=[], planned=4, possible=4)]) == 4
    estimator.learn(5, [10, 1, 0, 0, 0])
    assert estimator.left([Growth(enabled=5, finished=[], planned=4, possible=4)]) == 4
    assert estimator.left([Growth(enabled=5, finished=[], planned=0, possible=4)]) == pytest.approx(0.1)


def test_a_search_that_was_cut_says_how_far_it_came():
    half = explore(shared("ainc", 6), Options(limits=ExecutionLimits(executions=360)))
    assert half.left == pytest.approx(360)
    assert half.forecast() == "about 50% done, an estimate"
    whole = explore(shared("ainc", 4))
    assert (whole.left, whole.forecast()) == (0, "")


def test_nothing_is_said_where_states_are_merged():
    program = ProgramRef.of("tests.models.simulation.test_asyncio_traps:DeclaredHiddenState")
    merged = explore(program, Options(reduction=Reduction.STATES, limits=ExecutionLimits(executions=5)))
    assert merged.remaining
    assert merged.forecast() == ""


def test_parts_add_up():
    done, parts = split(shared("ainc", 5), 6, options=Options(reduction=Reduction.NONE))
    assert len(parts) >= 6
    assert done.left == 0
    left = [
        explore(
            shared("ainc", 5),
            Options(reduction=Reduction.NONE, limits=ExecutionLimits(executions=1)),
            item=part,
        ).left
        for part in parts
    ]
    assert done.done + len(parts) + sum(left) == pytest.approx(120)


def test_the_progress_line_says_that_it_is_an_estimate(monkeypatch):
    monkeypatch.setattr("tidemark.checks.interleave.limits.TELLING", 0.0)
    entry = InterleaveEntry(
        name="x",
        program="tidemark.checks.crosscheck.peers.shared_memory:shared",
        constants={"kind": "ainc", "size": 4},
        claims=("execution",),
        expect=Expectation(every=Expected.HOLDS),
    )
    told: list[tuple[int, str]] = []
    found: Exploration = interleave(
        entry, progress=lambda done, *, total=None, unit="", note="": told.append((done, note))
    )
    assert found.statistics.executions == 24
    assert (12, "about 50% done, an estimate") in told


def test_nothing_is_known_before_anything_was_searched():
    assert Forecast().of([3, 4]) is None
    assert Forecast().of([]) == 0


def test_sizes_are_means_by_depth_and_powers_in_between():
    forecast = Forecast()
    forecast.learn([Searched(2, 80), Searched(2, 120), Searched(6, 1)])
    assert forecast.of([2]) == 100
    assert forecast.of([6, 6]) == 2
    assert forecast.of([4]) == 10 or abs((forecast.of([4]) or 0) - 10) < 1e-9
    assert forecast.of([1]) == 100, "above the highest known root it is a lower bound"


def test_an_unfinished_part_counts_with_what_is_left_of_it():
    forecast = Forecast()
    forecast.learn([Searched(1, 50, left=(5, 5)), Searched(5, 10)])
    assert forecast.of([1]) == 70


def test_the_forecast_is_of_the_right_size_when_a_third_is_done():
    """A known tree of 920 executions, cut into parts of which every third is searched."""
    options = Options(reduction=Reduction.NONE, audit=0, check_every=0)
    small = ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind="lastzero", size=3)
    whole = explore(small, options).statistics.executions
    done, items = split(small, 60, options=options)
    forecast, searched = Forecast(), set(items[::3])
    spent = done.statistics.executions
    for item in searched:
        part = explore_subtree(small, item, budget=10_000, options=options)
        spent += part.done
        forecast.learn([Searched(len(item.picks), part.done)])
    left = forecast.of([len(item.picks) for item in items if item not in searched])
    assert left is not None
    assert (whole - spent) / 2 < left < (whole - spent) * 2


def test_hands_are_dealt_with_the_large_parts_apart():
    items = [WorkItem((0,) * depth, ()) for depth in (5, 1, 3, 2, 4)]
    hands = deal(items, 2)
    assert [[len(item.picks) for item in hand] for hand in hands] == [[1, 3, 5], [2, 4]]
    assert deal(items[:1], 4) == [[items[0]]]


def test_the_overhead_is_what_the_cores_did_not_search():
    done = Round(number=3, left=2, forecast=41.0, workers=2, wall=10.0, busy=19.0)
    assert abs(done.overhead - 0.05) < 1e-9
    assert done.text() == "round 3, 2 parts left with about 41 executions"
