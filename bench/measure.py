"""What a measure is, and what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tidemark.bench.row import Row, Status
from tidemark.bench.sample import Side
from tidemark.bench.series import Say, Series, alternate


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
