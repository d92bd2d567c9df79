"""What is not as expected, each thing once: however many engines and instances show it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import Aspect, Judgement


@dataclass(frozen=True)
class Failure:
    """Judgements that say the same, the one to show first: with the shortest run, if there is a run."""

    judgements: tuple[Judgement, ...]

    @property
    def lead(self) -> Judgement:
        """The judgement that is shown in full."""
        return self.judgements[0]

    @property
    def others(self) -> tuple[Judgement, ...]:
        """The judgements that agree with it."""
        return self.judgements[1:]


def failures(result: RunResult) -> list[Failure]:
    """The failures of a run, the most telling first.

    A property that is refuted by two engines, or on three instances, is one failure. A pin, a mutant and a
    check of the coverage belong to their entry: two entries are two failures.
    """
    groups: dict[Hashable, list[Judgement]] = {}
    for one in result.failures:
        subject = one.verdict.subject
        entry = "" if subject.aspect is Aspect.PROPERTY else subject.instance
        key = (subject.protocol, subject.property_id, entry, one.verdict.outcome)
        groups.setdefault(key, []).append(one)
    return [Failure(tuple(sorted(group, key=_steps))) for group in groups.values()]


def _steps(one: Judgement) -> float:
    trace = one.verdict.counterexample
    return float("inf") if trace is None else len(trace.steps)
