"""Judging mutants."""

from __future__ import annotations

from tidemark.bench.sample import Sample
from tidemark.bench.work.clock import Clock


def generated(*, reference: str, sample: int) -> Sample:
    """A fixed sample of the mutants made by rule from the protocol of an instance of a manifest."""
    from tidemark.bench.instances import subject, upheld
    from tidemark.checks.mutation.judge import mutate, sampled
    from tidemark.checks.mutation.result import summary
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
