"""States a second: the plain interpreter, the compiled kernel with one and two workers, Spark."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tidemark.bench.instances import subject
from tidemark.bench.measure import NOT_QUICK, Measure, Plan, left_out
from tidemark.bench.process import in_fresh_process
from tidemark.bench.row import Goal, Row
from tidemark.bench.sample import Side, cpu_rate, rate, value
from tidemark.bench.series import Series
from tidemark.bench.work.search import interpreted, native
from tidemark.bench.work.spark import distributed

NAME = "search"
INTERPRETER, ONE, TWO, SPARK = "interpreter", "one worker", "two workers", "Spark, two cores"
STATES = "states/s"
LARGE = ("flush/million", "flush/ten-million")
TWO_CORES = Goal(at_least=1.6)
BYTES = Goal(at_most=24, unit="bytes")
MASTER = "local[2]"


def side(name: str, reference: str) -> Side:
    """A side of a comparison on an instance."""
    runs = {
        INTERPRETER: partial(in_fresh_process, interpreted, reference=reference),
        ONE: partial(in_fresh_process, native, reference=reference, workers=1),
        TWO: partial(in_fresh_process, native, reference=reference, workers=2),
        SPARK: partial(
            in_fresh_process, distributed, family=True, reference=reference, master=MASTER, handover=0
        ),
    }
    return Side(name, runs[name], subject=reference, expected=subject(reference).expected)


def run(plan: Plan) -> Iterator[Row]:
    """Compare on one small instance all of them, on large ones those that can."""
    yield from _small(plan, "flush/tiny" if plan.quick else "flush/calm")
    for reference in LARGE:
        if plan.quick:
            yield left_out(NAME, "all", NOT_QUICK, size=reference)
        else:
            yield from _large(plan, reference)


def _small(plan: Plan, reference: str) -> list[Row]:
    names = (INTERPRETER, ONE) if plan.quick else (INTERPRETER, ONE, TWO, SPARK)
    series = _series(plan, reference, names)
    rows = [
        series.row(INTERPRETER, INTERPRETER, rate("distinct"), unit=STATES),
        series.row(ONE, f"native, {ONE}", rate("distinct"), unit=STATES, against=INTERPRETER),
    ]
    if plan.quick:
        return rows
    return [
        *rows,
        series.row(TWO, f"native, {TWO}", rate("distinct"), unit=STATES, against=INTERPRETER),
        series.row(
            SPARK, f"{SPARK}, every round", rate("distinct"), unit=STATES, against=INTERPRETER,
            note="the session runs already; memory of all its processes",
        ),
    ]  # fmt: skip


def _large(plan: Plan, reference: str) -> list[Row]:
    series = _series(plan, reference, (ONE, TWO))
    return [
        series.row(ONE, f"native, {ONE}", rate("distinct"), unit=STATES),
        series.row(ONE, "the same by processor time", cpu_rate("distinct"), unit="states/cpu-s"),
        series.row(TWO, f"native, {TWO}", rate("distinct"), unit=STATES, against=ONE, goal=TWO_CORES),
        series.row(TWO, "the same by processor time", cpu_rate("distinct"), unit="states/cpu-s", against=ONE),
        bytes_row(series),
    ]


def _series(plan: Plan, reference: str, names: tuple[str, ...]) -> Series:
    sides = [side(name, reference) for name in names]
    return plan.series(sides, measure=NAME, size=subject(reference).size)


def bytes_row(series: Series) -> Row:
    """Bytes of table, state and parent; the goal speaks of states of one word."""
    samples = series.samples[ONE]
    words = int(samples[0].values["words"]) if samples else 0
    note = f"table, state, parent; {words} words a state" if words > 1 else "table, state, parent"
    goal = BYTES if words == 1 else None
    return series.row(ONE, "bytes a state", value("bytes_per_state"), unit="bytes", goal=goal, note=note)


MEASURE = Measure(NAME, "Distinct states a second, with equal counts, by each engine.", run)
