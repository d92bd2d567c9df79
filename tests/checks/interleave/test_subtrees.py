"""Parts of the tree put together are the whole tree, however it is cut."""

import pickle

import pytest

from tidemark.checks.interleave import (
    ExecutionLimits,
    Exploration,
    Options,
    Reduction,
    Status,
    WorkItem,
    explore,
    explore_subtree,
    split,
)
from tidemark.checks.interleave.result import merge
from tidemark.models.simulation import ProgramRef

PROGRAMS = "tests.checks.interleave.programs:"
SUBJECTS = [
    ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind="lastzero", size=4),
    ProgramRef.of(f"{PROGRAMS}no_lost_update", size=3),
    ProgramRef.of(f"{PROGRAMS}calls", crashes=1, lost_replies=1, drops=1, repeats=True),
]


def facts(result: Exploration) -> tuple[object, ...]:
    counts = result.statistics.counts()
    del counts["checked_again"], counts["audited"], counts["commuting"]
    found = {violation: example.picks for violation, example in result.violations.items()}
    return (counts, result.finals, result.classes, found)


def in_rounds(program: ProgramRef, *, parts: int, budget: int, options: Options) -> Exploration:
    done, items = split(program, parts, options=options)
    results = [done]
    while items:
        item = pickle.loads(pickle.dumps(items.pop()))
        result = explore_subtree(program, item, budget=budget, options=options)
        items += result.remaining
        result.remaining = ()
        results.append(result)
    return merge(reversed(results), bounds="")


@pytest.mark.parametrize("program", SUBJECTS, ids=lambda program: program.text())
@pytest.mark.parametrize(("parts", "budget"), [(1, 1), (5, 3), (20, 10)])
@pytest.mark.parametrize("reduction", [Reduction.SLEEP_SETS, Reduction.NONE])
def test_parts_are_the_whole(program, parts, budget, reduction):
    if reduction is Reduction.NONE and "lastzero" in program.text():
        program = ProgramRef.of(
            "tidemark.checks.crosscheck.peers.shared_memory:shared", kind="lastzero", size=3
        )
    options = Options(reduction=reduction, classes=True)
    whole = explore(program, options)
    assert whole.status is not Status.INCONCLUSIVE
    assert facts(in_rounds(program, parts=parts, budget=budget, options=options)) == facts(whole)


def test_split_gives_as_many_parts_as_there_are():
    done, items = split(SUBJECTS[0], 12)
    assert len(items) >= 12
    assert len(set(items)) == len(items)
    assert done.statistics.executions + done.statistics.blocked > 0


def test_what_a_limit_leaves_is_the_rest():
    whole = explore(SUBJECTS[0], Options(classes=True))
    first = explore(SUBJECTS[0], Options(classes=True, limits=ExecutionLimits(executions=30)))
    assert first.status is Status.INCONCLUSIVE
    rest = [explore(SUBJECTS[0], Options(classes=True), item=item) for item in first.remaining]
    assert sum(part.statistics.executions for part in [first, *rest]) == whole.statistics.executions
    assert set().union(*(part.classes for part in [first, *rest])) == whole.classes


def test_a_work_item_is_plain_data():
    _, items = split(SUBJECTS[0], 5)
    assert all(isinstance(item, WorkItem) for item in items)
    assert pickle.loads(pickle.dumps(items)) == items
