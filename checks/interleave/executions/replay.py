"""Running one recorded execution again: exactly, or leniently as the shrinker needs it."""

import re
import zlib
from collections.abc import Sequence

from tidemark.checks.interleave.errors import DivergenceError
from tidemark.checks.interleave.executions.record import Step
from tidemark.models.simulation import Footprint


def fingerprint(enabled: Sequence[str]) -> int:
    """Return one byte that represents a set of enabled events."""
    return zlib.crc32("\n".join(enabled).encode()) & 0xFF


class Exact:
    """Replays picks, and notices at once when the enabled events differ from those of the recording.

    Args:
        picks: the recorded choices. Beyond them the default choice is taken.
        fingerprints: one byte for each pick, or empty.
        trace: the recording itself, where it is at hand; gives better explanations.
    """

    def __init__(
        self, picks: Sequence[int], *, fingerprints: Sequence[int] = (), trace: Sequence[Step] = ()
    ) -> None:
        self._picks = picks
        self._fingerprints = fingerprints
        self._trace = trace
        self._step = 0

    def new_execution(self) -> bool:
        """Start over."""
        self._step = 0
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Return the recorded pick."""
        del last
        step = self._step
        self._step += 1
        if step < len(self._trace):
            if self._trace[step].enabled != tuple(enabled):
                raise DivergenceError(step=step, expected=self._trace[step].enabled, seen=enabled)
        elif step < len(self._fingerprints) and self._fingerprints[step] != fingerprint(enabled):
            raise DivergenceError(step=step, expected=(), seen=enabled)
        if step >= len(self._picks):
            return 0
        if self._picks[step] >= len(enabled):
            raise DivergenceError(step=step, expected=(), seen=enabled)
        return self._picks[step]

    def done(self, last: Footprint | None) -> None:
        """Nothing is learned."""


_NUMBER = re.compile(r"#\d+")


def _without_numbers(label: str) -> str:
    return _NUMBER.sub("#", label)


class ByLabel:
    """Takes events by their names, in a given order as far as they come: the first one that is enabled.

    Where none of them is, the default choice is taken. Names do not change when steps of others are left out;
    places in the list of enabled events do. ``loosely``: where none is, numbers in names do not count, which
    change when steps of the same process are left out.
    """

    def __init__(self, labels: Sequence[str], *, loosely: bool = False) -> None:
        self._readings = (str, _without_numbers) if loosely else (str,)
        self._labels = list(labels)
        self._wanted = list(labels)

    def new_execution(self) -> bool:
        """Start over."""
        self._wanted = list(self._labels)
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Return the place of the first wanted event, or 0."""
        del last
        for named in self._readings:
            places = {named(label): place for place, label in reversed(list(enumerate(enabled)))}
            for label in self._wanted:
                if named(label) in places:
                    self._wanted.remove(label)
                    return places[named(label)]
        return 0

    def done(self, last: Footprint | None) -> None:
        """Nothing is learned."""


class Lenient(Exact):
    """Follows picks as far as they make sense; an impossible pick becomes the default choice."""

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Return the pick, or 0."""
        del last
        step = self._step
        self._step += 1
        if step < len(self._picks) and self._picks[step] < len(enabled):
            return self._picks[step]
        return 0
