"""Mutants: how many are killed, and in how many seconds."""

from collections.abc import Iterator
from functools import partial

from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import Clock, Sample, Side, count, seconds
from tidemark.bench.series import NOT_QUICK, Goal, Measure, Plan, Row, left_out


def generated(*, reference: str, sample: int) -> Sample:
    """A fixed sample of the mutants made by rule from the protocol of an instance of a manifest."""
    from tidemark.bench.instances import subject, upheld
    from tidemark.checks.mutation.assess import summary
    from tidemark.checks.mutation.judge import mutate, sampled
    from tidemark.models.mutation.generated import mutants_of

    instance = subject(reference).instance
    ids = sampled([mutant.id for mutant in mutants_of(instance.protocol)], sample)
    clock = Clock()
    results = mutate(instance, mutants=ids, claims=upheld(reference))
    seconds, cpu_seconds = clock.seconds, clock.cpu_seconds
    found = summary(results)
    return Sample(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        counts={
            "mutants": found.total,
            "killed": found.killed,
            "equivalent": found.equivalent,
            "survived": found.survived,
            "undecided": found.undecided,
        },
        values={"slowest": max((result.seconds for result in results), default=0.0)},
    )


def named(*, manifest: str) -> Sample:
    """The argued mutants of a manifest, each on its own instance; how many die as they should."""
    from pathlib import Path

    from tidemark.checks.mutation.judge import JUDGE
    from tidemark.checks.verdicts.judge import Context
    from tidemark.checks.verdicts.verdict import Outcome
    from tidemark.models.manifest import load, manifest_files

    found = next(m for m in map(load, manifest_files()) if m.name == manifest)
    context = Context(manifest=found, build=Path("build"))
    due = [entry for entry in found.mutant if entry.killer]
    clock = Clock()
    verdicts = [verdict for entry in due for verdict in JUDGE.run(entry, context)]
    return Sample(
        seconds=clock.seconds,
        cpu_seconds=clock.cpu_seconds,
        counts={
            "mutants": len(due),
            "killed": sum(verdict.outcome is Outcome.REFUTED for verdict in verdicts),
        },
    )


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
