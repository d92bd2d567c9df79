"""Mutants: how many are killed, and in how many seconds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tidemark.bench.measure import NOT_QUICK, Measure, Plan, left_out
from tidemark.bench.process import in_fresh_process
from tidemark.bench.row import Goal, Row
from tidemark.bench.sample import Sample, Side, count, seconds
from tidemark.bench.work.mutants import generated, named

NAME = "mutants"
QUICK_SAMPLE = 4
SAMPLE = 60
ALL = Goal(at_least=1, unit="")


def run(plan: Plan) -> Iterator[Row]:
    """Generated mutants, a fixed sample of them; and the argued ones of the manifest."""
    size = QUICK_SAMPLE if plan.quick else SAMPLE
    reference = "flush/tiny" if plan.quick else "flush/moves"
    made = Side("generated", partial(in_fresh_process, generated, reference=reference, sample=size))
    series = plan.series([made], measure=NAME, size=f"{reference}, {size} generated")
    yield series.row(made.name, "killed, of those that differ", _killed, unit="share")
    yield series.row(made.name, "equivalent within bounds", count("equivalent"), unit="")
    yield series.row(made.name, "survived", count("survived"), unit="")
    yield series.row(made.name, "seconds in all", seconds, unit="s")
    if plan.quick:
        yield left_out(NAME, "argued mutants", NOT_QUICK)
        return
    argued = Side("argued", partial(in_fresh_process, named, manifest="flush"))
    series = plan.series([argued], measure=NAME, size="flush, argued")
    yield series.row(argued.name, "argued mutants", count("mutants"), unit="")
    yield series.row(argued.name, "killed as the manifest says", count("killed"), unit="")
    yield series.row(argued.name, "killed, of all", _killed, unit="share", goal=ALL)
    yield series.row(argued.name, "seconds in all", seconds, unit="s")


def _killed(sample: Sample) -> float:
    differ = sample.counts["mutants"] - sample.counts.get("equivalent", 0)
    return sample.counts["killed"] / differ if differ else float("nan")


MEASURE = Measure(NAME, "Mutants killed, and the seconds that it takes.", run)
