"""How short the failing executions of the planted bugs become."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tidemark.bench.measure import Measure, Plan
from tidemark.bench.process import in_fresh_process
from tidemark.bench.row import Row
from tidemark.bench.sample import Number, Side, count, value
from tidemark.bench.work.shrinking import shrunk

NAME = "shrinking"
PROTOCOL = "flush"
FEW = 3
"""Bugs in a quick run."""


def run(plan: Plan) -> Iterator[Row]:
    """A line for steps, deviations and work of each bug. Nothing varies: one repetition is enough."""
    from tidemark.checks.interleave.planted import planted_bugs
    from tidemark.models.manifest import load, manifest_files

    bugs = sorted(planted_bugs(next(m for m in map(load, manifest_files()) if m.name == PROTOCOL)))
    for bug in bugs[:FEW] if plan.quick else bugs:
        yield from _bug(replace(plan, repeat=1), bug)


def _bug(plan: Plan, bug: str) -> Iterator[Row]:
    side = Side(bug, partial(in_fresh_process, shrunk, protocol=PROTOCOL, bug=bug))
    series = plan.series([side], measure=NAME, size=bug)
    for what, words in (("steps", "steps"), ("deviations", "deviations from the natural order")):
        before: Number = value(f"{what} before")
        told = "".join(f", of {before(sample):.0f}" for sample in series.samples[bug])
        yield series.row(bug, f"{words}{told}", count(what), unit="")
    yield series.row(bug, "executions of the shrinker", value("attempts"), unit="")


MEASURE = Measure(NAME, "Failing executions of the planted bugs, before and after shrinking.", run)
