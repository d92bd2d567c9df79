"""What is found does not depend on how the tree is dealt out: the work of Spark's tasks, without Spark."""

import pickle
import random

import pytest

from tests.checks.interleave.test_subtrees import facts
from tidemark.checks.interleave import Exploration, Options, Reduction, explore, split
from tidemark.checks.interleave.result import merge
from tidemark.checks.interleave.spark import TaskError, Work, deal
from tidemark.checks.interleave.trees.work import WHOLE
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.simulation import Process, Program, ProgramRef, World

PROGRAMS = "tests.checks.interleave.programs:"
FLUSH = "tidemark.models.protocols.flush.programs:flush"
LASTZERO = ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind="lastzero", size=3)
UPDATES = ProgramRef.of(f"{PROGRAMS}no_lost_update", size=3)
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


@pytest.mark.parametrize("reduction", [Reduction.STATES, Reduction.SOURCE_SETS])
def test_what_is_found_is_the_same_where_the_cut_costs_executions(reduction):
    options = Options(reduction=reduction, check_every=0)
    alone = explore(CRASH, options)
    spread = in_hands(CRASH, options, parts=12, tasks=3, budget=20)
    assert spread.finals == alone.finals
    assert spread.states == alone.states
    assert spread.covered == alone.covered
    assert spread.statistics.executions >= alone.statistics.executions


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
    here = ProgramRef.of("tests.checks.interleave.test_hands:Forgetful")
    work = Work(program=here, options=Options(), budget=10, met=None)
    done = work([WHOLE])
    assert done.trouble is not None
    error = TaskError(pickle.loads(pickle.dumps(done)).trouble)
    assert "two different executions" in str(error) or "diverges" in str(error)
    assert "remedy: " in str(error)
    assert error.exit_code in {ExitCode.INCONCLUSIVE, ExitCode.BAD_INPUT}
