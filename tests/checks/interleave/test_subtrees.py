"""Parts of the tree put together are the whole tree, however it is cut and whoever searches the parts."""

import pickle
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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
from tidemark.checks.interleave.spark import Done, Spread, TaskError, Work, deal, explore_on_spark
from tidemark.checks.interleave.trees.work import WHOLE
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.simulation import Process, Program, ProgramRef, World

PROGRAMS = "tests.checks.interleave.programs:"
SUBJECT = ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind="lastzero", size=4)


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


def test_split_gives_as_many_parts_as_there_are():
    done, items = split(SUBJECT, 12)
    assert len(items) >= 12
    assert len(set(items)) == len(items)
    assert done.statistics.executions + done.statistics.blocked > 0


def test_what_a_limit_leaves_is_the_rest():
    whole = explore(SUBJECT, Options(classes=True))
    first = explore(SUBJECT, Options(classes=True, limits=ExecutionLimits(executions=30)))
    assert first.status is Status.INCONCLUSIVE
    rest = [explore(SUBJECT, Options(classes=True), item=item) for item in first.remaining]
    assert sum(part.statistics.executions for part in [first, *rest]) == whole.statistics.executions
    assert set().union(*(part.classes for part in [first, *rest])) == whole.classes


def test_a_work_item_is_plain_data():
    _, items = split(SUBJECT, 5)
    assert all(isinstance(item, WorkItem) for item in items)
    assert pickle.loads(pickle.dumps(items)) == items


FLUSH = "tidemark.models.protocols.flush.program:flush"
LASTZERO = ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind="lastzero", size=3)
UPDATES = ProgramRef.of(f"{PROGRAMS}no_lost_update", size=3)
CALLS = ProgramRef.of(f"{PROGRAMS}calls", crashes=1, lost_replies=1, drops=1, repeats=True)
CRASH = ProgramRef.of(FLUSH, rows=(1,), crashes=1)


def in_hands(program: ProgramRef, options: Options, *, parts: int, tasks: int, budget: int) -> Exploration:
    """Rounds of tasks, whose results come back in any order."""
    chance = random.Random(tasks * 1000 + budget)
    total, items = split(program, parts, options=options)
    while items:
        work = Work(program=program, options=options, budget=budget, met=None)
        found = [work(pickle.loads(pickle.dumps(hand))) for hand in deal(items, tasks)]
        assert all(done.seconds > 0 for done in found)
        chance.shuffle(found)
        items = sorted(item for done in found for item in done.result.remaining)
        for done in found:
            done.result.remaining = ()
        total = merge([total, *(done.result for done in found)], bounds="")
    return total


@pytest.mark.parametrize(
    ("program", "reduction"),
    [
        (LASTZERO, Reduction.NONE),
        (LASTZERO, Reduction.SLEEP_SETS),
        (UPDATES, Reduction.NONE),
        (UPDATES, Reduction.SLEEP_SETS),
        (CRASH, Reduction.SLEEP_SETS),
        (CALLS, Reduction.SLEEP_SETS),
        (CALLS, Reduction.NONE),
    ],
)
@pytest.mark.parametrize("cut", [(1, 1, 7), (12, 3, 5), (40, 8, 60), (40, 5, 10_000)])
def test_neither_tasks_nor_parts_nor_budgets_matter(program, cut, reduction):
    parts, tasks, budget = cut
    options = Options(reduction=reduction, classes=True, check_every=0)
    alone, spread = (
        explore(program, options),
        in_hands(program, options, parts=parts, tasks=tasks, budget=budget),
    )
    for found in (alone, spread):
        found.statistics.visible_steps = 0  # the way to each part is observed once more
    assert facts(spread) == facts(alone)


def test_what_is_found_is_the_same_where_the_cut_costs_executions():
    options = Options(reduction=Reduction.STATES, check_every=0)
    alone = explore(CRASH, options)
    spread = in_hands(CRASH, options, parts=12, tasks=3, budget=20)
    assert spread.finals == alone.finals
    assert spread.states == alone.states
    assert spread.covered == alone.covered
    assert spread.statistics.executions >= alone.statistics.executions


