"""What became of a mutant."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tidemark.checks.verdicts.counterexample import Counterexample


class Fate(StrEnum):
    """The answers that a mutant can get."""

    KILLED = "killed"
    EQUIVALENT = "equivalent within bounds"
    """Its steps are the protocol's from every state that the protocol can reach within the bounds."""
    SURVIVED = "survived"
    """It behaves differently and no claim notices."""
    UNDECIDED = "undecided"
    """The search was stopped by a limit, or the baseline is not green."""


@dataclass(frozen=True, kw_only=True)
class MutantResult:
    """The fate of one mutant. ``killer`` is the id of the claim that is refuted, ``kind`` its kind.

    ``change`` is what was made wrong, as text; ``distinct`` counts the states that were visited.
    """

    id: str
    fate: Fate
    change: str = ""
    killer: str = ""
    kind: str = ""
    reason: str = ""
    distinct: int = 0
    seconds: float = 0.0
    counterexample: Counterexample | None = None


@dataclass(frozen=True)
class Summary:
    """Counts by fate."""

    total: int
    killed: int
    equivalent: int
    survived: int
    undecided: int

    def __str__(self) -> str:
        parts = [f"{self.killed} of {self.total - self.equivalent} mutants killed"]
        parts += [f"{self.equivalent} equivalent within bounds"] if self.equivalent else []
        parts += [f"{self.survived} survived"] if self.survived else []
        parts += [f"{self.undecided} undecided"] if self.undecided else []
        return ", ".join(parts)


def summary(results: list[MutantResult]) -> Summary:
    """Count results by fate."""
    fates = [result.fate for result in results]
    return Summary(
        len(fates),
        fates.count(Fate.KILLED),
        fates.count(Fate.EQUIVALENT),
        fates.count(Fate.SURVIVED),
        fates.count(Fate.UNDECIDED),
    )
