"""Repetitions of several sides in turn, and the lines that are made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import Any

from tidemark.bench.sample import BrokenRun, NotMeasured, Number, Sample, Side


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to measure. ``scratch`` is an empty folder for files that are not needed afterwards."""

    scratch: Path
    repeat: int = 3
    quick: bool = False
    """Small sizes only: to see that everything works, not to judge goals."""
    say: Say = field(default=lambda _text: None)

    def series(self, sides: Sequence[Side], *, measure: str, size: str) -> Series:
        """See ``tidemark.bench.series.alternate``. A quick run judges no goal."""
        found = alternate(sides, measure=measure, size=size, repeat=self.repeat, say=self.say)
        found.judged = not self.quick
        return found


@dataclass(frozen=True)
class Measure:
    """A measure by name. ``about`` is one sentence; ``run`` gives its lines as they are measured."""

    name: str
    about: str
    run: Callable[[Plan], Iterable[Row]]


def left_out(measure: str, what: str, reason: str, *, size: str = "") -> Row:
    """The line of something that is not measured."""
    return Row(measure=measure, size=size, what=what, status=Status.NOT_MEASURED, reason=reason)


NOT_QUICK = "left out of a quick run"


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


Say = Callable[[str], None]
"""Told what runs next."""


@dataclass(kw_only=True)
class Series:
    """Samples by side. ``missing``: why a side has none. ``broken``: a side that crashed."""

    measure: str
    size: str
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    different: str = ""
    """Which counts differ, in words; empty if they are equal."""
    judged: bool = True
    """Do goals apply at this size?"""

    def row(
        self,
        side: str,
        what: str,
        number: Number,
        *,
        unit: str,
        against: str = "",
        inverse: bool = False,
        goal: Goal | None = None,
        note: str = "",
    ) -> Row:
        """A line about one side, compared with ``against`` if that is given.

        The ratio is this side's number by the other's, or the other's by this one's if ``inverse``.
        """
        common: dict[str, Any] = {
            "measure": self.measure, "size": self.size, "what": what, "unit": unit, "goal": goal,
            "against": against, "note": note,
        }  # fmt: skip
        if side in self.broken:
            return Row(**common, status=Status.BROKEN, reason=self.broken[side])
        if side in self.missing:
            return Row(**common, status=Status.NOT_MEASURED, reason=self.missing[side])
        mine = self.samples[side]
        numbers = tuple(number(sample) for sample in mine)
        ratios = self._ratios(numbers, against, number, inverse=inverse) if against else ()
        status, reason = self._status(goal, ratios if against else numbers, against)
        return Row(
            **common,
            samples=numbers,
            ratios=ratios,
            status=status,
            reason=reason,
            peak_bytes=max(sample.peak_bytes for sample in mine),
            counts=dict(mine[0].counts),
        )

    def _ratios(
        self, numbers: Sequence[float], against: str, number: Number, *, inverse: bool
    ) -> tuple[float, ...]:
        others = [number(sample) for sample in self.samples.get(against, ())]
        pairs = zip(numbers, others, strict=False)
        if inverse:
            return tuple(_divided(other, mine) for mine, other in pairs)
        return tuple(_divided(mine, other) for mine, other in pairs)

    def _status(self, goal: Goal | None, numbers: Sequence[float], against: str) -> tuple[Status, str]:
        if self.different:
            return Status.DIFFERENT, self.different
        if goal is not None and against in self.broken:
            return Status.NOT_MEASURED, f"{against} is broken"
        if goal is not None and against in self.missing:
            return Status.NOT_MEASURED, f"{against}: {self.missing[against]}"
        if goal is not None and not self.judged:
            return Status.NOT_JUDGED, "the goal does not apply at this size"
        return judge(goal, numbers)


def _divided(first: float, second: float) -> float:
    return first / second if second else float("nan")


def alternate(
    sides: Sequence[Side],
    *,
    measure: str,
    size: str,
    repeat: int,
    say: Say = lambda _text: None,
) -> Series:
    """Run every side ``repeat`` times, in turn: first to last, then last to first, and so on, so that a
    machine that grows slower hits all of them.

    A side that cannot be measured is left out from then on, its earlier samples included. Facts are
    compared between all sides and repetitions, wherever both have them: see ``Side``.
    """
    series = Series(measure=measure, size=size, samples={side.name: [] for side in sides})
    for turn in range(repeat):
        for side in sides if turn % 2 == 0 else reversed(sides):
            if side.name in series.missing or side.name in series.broken:
                continue
            say(f"{measure}, {size}: {side.name}, {turn + 1} of {repeat}")
            try:
                series.samples[side.name].append(side.run())
            except NotMeasured as why:
                series.missing[side.name] = why.reason
            except BrokenRun as why:
                series.broken[side.name] = str(why)
    series.different = differences(sides, series.samples)
    return series


def differences(sides: Sequence[Side], samples: Mapping[str, Sequence[Sample]]) -> str:
    """Where the facts of the samples differ from each other or from what is expected, in words."""
    known: dict[tuple[str, str], tuple[str, int | str]] = {}
    for side in sides:
        for name, fact in side.expected.items():
            known[side.subject, name] = ("expected", fact)
    found = []
    for side in sides:
        for sample in samples[side.name]:
            for name, fact in sample.facts.items():
                whose, other = known.setdefault((side.subject, name), (side.name, fact))
                if fact != other:
                    found.append(f"{name}: {whose} {other}, {side.name} {fact}")
    return "; ".join(dict.fromkeys(found))