class Rounds:
    """Stands in for a session with two cores: runs a round in its thread, and ends it when ``late`` says."""

    defaultParallelism = 2  # noqa: N815 - Spark's name

    def __init__(self, late: Sequence[float]) -> None:
        self.sparkContext = self
        self.hands: list[list[list[WorkItem]]] = []
        self.at_work = self.most = 0
        self._late = late

    def parallelize(self, hands: list[list[WorkItem]], slices: int) -> "Rounds":
        assert slices == len(hands)
        self.hands.append(hands)
        return self

    def map(self, work: Work) -> "Round":
        return Round(self, work, self.hands[-1], self._late[len(self.hands) % len(self._late)])


class Round:
    """A job of such a session."""

    lock = threading.Lock()

    def __init__(self, session: Rounds, work: Work, hands: list[list[WorkItem]], late: float) -> None:
        self.session, self.work, self.hands, self.late = session, work, hands, late

    def collect(self) -> list[Done]:
        self.session.at_work += 1
        self.session.most = max(self.session.most, self.session.at_work)
        time.sleep(self.late)
        with self.lock:  # one controlled loop at a time
            found = [self.work(pickle.loads(pickle.dumps(hand))) for hand in self.hands]
        self.session.at_work -= 1
        return found


@pytest.mark.parametrize("limit", [None, 12])
@pytest.mark.parametrize("program", [LASTZERO, UPDATES])
def test_which_of_two_rounds_ends_first_decides_nothing(program, limit):
    options = Options(audit=0, limits=ExecutionLimits(executions=limit))
    spread = Spread(partitions=2, parts=4, budget=2)
    seen = []
    for late in ([0.0], [0.0, 0.02], [0.02, 0.0]):
        session: Any = Rounds(late)
        ticks: list[tuple[int, int, int]] = []
        found = explore_on_spark(
            session,
            program,
            options,
            spread=spread,
            tick=lambda done, total: ticks.append((done.number, done.left, total.done)),  # noqa: B023
        )
        seen.append((facts(found), found.status, found.remaining, ticks, session.hands))
        assert session.most == 2
    assert seen[0][:4] == seen[1][:4] == seen[2][:4]
    assert sorted(seen[0][4]) == sorted(seen[1][4]) == sorted(seen[2][4])
    alone = explore(program, replace(options, limits=ExecutionLimits()))
    if limit is not None:
        assert found.remaining
        assert limit <= found.done < alone.done
    else:
        assert len(session.hands) > 3
        assert found.status is alone.status
        assert found.statistics.executions == alone.statistics.executions
        assert found.finals == alone.finals


def test_merged_states_are_known_to_the_next_round():
    session: Any = Rounds([0.0])
    session.broadcast = Known
    options = Options(reduction=Reduction.STATES, audit=0)
    found = explore_on_spark(session, CRASH, options, spread=Spread(partitions=1, parts=2, budget=1))
    assert session.most == 1
    assert len(session.hands) > 1
    assert found.states == explore(CRASH, options).states


class Known(NamedTuple):
    value: frozenset[bytes]

    def destroy(self) -> None:
        """Nothing is held."""


class Forgetful(Program):
    """Its second execution differs from the first one: the module remembers."""

    runs = 0

    def build(self, world: World) -> None:
        type(self).runs += 1
        odd = type(self).runs % 2

        async def main(process: Process) -> None:
            await process.point("odd" if odd else "even")

        world.process("p", main)


def test_an_error_in_a_task_keeps_its_words_and_its_exit_code():
    here = ProgramRef.of("tests.checks.interleave.test_subtrees:Forgetful")
    work = Work(program=here, options=Options(), budget=10, met=None)
    done = work([WHOLE])
    assert done.trouble is not None
    error = TaskError(pickle.loads(pickle.dumps(done)).trouble)
    assert "two different executions" in str(error) or "diverges" in str(error)
    assert "remedy: " in str(error)
    assert error.exit_code in {ExitCode.INCONCLUSIVE, ExitCode.BAD_INPUT}
