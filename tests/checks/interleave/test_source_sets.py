"""Source sets run one execution of each trace, like sleep sets, and give up far fewer."""

import asyncio
import random

import pytest

from checks.interleave import Options, Reduction, Status, explore
from models.scheduled import Cell, FaultBudget, Process, Program, ProgramRef, Settings, World
from tests.checks.interleave.test_subtrees import in_rounds

PROGRAMS = "tests.checks.interleave.programs:"
SOURCE = Options(reduction=Reduction.SOURCE_SETS, classes=True)
SLEEP = Options(classes=True)

SEEDS = [
    0,
    1,
    3,
    4,
    5,
    6,
    8,
    9,
    16,
    17,
    20,
    22,
    24,
    25,
    27,
    31,
    33,
    36,
    39,
    40,
    41,
    44,
    45,
    49,
    51,
    52,
    55,
    56,
    58,
    59,
]
"""Random programs with at least four traces and at most 120 executions by sleep sets."""

CLASSES = [
    ("ainc", 5, 120), ("readers", 8, 256), ("casrot", 6, 144), ("lastzero", 5, 64), ("lastzero", 6, 144),
    ("binc", 2, 4), ("binc", 3, 36), ("indexer", 11, 1), ("indexer", 12, 8),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "size", "classes"), CLASSES)
def test_known_counts(kind, size, classes):
    result = explore(ProgramRef.of(f"{PROGRAMS}shared", kind=kind, size=size), SOURCE)
    assert result.status is Status.EXHAUSTED
    assert result.statistics.executions == len(result.classes) == classes
    assert "source sets" in result.bounds


def test_independent_processes_need_one_execution():
    """Sleep sets alone give up thousands of executions here."""
    result = explore(ProgramRef.of(f"{PROGRAMS}shared", kind="indexer", size=11), SOURCE)
    assert (result.statistics.executions, result.statistics.blocked) == (1, 0)


class Anything(Program):
    """Processes that do anything: cells, points, draws, timers, calls, crashes, lost replies, restarts."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        kinds = self._random.choice(["none", "crash", "network", "both"])
        crashes = int(kinds in ("crash", "both"))
        lost = int(kinds in ("network", "both"))
        self.settings = Settings(
            faults=FaultBudget(crashes=crashes, lost_replies=lost, drops=lost),
            crashable=frozenset({"p0"}),
            timer_firings=2,
        )
        self.log: dict[str, list[object]] = {}

    def build(self, world: World) -> None:
        self.cells = [Cell(world, name, 0) for name in "xy"]
        scripts = [
            [self._random.choice("lscupdtm") for _ in range(self._random.randint(1, 2))] for _ in range(3)
        ]
        for number, script in enumerate(scripts):
            world.process(f"p{number}", self._main(script, self._random.randrange(2)))

    def _main(self, script: list[str], which: int):
        async def main(process: Process) -> None:
            cell, log = self.cells[which], self.log.setdefault(process.name, [])

            async def serve() -> str:
                return process.name

            process.serve("who", serve)
            for what in script:
                log.append(await self._do(what, cell, process))

        return main

    async def _do(self, what: str, cell: Cell[int], process: Process) -> object:
        match what:
            case "l":
                return await cell.load()
            case "s":
                await cell.store(7)
            case "c":
                return await cell.compare_and_swap(0, 1)
            case "u":
                return await cell.update(lambda value: value + 1)
            case "p":
                await process.point("here")
            case "d":
                return await process.choose(2, "coin")
            case "t":
                await asyncio.sleep(1)
            case "m":
                try:
                    return await process.call("p1", "who")
                except (TimeoutError, ConnectionError) as error:
                    return type(error).__name__
        return None

    def final(self) -> object:
        cells = tuple(cell.value for cell in self.cells)
        return cells, tuple((name, tuple(log)) for name, log in sorted(self.log.items()))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_have_the_same_traces_as_by_sleep_sets(seed):
    program = ProgramRef.of(f"{__name__}:Anything", seed=seed)
    source, sleep = explore(program, SOURCE), explore(program, SLEEP)
    assert source.classes == sleep.classes
    assert source.finals == sleep.finals
    assert {v.identity for v in source.violations} == {v.identity for v in sleep.violations}
    assert source.statistics.executions == sleep.statistics.executions == len(source.classes)
    assert source.statistics.blocked <= sleep.statistics.blocked


@pytest.mark.parametrize("arguments", [{"crashes": 1}, {"crashes": 2}, {"duplicates": 1, "delays": 1}])
def test_faults_are_tried_wherever_sleep_sets_try_them(arguments):
    program = ProgramRef.of(f"{PROGRAMS}calls", repeats=True, **arguments)
    assert explore(program, SOURCE).classes == explore(program, SLEEP).classes


@pytest.mark.parametrize(("parts", "budget"), [(1, 1), (5, 3), (20, 10)])
def test_parts_put_together_have_all_traces(parts, budget):
    program = ProgramRef.of(f"{PROGRAMS}shared", kind="lastzero", size=4)
    whole = in_rounds(program, parts=parts, budget=budget, options=SOURCE)
    assert len(whole.classes) == whole.statistics.executions == 28
    assert whole.finals == explore(program, SLEEP).finals
