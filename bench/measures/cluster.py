"""A standalone cluster on this machine: two executors against one, and what a killed executor costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tidemark.bench.instances import subject
from tidemark.bench.measure import NOT_QUICK, Measure, Plan, left_out
from tidemark.bench.measures.search import STATES
from tidemark.bench.process import in_fresh_process
from tidemark.bench.row import Row
from tidemark.bench.sample import Side, rate, value
from tidemark.bench.work.cluster import on_cluster

NAME = "cluster"
REFERENCE = "flush/million"
HANDOVER = 20_000
ONE, TWO = "one executor", "two executors"


def run(plan: Plan) -> Iterator[Row]:
    """The same search with one and with two executors of one core each."""
    if plan.quick:
        yield left_out(NAME, "all", NOT_QUICK)
        return
    found = subject(REFERENCE)
    series = plan.series([_side(ONE, 1), _side(TWO, 2)], measure=NAME, size=found.size)
    note = "every process on one machine; the executors are warm"
    yield from (
        series.row(ONE, ONE, rate("distinct"), unit=STATES, note=note),
        series.row(TWO, TWO, rate("distinct"), unit=STATES, against=ONE, note=note),
        series.row(
            TWO, "a killed executor", value("recovery_seconds"), unit="s",
            note="what a search takes longer in which one executor of two is killed; equal levels",
        ),
    )  # fmt: skip


def _side(name: str, workers: int) -> Side:
    found = subject(REFERENCE)
    work = partial(
        in_fresh_process,
        on_cluster,
        family=True,
        reference=REFERENCE,
        workers=workers,
        handover=HANDOVER,
        kill=workers > 1,
    )
    expected = {count: found.expected[count] for count in ("distinct", "depth")}
    return replace(Side(name, work, subject=REFERENCE), expected=expected)


MEASURE = Measure(NAME, "A standalone cluster: two executors against one, and a killed executor.", run)
