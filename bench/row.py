"""One line of the result: what was measured, how much it varied, and whether the goal is met."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

FEWEST = 3
"""Repetitions without which no goal is judged."""


class Status(StrEnum):
    """What became of a measure. Only ``MET`` is good news; only the last two fail a run."""

    MET = "met"
    NOT_MET = "not met"
    NO_GOAL = "no goal"
    NOT_JUDGED = "not judged"
    """Measured, but too few times, or at sizes to which the goal does not apply."""
    NOT_MEASURED = "not measured"
    DIFFERENT = "COUNTS DIFFER"
    BROKEN = "BROKEN"


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A bound on the ratio, or on the value where nothing is compared."""

    at_least: float | None = None
    at_most: float | None = None
    unit: str = "x"

    def __str__(self) -> str:
        sign, bound = (">=", self.at_least) if self.at_least is not None else ("<=", self.at_most)
        return f"{sign} {bound:g} {self.unit}".rstrip()

    def met(self, number: float) -> bool:
        """Is it reached? NaN never reaches anything."""
        if math.isnan(number):
            return False
        low = self.at_least is None or number >= self.at_least
        return low and (self.at_most is None or number <= self.at_most)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line. ``samples`` are the numbers of the repetitions, in order; ``ratios`` those against another
    side in the same repetition, so that a drift of the machine falls out.
    """

    measure: str
    size: str
    what: str
    unit: str = ""
    samples: tuple[float, ...] = ()
    against: str = ""
    ratios: tuple[float, ...] = ()
    goal: Goal | None = None
    status: Status = Status.NO_GOAL
    reason: str = ""
    peak_bytes: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    note: str = ""

    @property
    def median(self) -> float | None:
        """Median of the repetitions."""
        return median(self.samples) if self.samples else None

    @property
    def spread(self) -> float | None:
        """Greatest less least, as a share of the median; None of fewer than two."""
        middle = self.median
        if not middle or len(self.samples) < 2:
            return None
        return (max(self.samples) - min(self.samples)) / abs(middle)

    @property
    def ratio(self) -> float | None:
        """Median of the ratios."""
        return median(self.ratios) if self.ratios else None


def judge(goal: Goal | None, numbers: Sequence[float]) -> tuple[Status, str]:
    """The status of a measured line and the reason for it; ``numbers`` are what the goal speaks of."""
    if goal is None:
        return Status.NO_GOAL, ""
    if len(numbers) < FEWEST:
        few = f"{len(numbers)} repetition{'s' if len(numbers) != 1 else ''}; a goal takes {FEWEST}"
        return Status.NOT_JUDGED, few
    return (Status.MET if goal.met(median(numbers)) else Status.NOT_MET), ""
