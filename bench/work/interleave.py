"""Running a program of the implementation in every bounded order of its steps."""

from __future__ import annotations

from typing import Any

from tidemark.bench.sample import Sample
from tidemark.bench.work.clock import Clock


def executions(
    *, program: str, arguments: dict[str, Any], reduction: str, expected: int | None = None
) -> Sample:
    """All interleavings, with a reduction by name. What must not differ are the outcomes.

    Raises:
        RuntimeError: the search was cut, or the number of executions is not the ``expected`` one.
    """
    from tidemark.checks.interleave import Options, Reduction, Status, explore
    from tidemark.models.simulation import ProgramRef

    clock = Clock()
    found = explore(ProgramRef.of(program, **arguments), Options(reduction=Reduction(reduction)))
    seconds, cpu_seconds = clock.seconds, clock.cpu_seconds
    if found.status is not Status.EXHAUSTED:
        raise RuntimeError(f"{program} {arguments} by {reduction}: {found.status}: {found.reason}")
    counters = found.statistics
    if expected is not None and counters.executions != expected:
        raise RuntimeError(f"{program} {arguments}: {counters.executions} executions, expected {expected}")
    return Sample(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        counts={"final_states": len(found.finals), f"executions by {reduction}": counters.executions},
        texts={"digest of the final states": found.finals_digest()},
        values={
            "executions": counters.executions,
            "given_up": counters.blocked + counters.merged,
            "rate": found.rate,
        },
    )


def classes(*, programs: list[tuple[str, str, int]], factory: str, reduction: str) -> Sample:
    """Programs (name, kind, size) by one reduction. Each complete execution must be a class of its own.

    Raises:
        RuntimeError: a search was cut, or a class was run twice.
    """
    from tidemark.checks.interleave import Options, Reduction, Status, explore
    from tidemark.models.simulation import ProgramRef

    clock = Clock()
    counts: dict[str, int] = {}
    values: dict[str, float] = {}
    for name, kind, size in programs:
        options = Options(reduction=Reduction(reduction), classes=True)
        found = explore(ProgramRef.of(factory, kind=kind, size=size), options)
        if found.status is not Status.EXHAUSTED:
            raise RuntimeError(f"{name} by {reduction}: {found.status}: {found.reason}")
        if found.statistics.executions != len(found.classes):
            raise RuntimeError(f"{name} by {reduction}: a class was run twice")
        counts[f"classes of {name}"] = len(found.classes)
        values[f"given up of {name}"] = found.statistics.blocked
    return Sample(seconds=clock.seconds, cpu_seconds=clock.cpu_seconds, counts=counts, values=values)
