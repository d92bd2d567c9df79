"""Executions of asyncio programs in every order of their steps, with and without reductions."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import Clock, Sample, Side, seconds, value
from tidemark.bench.series import Goal, Measure, Plan, Row


def executions(
    *, program: str, arguments: dict[str, Any], reduction: str, expected: int | None = None
) -> Sample:
    """All interleavings, with a reduction by name. What must not differ are the outcomes.

    Raises RuntimeError: the search was cut, or the number of executions is not the ``expected`` one.
    """
    from tidemark.checks.interleave import Options, Reduction, Status, explore
    from tidemark.models.simulation import ProgramRef

    clock = Clock()
    found = explore(ProgramRef.of(program, **arguments), Options(reduction=Reduction(reduction)))
    seconds, cpu_seconds = clock.seconds, clock.cpu_seconds
    if found.status is not Status.EXHAUSTED:
        raise RuntimeError(f"{program} {arguments} by {reduction}: {found.status}: {found.reason}")
    counters = found.statistics
    if expected is not None and counters.executions != expected:
        raise RuntimeError(f"{program} {arguments}: {counters.executions} executions, expected {expected}")
    return Sample(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        counts={"final_states": len(found.finals), f"executions by {reduction}": counters.executions},
        texts={"digest of the final states": found.finals_digest()},
        values={
            "executions": counters.executions,
            "given_up": counters.blocked + counters.merged,
            "rate": found.rate,
        },
    )


def classes(*, programs: list[tuple[str, str, int]], factory: str, reduction: str) -> Sample:
    """Programs (name, kind, size) by one reduction. Each complete execution must be a class of its own.

    Raises RuntimeError: a search was cut, or a class was run twice.
    """
    from tidemark.checks.interleave import Options, Reduction, Status, explore
    from tidemark.models.simulation import ProgramRef

    clock = Clock()
    counts: dict[str, int] = {}
    values: dict[str, float] = {}
    for name, kind, size in programs:
        options = Options(reduction=Reduction(reduction), classes=True)
        found = explore(ProgramRef.of(factory, kind=kind, size=size), options)
        if found.status is not Status.EXHAUSTED:
            raise RuntimeError(f"{name} by {reduction}: {found.status}: {found.reason}")
        if found.statistics.executions != len(found.classes):
            raise RuntimeError(f"{name} by {reduction}: a class was run twice")
        counts[f"classes of {name}"] = len(found.classes)
        values[f"given up of {name}"] = found.statistics.blocked
    return Sample(seconds=clock.seconds, cpu_seconds=clock.cpu_seconds, counts=counts, values=values)


async def two_tasks() -> int:
    """Return the value after two increments, one of which is lost in asyncio's own order."""
    cell = {"x": 0}

    async def increment() -> None:
        value = cell["x"]
        await asyncio.sleep(0)
        cell["x"] = value + 1

    await asyncio.gather(increment(), increment())
    return cell["x"]


def by_asyncio(*, runs: int) -> Sample:
    """One event loop after the other."""
    clock = Clock()
    outcomes = {asyncio.run(two_tasks()) for _ in range(runs)}
    return _sample(clock, outcomes, runs)


def by_control(*, runs: int) -> Sample:
    """One execution after the other, in asyncio's own order."""
    from tidemark.checks.interleave import Options, RandomWalk, explore_coroutine

    clock = Clock()
    walk = RandomWalk(seed=1, executions=runs)
    found = explore_coroutine(two_tasks, strategy=walk, options=Options(check_every=0))
    return _sample(clock, found.finals, found.statistics.executions)


def _sample(clock: Clock, outcomes: set[int] | set[object], runs: int) -> Sample:
    seconds, cpu_seconds = clock.seconds, clock.cpu_seconds
    return Sample(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        counts={"executions": runs},
        texts={"outcomes": str(sorted(map(str, outcomes)))},
        values={"rate": runs / cpu_seconds},
    )


NAME = "interleave"
PLAIN, CONTROLLED = "asyncio.run", "controlled loop"
AGAINST_PLAIN = Goal(at_least=3)
NONE, SLEEP, OPTIMAL, STATES = "none", "sleep-sets", "optimal", "states"
_WORDS = {
    NONE: "no reduction",
    SLEEP: "sleep sets",
    OPTIMAL: "wakeup trees",
    STATES: "equal declared states merged",
}


@dataclass(frozen=True)
class Case:
    """A program, and the reductions that it allows. ``factory`` is ``module:function``.

    ``interleavings`` is how many there are, where that is known; any other number is an error.
    """

    name: str
    factory: str
    reductions: tuple[str, ...]
    arguments: dict[str, Any] = field(default_factory=dict)
    interleavings: int | None = None


