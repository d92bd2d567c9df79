"""The search on Spark against the compiled kernel on as many cores; what a round and a state cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from bench.instances import subject
from bench.measure import NOT_QUICK, Measure, Plan, left_out
from bench.measures.search import LARGE, MASTER, SPARK, STATES, TWO
from bench.measures.search import side as search_side
from bench.process import in_fresh_process
from bench.row import Goal, Row
from bench.sample import Sample, Side, rate, value
from bench.work.spark import distributed

NAME = "spark"
HANDOVER = 20_000
"""Frontier from which a round goes to Spark; smaller ones stay in the driver."""
AGAINST_NATIVE = Goal(at_least=0.5)
ROUND = Goal(at_most=0.3, unit="s")
GROWTH = Goal(at_most=1.5)


def run(plan: Plan) -> Iterator[Row]:
    """Large instances by both, and one small one of which every round goes to Spark."""
    if plan.quick:
        yield left_out(NAME, "all", NOT_QUICK)
        return
    yield from _overhead(plan, "flush/calm")
    for reference in LARGE:
        yield from _large(plan, reference)
    yield from _growth(plan, *LARGE)


def _side(reference: str, handover: int) -> Side:
    run_it = partial(
        in_fresh_process, distributed, family=True, reference=reference, master=MASTER, handover=handover
    )
    return Side(SPARK, run_it, subject=reference, expected=subject(reference).expected)


def _overhead(plan: Plan, reference: str) -> list[Row]:
    series = plan.series([_side(reference, 0)], measure=NAME, size=subject(reference).size)
    return [
        series.row(SPARK, "starting the session", value("session_seconds"), unit="s"),
        series.row(
            SPARK,
            "a round",
            value("seconds_a_round"),
            unit="s",
            goal=ROUND,
            note="mostly overhead: rounds are small",
        ),
    ]


def _large(plan: Plan, reference: str) -> list[Row]:
    sides = [search_side(TWO, reference), _side(reference, HANDOVER)]
    series = plan.series(sides, measure=NAME, size=subject(reference).size)
    return [
        series.row(TWO, f"native, {TWO}", rate("distinct"), unit=STATES),
        series.row(
            SPARK, SPARK, rate("distinct"), unit=STATES, against=TWO,
            goal=AGAINST_NATIVE if reference == LARGE[-1] else None,
            note=f"rounds from {HANDOVER:,} states on; the session runs already; memory of all its processes",
        ),
        series.row(SPARK, "rounds on Spark", value("rounds_on_spark"), unit=""),
        series.row(SPARK, "bytes sent a state", value("sent_bytes_a_state"), unit="bytes"),
    ]  # fmt: skip


def _growth(plan: Plan, few: str, many: str) -> list[Row]:
    """Seconds a state of the larger search against those of the smaller."""
    sides = [replace(_side(reference, HANDOVER), name=reference) for reference in (few, many)]
    series = plan.series(sides, measure=NAME, size=f"{few} and {many}")
    return [
        series.row(few, f"a state of {few}", _microseconds, unit="us"),
        series.row(many, f"a state of {many}", _microseconds, unit="us", against=few, goal=GROWTH),
    ]


def _microseconds(sample: Sample) -> float:
    return 1e6 * sample.seconds / sample.counts["distinct"]


MEASURE = Measure(NAME, "Spark with two local cores against the compiled kernel with two workers.", run)
