"""Walking a tree of executions depth first: the stack of nodes on the way to the present leaf, below the node
of a work item. What is left out, and in which order children are tried, is the business of the searches.

How large is a search tree of which a part was walked depth first?

The children of a node differ in size in a regular way: with a reduction the first one is the largest, and
most of the later ones are never tried. How much the children at each place add is learned from the nodes that
are finished, for each number of enabled events. What is left of the nodes on the way to the present leaf
follows in proportion, from the deepest one to the root. This is the weighted backtrack estimator (Kilby,
Slaney, Thiébaux, Walsh, "Estimating search tree size", 2006) with learned weights in place of equal ones.

It is an estimate. It assumes that the part which was not seen is like the part which was: early in a search
it may be wrong by orders of magnitude.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from tidemark.checks.interleave.errors import DivergenceError
from tidemark.checks.interleave.strategies.strategy import Remembering
from tidemark.checks.interleave.trees.work import WorkItem
from tidemark.models.simulation import Footprint


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

        ``way``: the nodes from the present leaf, which is done, to the root.
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


class TreeNode:
    """A node of the tree on the way to the present leaf.

    Attributes:
        enabled: labels of the events.
        current: place of the child that is being searched; -1 before the first.
        finished: number of leaves below each child that is finished.
        leaves: number of leaves found below the present child.
        footprint: footprint of the step to it, once it was taken.
    """

    __slots__ = ("current", "enabled", "finished", "footprint", "leaves")

    def __init__(self, enabled: Sequence[str], current: int = -1) -> None:
        self.enabled = tuple(enabled)
        self.current = current
        self.footprint: Footprint | None = None
        self.finished: list[int] = []
        self.leaves = 0

    def planned(self) -> int:
        """Return how many children after the present one are known to be tried."""
        return len(self.enabled) - self.current - 1

    def possible(self) -> int:
        """Return how many children after the present one may be tried."""
        return self.planned()

    def go_to(self, place: int) -> None:
        """Begin with the child at a place."""
        self.current = place
        self.footprint = None


N = TypeVar("N", bound=TreeNode)


class TreeWalk(Remembering, Generic[N]):
    """Depth-first walk of the subtree below a work item."""

    def __init__(self, item: WorkItem) -> None:
        self._base = item.picks
        self._stack: list[N] = []
        self._base_footprints: list[Footprint] = []
        self._depth = 0
        self._began = False
        self._estimator = Estimator()

    @abstractmethod
    def _advance(self, node: N) -> bool:
        """Go to the next child of the deepest node. False: its subtree is finished."""

    @abstractmethod
    def _grow(self, place: int, enabled: Sequence[str], last: Footprint | None) -> N | None:
        """Return the new node at a place of the stack, at its first child; None to give the execution up."""

    def new_execution(self) -> bool:
        """Go to the next leaf, in depth-first order."""
        self._depth = 0
        if not self._began:
            self._began = True
            return True
        while self._stack:
            node = self._stack[-1]
            node.finished.append(node.leaves)
            node.leaves = 0
            if self._advance(node):
                return True
            self._stack.pop()
            self._estimator.learn(len(node.enabled), node.finished)
            if self._stack:
                self._stack[-1].leaves = sum(node.finished)
        return False

    def left(self) -> float:
        """Estimate how many executions are left. Call it between executions only."""
        way = [
            Growth(len(node.enabled), node.finished, node.planned(), node.possible())
            for node in reversed(self._stack)
        ]
        return self._estimator.left(way)

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Follow the stack; below it, grow."""
        place = self._depth - len(self._base)
        if place <= 0:
            self._note_base(last)
        self._depth += 1
        if place < 0:
            return pick_of_base(self._base, enabled, self._depth - 1)
        if place < len(self._stack):
            node = self._stack[place]
            if node.enabled != tuple(enabled):
                raise DivergenceError(step=self._depth - 1, expected=node.enabled, seen=enabled)
            return node.current
        if place > 0:
            self._note(last)
        grown = self._grow(place, enabled, last)
        if grown is None:
            return None
        self._stack.append(grown)
        return grown.current

    def done(self, last: Footprint | None) -> None:
        """Keep the footprint of the last step, and count the leaf."""
        if self._stack:
            self._stack[-1].leaves = 1
        if self._depth > len(self._base):
            self._note(last)
        else:
            self._note_base(last)

    def known(self) -> list[Footprint]:
        """Return the footprints of the first steps of the next execution, as far as they are known."""
        if len(self._base_footprints) < len(self._base):
            return []
        found = list(self._base_footprints)
        for node in self._stack:
            if node.footprint is None:
                break
            found.append(node.footprint)
        return found

    def _picks(self, depth: int) -> tuple[int, ...]:
        """The choices that lead to the node at a depth of the stack."""
        return self._base + tuple(node.current for node in self._stack[:depth])

    def _note(self, last: Footprint | None) -> None:
        if self._stack and self._stack[-1].footprint is None:
            self._stack[-1].footprint = last

    def _note_base(self, last: Footprint | None) -> None:
        """Keep the footprint of the step before, which led towards the root of the work item."""
        if last is not None and len(self._base_footprints) == self._depth - 1:
            self._base_footprints.append(last)


def pick_of_base(picks: Sequence[int], enabled: Sequence[str], depth: int) -> int:
    """Return the choice at a depth on the way to a work item. Raises DivergenceError: there is none such."""
    if picks[depth] >= len(enabled):
        raise DivergenceError(step=depth, expected=(), seen=enabled)
    return picks[depth]
