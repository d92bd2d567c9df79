"""How short the failing executions of the planted bugs become."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import Clock, Number, Sample, Side, count, value
from tidemark.bench.series import Measure, Plan, Row


def shrunk(*, protocol: str, bug: str) -> Sample:
    """A failing execution of a mutant of the manifest, before and after. Finding it is not timed."""
    from tidemark.checks.interleave.executions.shrink import shrink
    from tidemark.checks.interleave.judge import program_of
    from tidemark.checks.interleave.planted import failing_execution, planted_bugs
    from tidemark.models.manifest import load, manifest_files

    entry = planted_bugs(next(m for m in map(load, manifest_files()) if m.name == protocol))[bug]
    found = failing_execution(entry)
    clock = Clock()
    short = shrink(program_of(entry), found)
    return Sample(
        seconds=clock.seconds,
        cpu_seconds=clock.cpu_seconds,
        counts={"steps": len(short.found.picks), "deviations": short.deviations},
        values={
            "steps before": short.before[0],
            "deviations before": short.before[1],
            "attempts": short.attempts,
        },
    )


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
