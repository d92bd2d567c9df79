"""Wakeup trees run one execution of each trace, as sleep sets do; known numbers of them."""

import pytest

from tests.checks.interleave.programs import shared
from tests.checks.interleave.random_programs import anything, faulty, memory
from tests.checks.interleave.test_subtrees import in_rounds
from tidemark.checks.interleave import ExecutionLimits, Options, Reduction, Status, explore
from tidemark.checks.interleave.result import Exploration
from tidemark.checks.interleave.trees.wakeup import EVERYTHING, Branch, begins_with, insert, prune
from tidemark.models.simulation import Footprint, ProgramRef

PROGRAMS = "tests.checks.interleave.programs:"
SLEEP = Options(classes=True)
OPTIMAL = Options(reduction=Reduction.OPTIMAL, classes=True)

NAMES = {"sleep sets": SLEEP, "wakeup trees": OPTIMAL}

ANYTHING = [
    2, 3, 4, 6, 7, 9, 12, 13, 16, 18, 21, 22, 23, 26, 27, 28, 31, 33, 36, 37, 38, 43, 50, 51, 52, 55,
    66, 76, 84, 93, 161, 205,
]  # fmt: skip
"""Seeds of programs with at least four traces and at most 120 executions by sleep sets."""

MEMORY = [2, 5, 8, 16, 40, 50, 52, 68, 73, 84, 109, 135, 245, 291]
"""Seeds of programs in which steps touch what values say. Most of them show classes that are missed when what
a step touches is taken to be what it touched elsewhere."""

CLASSES = [
    ("ainc", 5, 120), ("readers", 8, 256), ("casrot", 4, 14), ("casrot", 5, 43), ("casrot", 6, 144),
    ("lastzero", 3, 12), ("lastzero", 4, 28), ("lastzero", 5, 64), ("lastzero", 6, 144),
    ("binc", 2, 4), ("binc", 3, 36), ("indexer", 11, 1), ("indexer", 12, 8),
]  # fmt: skip


def assert_same(found: Exploration, sleep: Exploration) -> None:
    assert found.classes == sleep.classes
    assert found.finals == sleep.finals
    assert {v.identity for v in found.violations} == {v.identity for v in sleep.violations}
    assert found.statistics.executions == sleep.statistics.executions == len(found.classes)
    assert found.statistics.blocked <= sleep.statistics.blocked


@pytest.mark.parametrize(
    ("kind", "size", "classes", "name"),
    [
        (*row, name)
        for row in CLASSES
        for name in NAMES
        if row[0] != "indexer" or name != "sleep sets"  # which give up far too many there
    ],
)
def test_known_counts(kind, size, classes, name):
    """What the last of four swaps (casrot) touches depends on who came before: one that fails is a read."""
    result = explore(shared(kind, size), NAMES[name])
    assert result.status is Status.EXHAUSTED
    assert result.statistics.executions == len(result.classes) == classes
    assert "no faults" in result.bounds
    assert name in result.bounds
    assert name != "wakeup trees" or result.statistics.blocked == 0


@pytest.mark.parametrize(
    ("kind", "size", "classes"), [("casrot", 7, 523), ("lastzero", 8, 704), ("binc", 4, 576)]
)
def test_wakeup_trees_begin_nothing_in_vain(kind, size, classes):
    statistics = explore(shared(kind, size), OPTIMAL).statistics
    assert (statistics.executions, statistics.blocked) == (classes, 0)


@pytest.mark.parametrize("seed", ANYTHING)
def test_random_programs_have_the_same_traces_as_by_sleep_sets(seed):
    program = anything(seed)
    assert_same(explore(program, OPTIMAL), explore(program, SLEEP))


@pytest.mark.parametrize("seed", MEMORY)
def test_steps_may_touch_what_values_say(seed):
    program = memory(seed)
    assert_same(explore(program, OPTIMAL), explore(program, SLEEP))


FAULTY = [2, 3, 5, 11, 22, 43, 50, 64, 84, 91, 93, 169, 523]
"""Seeds of programs with faults and more than one trace. In the last two of them one-way messages are under
way when their sender crashes."""


@pytest.mark.parametrize("seed", FAULTY)
def test_random_faults_have_the_same_traces_as_by_sleep_sets(seed):
    sleep = explore(faulty(seed), SLEEP)
    assert len(sleep.classes) > 1
    assert_same(explore(faulty(seed), OPTIMAL), sleep)


def test_wakeup_trees_begin_little_in_vain_where_faults_exclude_one_another():
    blocked = {
        name: sum(explore(faulty(seed), options).statistics.blocked for seed in FAULTY)
        for name, options in (("sleep", SLEEP), ("optimal", OPTIMAL))
    }
    assert blocked["optimal"] < blocked["sleep"]


