"""Repetitions of several sides in turn, and the lines that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.bench.row import Goal, Row, Status, judge
from tidemark.bench.sample import BrokenRun, NotMeasured, Number, Sample, Side

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