_SHARED = "tidemark.checks.crosscheck.peers.shared_memory:shared"
FLUSH = Case("one row, one flush", "tidemark.bench.programs:row_and_flush", (NONE, SLEEP, OPTIMAL, STATES))
SMALL = Case("lastzero 3", _SHARED, (NONE, SLEEP, OPTIMAL), {"kind": "lastzero", "size": 3}, 920)
LARGE = Case("lastzero 4", _SHARED, (NONE, SLEEP, OPTIMAL), {"kind": "lastzero", "size": 4}, 44_300)


@dataclass(frozen=True)
class Known:
    """A program whose number of classes is known, and that of its interleavings (counted by formula or by
    brute force where running them all takes too long; None: unknown).

    Independent processes are what sleep sets alone are bad at: ``reductions`` leaves them out there.
    """

    kind: str
    size: int
    classes: int
    interleavings: int | None
    reductions: tuple[str, ...] = (SLEEP, OPTIMAL)

    @property
    def name(self) -> str:
        """For a table."""
        return f"{self.kind} {self.size}"


KNOWN = (
    Known("readers", 8, 256, 362_880),
    Known("ainc", 6, 720, 720),
    Known("casrot", 6, 144, 720),
    Known("lastzero", 6, 144, 416_108_000),
    Known("lastzero", 8, 704, None, reductions=(OPTIMAL,)),
    Known("binc", 4, 576, 2_520),
    Known("indexer", 12, 8, None, reductions=(OPTIMAL,)),
)
_FEW = 3
"""Programs of a quick run."""


def run(plan: Plan) -> Iterator[Row]:
    """The rate; then every program by every reduction: the same final states, the known classes."""
    yield from _tiny(plan)
    yield from _known(plan)
    for case in (SMALL, FLUSH) if plan.quick else (LARGE, FLUSH):
        yield from _case(plan, case)


def _tiny(plan: Plan) -> list[Row]:
    """How much the control of the loop costs, against a plain loop for each run."""
    runs = 300 if plan.quick else 3_000
    sides = [
        Side(PLAIN, partial(in_fresh_process, by_asyncio, runs=runs)),
        Side(CONTROLLED, partial(in_fresh_process, by_control, runs=runs)),
    ]
    series = plan.series(sides, measure=NAME, size="two tasks, one wait each")
    what = "executions a second of processor time"
    return [
        series.row(PLAIN, f"{PLAIN}: {what}", value("rate"), unit="/s"),
        series.row(
            CONTROLLED, f"{CONTROLLED}: {what}", value("rate"), unit="/s", against=PLAIN, goal=AGAINST_PLAIN
        ),
    ]


def _known(plan: Plan) -> list[Row]:
    """How many executions are begun and not needed, where the number of those that are needed is known."""
    programs = KNOWN[:_FEW] if plan.quick else KNOWN
    sides = [_known_side(reduction, programs) for reduction in (SLEEP, OPTIMAL)]
    series = plan.series(sides, measure=NAME, size="programs with known classes")
    rows = []
    for program in programs:
        many = f"{program.interleavings:,}" if program.interleavings else "unknown"
        for words in (_WORDS[reduction] for reduction in program.reductions):
            what = f"{program.name}, {words}: given up beside {program.classes:,} executions"
            number = value(f"given up of {program.name}")
            rows.append(series.row(words, what, number, unit="", note=f"interleavings: {many}"))
    return rows


def _known_side(reduction: str, known: Sequence[Known]) -> Side:
    mine = [program for program in known if reduction in program.reductions]
    programs = [(program.name, program.kind, program.size) for program in mine]
    return Side(
        _WORDS[reduction],
        partial(in_fresh_process, classes, programs=programs, factory=_SHARED, reduction=reduction),
        subject=reduction,
        expected={f"classes of {program.name}": program.classes for program in mine},
    )


def _case(plan: Plan, case: Case) -> list[Row]:
    sides = [
        Side(
            _WORDS[reduction],
            partial(
                in_fresh_process,
                executions,
                program=case.factory,
                arguments=case.arguments,
                reduction=reduction,
                expected=case.interleavings if reduction == NONE else None,
            ),
        )
        for reduction in case.reductions
    ]
    series = plan.series(sides, measure=NAME, size=case.name)
    rows = []
    for words in (_WORDS[reduction] for reduction in case.reductions):
        against = "" if words == _WORDS[NONE] else _WORDS[NONE]
        rows += [
            series.row(
                words, f"{words}: executions", value("executions"), unit="", against=against, inverse=True
            ),
            series.row(words, f"{words}: given up", value("given_up"), unit=""),
            series.row(words, f"{words}: executions a second", value("rate"), unit="/s"),
            series.row(words, f"{words}: time", seconds, unit="s", against=against, inverse=True),
        ]
    return rows


MEASURE = Measure(NAME, "Executions with and without reduction, with equal final states.", run)
