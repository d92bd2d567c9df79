"""Shrinking a failing execution of a planted bug."""

from __future__ import annotations

from tidemark.bench.sample import Sample
from tidemark.bench.work.clock import Clock


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
