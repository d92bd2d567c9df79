"""How large is a search tree of which a part was walked depth first?

The children of a node differ in size in a regular way: with a reduction the first one is the largest, and
most of the later ones are never tried. How much the children at each place add is learned from the nodes that
are finished, for each number of enabled events. What is left of the nodes on the way to the present leaf
follows in proportion, from the deepest one to the root. This is the weighted backtrack estimator (Kilby,
Slaney, Thiébaux, Walsh, "Estimating search tree size", 2006) with learned weights in place of equal ones.

It is an estimate. It assumes that the part which was not seen is like the part which was: early in a search
it may be wrong by orders of magnitude.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Growth(NamedTuple):
    """A node on the way to the present leaf.

    Attributes:
        enabled: number of its enabled events.
        finished: number of leaves below each child that was finished, in the order of trying.
        planned: children after the present one that are known to be tried.
        possible: children after the present one that may be tried.
    """

    enabled: int
    finished: Sequence[int]
    planned: int
    possible: int


class Estimator:
    """Learns from finished nodes how large the children at each place are."""

    def __init__(self) -> None:
        self._sizes: dict[int, list[int]] = {}

    def learn(self, enabled: int, sizes: Sequence[int]) -> None:
        """Take note of a finished node: the leaves below each child that was tried."""
        if enabled == 1:
            return
        known = self._sizes.setdefault(enabled, [0] * enabled)
        for place, size in enumerate(sizes):
            known[place] += size

    def left(self, way: Iterable[Growth]) -> float:
        """Estimate the leaves that are left.

        Args:
            way: the nodes from the present leaf, which is done, to the root.
        """
        size, done = 1.0, 1
        for node in way:
            before = sum(node.finished)
            size += before
            done += before
            size *= 1 + self._rest(node)
            size = max(size, float(done + node.planned))
        return size - done

    def _rest(self, node: Growth) -> float:
        """Return what the later children add, as a share of the earlier ones with the present one."""
        tried = len(node.finished) + 1
        known = self._sizes.get(node.enabled)
        seen = sum(known[:tried]) if known is not None else 0
        if known is None or not seen:
            return node.planned / tried
        return sum(known[tried : tried + node.possible]) / seen
