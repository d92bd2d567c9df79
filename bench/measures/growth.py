"""Does the rate hold when the table outgrows the caches?"""

from dataclasses import replace
from functools import partial

import psutil

from tidemark.bench.instances import subject
from tidemark.bench.measures.search import BYTES, ONE, STATES, side
from tidemark.bench.sample import NotMeasured, Sample, Side, cpu_rate, rate, value
from tidemark.bench.series import NOT_QUICK, Goal, Measure, Plan, Row, left_out

NAME = "growth"
FEW, MANY = "bench/flush-cp-8", "bench/flush-cp-13"
GOAL = Goal(at_least=0.6)
NEEDED_GIB = 4
"""Free memory without which the larger search is not started."""


def run(plan: Plan) -> list[Row]:
    """The same protocol at about 10^6 and about 3 * 10^7 states, in turn."""
    if plan.quick:
        return [left_out(NAME, "rate of a large search", NOT_QUICK, size=MANY)]
    sides = [_side(FEW), _side(MANY)]
    series = plan.series(sides, measure=NAME, size="10^6 and 3 * 10^7 states")
    few, many = subject(FEW).size, subject(MANY).size
    return [
        replace(series.row(FEW, f"native, {ONE}", rate("distinct"), unit=STATES), size=few),
        replace(
            series.row(MANY, f"native, {ONE}", rate("distinct"), unit=STATES, against=FEW, goal=GOAL),
            size=many,
        ),
        replace(
            series.row(
                MANY, "the same by processor time", cpu_rate("distinct"), unit="states/cpu-s", against=FEW
            ),
            size=many,
        ),
        replace(
            series.row(MANY, "bytes a state", value("bytes_per_state"), unit="bytes", goal=BYTES), size=many
        ),
    ]


def _side(reference: str) -> Side:
    plain = side(ONE, reference)
    return replace(plain, name=reference, run=partial(_with_room, plain))


def _with_room(plain: Side) -> Sample:
    free = psutil.virtual_memory().available / 2**30
    if plain.subject == MANY and free < NEEDED_GIB:
        raise NotMeasured(f"{free:.1f} GiB of memory are free and {NEEDED_GIB} are needed")
    return plain.run()


MEASURE = Measure(NAME, "The rate at 3 * 10^7 states against the rate at 10^6.", run)
