"""The interleavings of one program on Spark: two local cores against one process, and on a standalone cluster
of this machine two executors against one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tidemark.bench.measure import Measure, Plan
from tidemark.bench.process import in_fresh_process
from tidemark.bench.row import Goal, Row
from tidemark.bench.sample import Side, seconds, value
from tidemark.bench.work.interleave import executions
from tidemark.bench.work.interleave_spark import spread, spread_on_cluster

NAME = "interleave-spark"
MASTER = "local[2]"
ALONE, TOGETHER = "one process", f"Spark, {MASTER}"
ONE, TWO = "one executor", "two executors"
AGAINST_ALONE = Goal(at_least=1.7)
AGAINST_ONE = Goal(at_least=1.7)
OVERHEAD = Goal(at_most=10, unit="%")
LARGE: dict[str, Any] = {
    "program": "tidemark.bench.programs:row_flush_and_tick",
    "arguments": {},
    "reduction": "none",
}
SMALL: dict[str, Any] = {
    "program": "tidemark.bench.programs:row_and_flush",
    "arguments": {},
    "reduction": "none",
}


def run(plan: Plan) -> Iterator[Row]:
    """The same executions and the same final states, or it is an error."""
    case = SMALL if plan.quick else LARGE
    spark = {**case, "parts": 8 if plan.quick else 64}
    sides = [
        Side(ALONE, partial(in_fresh_process, executions, **case)),
        Side(TOGETHER, partial(in_fresh_process, spread, family=True, master=MASTER, **spark)),
        Side(ONE, partial(in_fresh_process, spread_on_cluster, family=True, workers=1, **spark)),
        Side(TWO, partial(in_fresh_process, spread_on_cluster, family=True, workers=2, **spark)),
    ]
    size = "one row, one flush" + ("" if plan.quick else ", one more tick")
    series = plan.series(sides, measure=NAME, size=size)
    yield series.row(ALONE, f"{ALONE}: executions a second", value("rate"), unit="/s")
    yield series.row(TOGETHER, f"{TOGETHER}: executions a second", value("rate"), unit="/s")
    yield series.row(
        TOGETHER,
        f"{TOGETHER}: time",
        seconds,
        unit="s",
        against=ALONE,
        inverse=True,
        goal=AGAINST_ALONE,
        note="the session runs already; memory of all its processes",
    )
    yield series.row(
        TOGETHER,
        "cores that do not search",
        value("overhead"),
        unit="%",
        goal=OVERHEAD,
        note="1 - (time of all tasks) / (time x cores): Spark's own share, and waiting for the last task",
    )
    yield series.row(TOGETHER, "rounds", value("rounds"), unit="")
    note = "a standalone cluster, every process on this machine; executors of one core, which are warm"
    yield series.row(ONE, f"{ONE}: time", seconds, unit="s", note=note)
    yield series.row(
        TWO, f"{TWO}: time", seconds, unit="s", against=ONE, inverse=True, goal=AGAINST_ONE, note=note
    )


MEASURE = Measure(
    NAME, "Interleavings on Spark: two local cores against one process, two executors against one.", run
)
