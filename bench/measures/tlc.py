"""Two workers of the compiled kernel against two of TLC, on the TLA+ exports of the same instances."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.bench.instances import subject
from tidemark.bench.measure import Measure, Plan
from tidemark.bench.measures.search import STATES, TWO
from tidemark.bench.measures.search import side as search_side
from tidemark.bench.row import Goal, Row
from tidemark.bench.sample import Side, rate
from tidemark.bench.tlc import Tlc

NAME = "tlc"
TLC = "TLC"
QUICK = ("peers/tso-s",)
SIZES = ("peers/tso-m", "peers/flush-cp-m")
FASTER = Goal(at_least=50)


def run(plan: Plan) -> Iterator[Row]:
    """Size m by both, in turn."""
    for reference in QUICK if plan.quick else SIZES:
        yield from _compare(plan, reference)


def _compare(plan: Plan, reference: str) -> list[Row]:
    what = subject(reference)
    tlc = Tlc(what, plan.scratch / f"tlc-{reference.replace('/', '-')}", workers=2)
    sides = [Side(TLC, tlc.run, reference, what.expected), search_side(TWO, reference)]
    series = plan.series(sides, measure=NAME, size=what.size)
    return [
        series.row(TLC, f"TLC, {TWO}", rate("distinct"), unit=STATES),
        series.row(TWO, f"native, {TWO}", rate("distinct"), unit=STATES, against=TLC, goal=FASTER),
    ]


MEASURE = Measure(NAME, "Distinct states a second against TLC, both with two workers.", run)
