"""How a running search will go on: the sizes of its levels lie near a bell curve."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

_WINDOW = 6
"""Levels that are looked at: fewer are noise, more are history."""

_MOST = 10_000
"""Rounds after which a forecast is no forecast."""


@dataclass(frozen=True)
class Outlook:
    """What is still to come: rounds, and states in them."""

    rounds: int
    states: int


def outlook(levels: Sequence[int]) -> Outlook | None:
    """The rest of a breadth-first search by the sizes of its levels so far; None if they tell nothing.

    The logarithm of a level's size is taken for a parabola of its depth. That is no more than a rule of
    thumb: most state graphs grow, reach one broad top, and shrink.
    """
    recent = [math.log(size) for size in levels[-_WINDOW:] if size > 0]
    if len(recent) < _WINDOW:
        return None
    slopes = [after - before for before, after in itertools.pairwise(recent)]
    bend = (slopes[-1] - slopes[0]) / (len(slopes) - 1)
    if bend >= 0:
        return None
    size, slope, rounds, states = recent[-1], slopes[-1], 0, 0.0
    while size > 0 and rounds < _MOST:
        slope += bend
        size += slope
        rounds += 1
        states += math.exp(max(0.0, size))
    return Outlook(rounds, round(states))
