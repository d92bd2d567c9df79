"""Running a program of the implementation in every bounded order of its steps."""

from __future__ import annotations

from typing import Any

from bench.sample import Sample
from bench.work.clock import Clock


def executions(
    *, program: str, arguments: dict[str, Any], reduction: str, expected: int | None = None
) -> Sample:
    """All interleavings, with a reduction by name. What must not differ are the outcomes.

    Raises:
        RuntimeError: the search was cut, or the number of executions is not the ``expected`` one.
    """
    from checks.interleave import Options, Reduction, Status, explore
    from models.scheduled import ProgramRef

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
