"""Executions of asyncio programs in every order of their steps, with and without reductions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bench.measure import Measure, Plan
from bench.process import in_fresh_process
from bench.row import Row
from bench.sample import Side, seconds, value
from bench.work.interleave import executions

NAME = "interleave"
NONE, SLEEP, SOURCE, STATES = "none", "sleep-sets", "source-sets", "states"
_WORDS = {
    NONE: "no reduction",
    SLEEP: "sleep sets",
    SOURCE: "source sets",
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


_SHARED = "tests.checks.interleave.programs:shared"
FLUSH = Case("one row, one flush", "bench.programs:row_and_flush", (NONE, SLEEP, SOURCE, STATES))
SMALL = Case("lastzero 3", _SHARED, (NONE, SLEEP, SOURCE), {"kind": "lastzero", "size": 3}, 920)
LARGE = Case("lastzero 4", _SHARED, (NONE, SLEEP, SOURCE), {"kind": "lastzero", "size": 4}, 44_300)


def run(plan: Plan) -> Iterator[Row]:
    """Every program by every reduction: the same final states."""
    for case in (SMALL, FLUSH) if plan.quick else (LARGE, FLUSH):
        yield from _case(plan, case)


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
