"""Discharging all obligations of a protocol."""

from __future__ import annotations

from tidemark.bench.sample import Sample
from tidemark.bench.work.clock import Clock


def proved(*, protocol: str, jobs: int) -> Sample:
    """The proof for any size, with so many processes."""
    from tidemark.checks.prove.proof import prove

    clock = Clock()
    proof = prove(protocol, jobs=jobs)
    answers = [outcome.answer for outcome in proof.outcomes]
    return Sample(
        seconds=clock.seconds,
        cpu_seconds=clock.cpu_seconds if jobs == 1 else 0.0,
        counts={
            "obligations": len(answers),
            "proved": sum(outcome.proved for outcome in proof.outcomes),
            "unknown": sum(answer.status == "unknown" for answer in answers),
        },
        values={"slowest": max((answer.seconds for answer in answers), default=0.0)},
    )
