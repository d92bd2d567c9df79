"""Exhaustive search that merges executions when they meet in the same declared state.

Where all steps are visible to a check, hardly any two of them are independent, and sleep sets gain little.
This mode prunes an execution that arrives in a declared state which was reached before; its futures are
covered there. Each (state, event) pair is executed and checked once.

What is claimed rests on a promise of the program: its declared state (`models.scheduled.snapshot`) determines
what can happen afterwards. The bounds of the result say so. The promise is audited: states of random
executions, which merge nothing, must all have been met, and outcomes and violations likewise. Sleep sets are
not combined with merging, since a merged execution may have been asleep for something that the first one was
not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from checks.interleave.errors import DivergenceError
from checks.interleave.strategy import Remembering, StateStrategy
from checks.interleave.work import WHOLE, WorkItem
from models.scheduled import Execution, Footprint, NamedFootprint


class _Node:
    __slots__ = ("current", "enabled", "footprint")

    def __init__(self, enabled: Sequence[str], current: int) -> None:
        self.enabled = tuple(enabled)
        self.current = current
        self.footprint: Footprint | None = None


@dataclass(slots=True)
class Met:
    """Declared states by digest.

    Attributes:
        elsewhere: states met in other parts of the tree. Each of them is expanded, or waits in a work item.
        here: states met in this part.
    """

    elsewhere: frozenset[bytes] = frozenset()
    here: set[bytes] = field(default_factory=set)

    def add(self, state: bytes) -> bool:
        """Add a state. Return whether it is new."""
        if state in self.here or state in self.elsewhere:
            return False
        self.here.add(state)
        return True


class MergingSearch(Remembering, StateStrategy):
    """Depth-first search of the subtree below a work item, each declared state being expanded once.

    Args:
        met: the states met so far.
        item: where to start. The events in its `sleep` were tried at its node already.
    """

    def __init__(self, met: Met, *, item: WorkItem = WHOLE) -> None:
        self._met = met
        self._base = item.picks
        self._tried = frozenset(label for label, _ in item.sleep)
        self._base_footprints: list[Footprint] = []
        self._stack: list[_Node] = []
        self._depth = 0
        self._began = False

    def new_execution(self) -> bool:
        """Go to the next untried event, in depth-first order."""
        self._depth = 0
        if not self._began:
            self._began = True
            return True
        while self._stack:
            node = self._stack[-1]
            place = self._next(node.enabled, node.current + 1, root=len(self._stack) == 1)
            if place is not None:
                node.current = place
                node.footprint = None
                return True
            self._stack.pop()
        return False

    def arrive(self, execution: Execution) -> bool:
        """Merge, unless the state is new or lies on the way to where the search goes on."""
        place = self._depth - len(self._base)
        if place < len(self._stack):
            return True
        state = execution.declared_state()
        if place == 0:
            # The node of a work item was met when the item was made; what was tried there is in the item.
            self._met.here.add(state)
            return True
        return self._met.add(state)

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Follow the stack; below it, take the first event."""
        place = self._depth - len(self._base)
        if place <= 0:
            self._note_base(last)
        self._depth += 1
        if place < 0:
            if self._base[place] >= len(enabled):
                raise DivergenceError(step=self._depth - 1, expected=(), seen=enabled)
            return self._base[place]
        if place < len(self._stack):
            node = self._stack[place]
            if node.enabled != tuple(enabled):
                raise DivergenceError(step=self._depth - 1, expected=node.enabled, seen=enabled)
            return node.current
        self._note(last)
        first = self._next(enabled, 0, root=place == 0)
        if first is None:
            return None
        self._stack.append(_Node(enabled, first))
        return first

    def done(self, last: Footprint | None) -> None:
        """Keep the footprint of the last step."""
        if self._depth > len(self._base):
            self._note(last)
        else:
            self._note_base(last)

    def known(self) -> list[Footprint]:
        """Return the footprints of the steps at the beginning of the next execution that were taken
        before.
        """
        if len(self._base_footprints) < len(self._base):
            return []
        found = list(self._base_footprints)
        for node in self._stack:
            if node.footprint is None:
                break
            found.append(node.footprint)
        return found

    def remaining(self) -> list[WorkItem]:
        """Return what is left after the present execution. Call it between executions only."""
        if not self._began:
            return [WorkItem(self._base, _tried(sorted(self._tried)))]
        found = []
        for depth, node in enumerate(self._stack):
            if self._next(node.enabled, node.current + 1, root=depth == 0) is None:
                continue
            tried = set(node.enabled[: node.current + 1]) | (self._tried if depth == 0 else set())
            picks = self._base + tuple(above.current for above in self._stack[:depth])
            found.append(WorkItem(picks, _tried(sorted(tried))))
        return found

    def _next(self, enabled: Sequence[str], start: int, *, root: bool) -> int | None:
        for place in range(start, len(enabled)):
            if not root or enabled[place] not in self._tried:
                return place
        return None

    def _note(self, last: Footprint | None) -> None:
        if self._stack and self._stack[-1].footprint is None:
            self._stack[-1].footprint = last

    def _note_base(self, last: Footprint | None) -> None:
        if last is not None and len(self._base_footprints) == self._depth - 1:
            self._base_footprints.append(last)


def _tried(labels: Sequence[str]) -> tuple[tuple[str, NamedFootprint], ...]:
    return tuple((label, NamedFootprint((), ())) for label in labels)
