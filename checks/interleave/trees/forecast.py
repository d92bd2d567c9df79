"""How many executions the parts of a search tree take that wait to be searched.

Within one part that is being searched, ``tidemark.checks.interleave.trees.tree`` knows more. Of parts
that are not begun only the depth of the root is known: a deeper one is smaller. The mean size of the
finished parts with a root at a depth represents those that wait at this depth; between known depths it is
interpolated, as a power. Parts that ran out of their budget count with what they have spent and the forecast
of what they have left. Nothing rests on this: it sizes the rounds of a search and tells a user how long it
may take.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple


class Searched(NamedTuple):
    """What became of a part of the tree.

    Attributes:
        depth: how deep its root lies.
        spent: executions that were spent on it.
        left: how deep the roots of what is left of it lie.
    """

    depth: int
    spent: int
    left: tuple[int, ...] = ()


class Forecast:
    """Mean sizes of parts by the depth of their roots, in executions."""

    def __init__(self) -> None:
        self._sizes: dict[int, float] = {}
        self._counts: dict[int, int] = {}

    def learn(self, parts: Iterable[Searched]) -> None:
        """Take note of parts; the finished ones first, since the others are judged by them."""
        for part in sorted(parts, key=lambda part: (bool(part.left), -part.depth, part)):
            rest = self.of(part.left)
            if rest is not None:
                self._sizes[part.depth] = self._sizes.get(part.depth, 0.0) + part.spent + rest
                self._counts[part.depth] = self._counts.get(part.depth, 0) + 1

    def of(self, depths: Iterable[int]) -> float | None:
        """Return how many executions parts with these depths take in all. None: nothing is known yet."""
        depths = tuple(depths)
        if not depths:
            return 0.0
        if not self._sizes:
            return None
        return sum(map(self._size, depths))

    def _size(self, depth: int) -> float:
        known = self._mean(depth)
        if known is not None:
            return known
        above = max((other for other in self._sizes if other < depth), default=None)
        below = min((other for other in self._sizes if other > depth), default=None)
        if above is None or below is None:
            nearest = below if above is None else above
            assert nearest is not None
            return self._mean(nearest) or 1.0
        share = (depth - above) / (below - above)
        one, other = self._mean(above) or 1.0, self._mean(below) or 1.0
        return math.exp((1 - share) * math.log(one) + share * math.log(other))

    def _mean(self, depth: int) -> float | None:
        count = self._counts.get(depth, 0)
        return max(1.0, self._sizes[depth] / count) if count else None