@pytest.mark.parametrize("arguments", [{"crashes": 1}, {"crashes": 2}, {"duplicates": 1, "delays": 1}])
def test_faults_are_tried_wherever_sleep_sets_try_them(arguments):
    program = ProgramRef.of(f"{PROGRAMS}calls", repeats=True, **arguments)
    assert explore(program, OPTIMAL).classes == explore(program, SLEEP).classes


@pytest.mark.parametrize("order", ["fifo", "asyncio", "relaxed"])
def test_finer_steps_are_reduced_as_well(order):
    program = ProgramRef.of(f"{PROGRAMS}calls", repeats=True, drops=1, order=order)
    assert_same(explore(program, OPTIMAL), explore(program, SLEEP))


@pytest.mark.parametrize(("parts", "budget"), [(1, 1), (5, 3), (20, 10)])
def test_parts_put_together_have_all_traces(parts, budget):
    program = shared("lastzero", 4)
    whole = in_rounds(program, parts=parts, budget=budget, options=OPTIMAL)
    assert len(whole.classes) == whole.statistics.executions == 28
    assert whole.finals == explore(program, SLEEP).finals


@pytest.mark.parametrize("seed", [16, 22, 38, 55])
def test_parts_of_random_programs_have_all_traces(seed):
    program = anything(seed)
    whole = in_rounds(program, parts=4, budget=3, options=OPTIMAL)
    assert whole.classes == explore(program, SLEEP).classes
    assert len(whole.classes) == whole.statistics.executions


RAW = [("ainc", 4, 24), ("readers", 4, 120), ("casrot", 5, 120), ("lastzero", 3, 920), ("lost_update", 2, 6)]


@pytest.mark.parametrize(("kind", "size", "raw"), RAW)
def test_without_reduction_every_interleaving_runs_and_nothing_else_is_found(kind, size, raw):
    full = explore(shared(kind, size), Options(reduction=Reduction.NONE, classes=True))
    reduced = explore(shared(kind, size), Options(classes=True))
    assert full.statistics.executions == raw
    assert full.statistics.blocked == 0
    assert full.finals == reduced.finals
    assert full.classes == reduced.classes
    assert full.status is reduced.status is Status.EXHAUSTED


def test_without_reduction_there_are_as_many_interleavings_as_combinatorics_says():
    """Four processes of two steps each: 8! / 2!^4. The 44,300 of lastzero 4 are counted by `make bench`."""
    options = Options(reduction=Reduction.NONE, check_every=0)
    assert explore(shared("lost_update", 4), options).statistics.executions == 2_520


def test_a_limit_is_never_a_pass():
    for limits in (ExecutionLimits(executions=3), ExecutionLimits(seconds=1e-9), ExecutionLimits(steps=2)):
        result = explore(shared("lastzero", 3), Options(limits=limits))
        assert result.status is Status.INCONCLUSIVE
        assert result.reason


X, Y, Z = Footprint(0, 1), Footprint(0, 2), Footprint(0, 4)
"""Steps that write one cell each, and so are independent of each other."""
READ_X = Footprint(1, 0)


def shape(branches: list[Branch]) -> dict[str, object]:
    return {branch.label: shape(branch.children) for branch in branches}


def tree(*words: tuple[tuple[str, Footprint], ...]) -> list[Branch]:
    branches: list[Branch] = []
    for word in words:
        insert(branches, word)
    return branches


def test_an_event_of_which_nothing_is_known_covers_only_words_that_hold_it():
    branches = [Branch("a", EVERYTHING)]
    insert(branches, (("a", X), ("b", X)))
    insert(branches, (("c", Y),))
    assert shape(branches) == {"a": {}, "c": {}}
    assert list(branches[0].covered) == [(("a", X), ("b", X))]
    assert branches[0].forced


def test_a_sleeping_event_that_excludes_others_covers_only_words_that_hold_it():
    word = (("a", X), ("b", X))
    assert begins_with({"a": X}, word, {"a": {"c"}})
    assert not begins_with({"z": Z}, word, {"z": {"c"}})


def test_a_dropped_leaf_gives_back_what_it_covered():
    branches = tree((("a", X), ("b", Y)), (("a", X), ("b", Y), ("c", Y)), (("d", X),))
    assert shape(branches) == {"a": {"b": {}}, "d": {}}
    assert list(prune(branches, {"s": Z}, {})) == [(("a", X), ("b", Y), ("c", Y))]
    assert branches == []


def test_pruning_keeps_what_must_be_tried_and_what_nothing_covers():
    branches = [Branch("a", EVERYTHING), *tree((("b", X),))]
    assert list(prune(branches, {"s": READ_X}, {})) == []
    assert shape(branches) == {"a": {}, "b": {}}
    assert list(prune(branches, {"s": Z}, {"s": {"c"}})) == []
    assert shape(branches) == {"a": {}, "b": {}}
