"""The compiled kernel against Spin's verifier, on the Promela exports of the same instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tidemark.bench.instances import subject
from tidemark.bench.measure import Measure, Plan
from tidemark.bench.measures.search import ONE, STATES
from tidemark.bench.measures.search import side as search_side
from tidemark.bench.row import Goal, Row
from tidemark.bench.sample import Sample, Side, cpu_rate, rate, value
from tidemark.bench.spin import Pan, rounded, with_rounded_counts

NAME = "spin"
SPIN = "Spin"
QUICK = ("peers/tso-s",)
SIZES = tuple(f"peers/{model}-{size}" for model in ("tso", "flush-cp") for size in ("s", "m", "l"))
FASTER = Goal(at_least=2)
NO_LARGER = Goal(at_least=1)


def run(plan: Plan) -> Iterator[Row]:
    """Every instance by both, in turn; no goal for size s, which takes a few hundredths of a second."""
    for reference in QUICK if plan.quick else SIZES:
        yield from _compare(plan, reference)


def _compare(plan: Plan, reference: str) -> list[Row]:
    what = subject(reference)
    expected = {name: rounded(what.expected[name]) for name in ("distinct", "generated")}
    native = search_side(ONE, reference)
    pan = Pan(what, plan.scratch / reference.replace("/", "-"))
    sides = [
        Side(SPIN, pan.run, reference, expected),
        replace(native, run=partial(_rounded, native), expected=expected),
    ]
    series = plan.series(sides, measure=NAME, size=what.size)
    series.judged = series.judged and not reference.endswith("-s")
    return [
        series.row(SPIN, SPIN, rate("distinct"), unit=STATES, note="gcc -O2 -DNOREDUCE -DSAFETY"),
        series.row(ONE, f"native, {ONE}", rate("distinct"), unit=STATES, against=SPIN, goal=FASTER),
        series.row(
            ONE, "the same by processor time", cpu_rate("distinct"), unit="states/cpu-s", against=SPIN
        ),
        series.row(
            SPIN, "Spin: bytes a state", value("bytes_per_state"), unit="bytes", note="states and table"
        ),
        series.row(
            ONE, "native: bytes a state", value("bytes_per_state"), unit="bytes", against=SPIN, inverse=True,
            goal=NO_LARGER,
        ),
    ]  # fmt: skip


def _rounded(side: Side) -> Sample:
    return with_rounded_counts(side.run())


MEASURE = Measure(NAME, "Distinct states a second against Spin's verifier, with equal counts.", run)
