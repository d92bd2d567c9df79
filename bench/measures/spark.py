"""The search on Spark against the compiled kernel on as many cores; what a round and a state cost."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import psutil

from tidemark.bench.instances import subject
from tidemark.bench.measures.search import LARGE, MASTER, SPARK, STATES, TWO, distributed
from tidemark.bench.measures.search import side as search_side
from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import NotMeasured, Sample, Side, cpu_rate, rate, value
from tidemark.bench.series import NOT_QUICK, Goal, Measure, Plan, Row, left_out

NAME = "spark"
HANDOVER = 20_000
"""Frontier from which a round goes to Spark; smaller ones stay in the driver."""
AGAINST_NATIVE = Goal(at_least=0.5)
ROUND = Goal(at_most=0.3, unit="s")
GROWTH = Goal(at_most=1.5)
FEW, MANY = "bench/flush-cp-8", "bench/flush-cp-13"
NEEDED_GIB = 8
"""Free memory without which the largest search is not started."""


def run(plan: Plan) -> Iterator[Row]:
    """Large instances by both, and one small one of which every round goes to Spark."""
    if plan.quick:
        yield left_out(NAME, "all", NOT_QUICK)
        return
    yield from _overhead(plan, "flush/calm")
    for reference in LARGE:
        yield from _large(plan, reference)
    yield from _growth(plan)


def _side(name: str, reference: str, handover: int, together: int | None = None) -> Side:
    run_it = partial(
        in_fresh_process,
        distributed,
        family=True,
        reference=reference,
        master=MASTER,
        handover=handover,
        together=together,
    )
    return Side(name, run_it, subject=reference, expected=subject(reference).expected)


def _overhead(plan: Plan, reference: str) -> list[Row]:
    single, several = "one round a job", "several rounds a job"
    sides = [_side(single, reference, 0, 1), _side(several, reference, 0)]
    series = plan.series(sides, measure=NAME, size=subject(reference).size)
    note = "mostly overhead: rounds are small; workers are warm"
    a_round, starting = value("seconds_a_round"), value("session_seconds")
    return [
        series.row(several, "starting session and workers", starting, unit="s"),
        series.row(single, f"a round, {single}", a_round, unit="s", goal=ROUND, note=note),
        series.row(several, f"a round, {several}", a_round, unit="s", note=note),
    ]


def _large(plan: Plan, reference: str) -> list[Row]:
    sides = [search_side(TWO, reference), _side(SPARK, reference, HANDOVER)]
    series = plan.series(sides, measure=NAME, size=subject(reference).size)
    return [
        series.row(TWO, f"native, {TWO}", rate("distinct"), unit=STATES),
        series.row(
            SPARK, SPARK, rate("distinct"), unit=STATES, against=TWO,
            goal=AGAINST_NATIVE if reference == LARGE[-1] else None,
            note=f"rounds from {HANDOVER:,} states on; the session runs already; memory of all its processes",
        ),
        series.row(
            SPARK, "the same by processor time", cpu_rate("distinct"), unit="states/cpu-s", against=TWO,
            note="of all processes, Java's compiler among them",
        ),
        series.row(SPARK, "rounds on Spark", value("rounds_on_spark"), unit=""),
        series.row(SPARK, "bytes sent a state", value("sent_bytes_a_state"), unit="bytes"),
    ]  # fmt: skip


def _growth(plan: Plan) -> list[Row]:
    """Seconds a state of a search of 3 * 10^7 states against those of one of 10^6."""
    sides = [_side(FEW, FEW, HANDOVER), _side(MANY, MANY, HANDOVER)]
    sides[1] = replace(sides[1], run=partial(_with_room, sides[1]))
    series = plan.series(sides, measure=NAME, size=f"{FEW} and {MANY}")
    many = subject(MANY).size
    return [
        series.row(FEW, f"a state of {subject(FEW).size}", _microseconds, unit="us"),
        series.row(MANY, f"a state of {many}", _microseconds, unit="us", against=FEW, goal=GROWTH),
        series.row(MANY, "the same by processor time", _cpu_microseconds, unit="cpu-us", against=FEW),
        series.row(MANY, "bytes sent a state", value("sent_bytes_a_state"), unit="bytes"),
    ]


def _with_room(plain: Side) -> Sample:
    free = psutil.virtual_memory().available / 2**30
    if free < NEEDED_GIB:
        raise NotMeasured(f"{free:.1f} GiB of memory are free and {NEEDED_GIB} are needed")
    return plain.run()


def _microseconds(sample: Sample) -> float:
    return 1e6 * sample.seconds / sample.counts["distinct"]


def _cpu_microseconds(sample: Sample) -> float:
    return 1e6 * sample.cpu_seconds / sample.counts["distinct"]


MEASURE = Measure(NAME, "Spark with two local cores against the compiled kernel with two workers.", run)
