"""Exhaustive search that merges executions when they meet in the same declared state.

Where all steps are visible to a check, hardly any two of them are independent, and sleep sets gain little.
This mode prunes an execution that arrives in a declared state which was reached before; its futures are
covered there. Each (state, event) pair is executed and checked once.

What is claimed rests on a promise of the program: its declared state
(``tidemark.models.simulation.snapshot``) determines what can happen afterwards. The bounds of the result say
so. The promise is audited: states of random executions, which merge nothing, must all have been met, and
outcomes and violations likewise. Sleep sets are not combined with merging, since a merged execution may have
been asleep for something that the first one was not.

Exhaustive search that merges executions when the same callbacks have run in the same order.

It is ``MergingSearch`` with another state: the history of a process and what its loop holds
(``tidemark.models.simulation.loop.history``). Nothing is promised by the program but that its code is
deterministic, which every search checks on a sample. The audit is that of declared states.

Whether the clock belongs to the state depends on the program: if some execution asks what time it is, the
search without the clock is given up, and one with it begins.

Exhaustive search that merges executions when they meet with equal memories
(``tidemark.models.simulation.loop.memory``): a task that polls comes back to where it was, and its rounds end
there. So the runs that go round for ever are not run. A state from which every run does so is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.checks.interleave.trees.tree import TreeNode, TreeWalk
from tidemark.checks.interleave.trees.work import WHOLE, WorkItem
from tidemark.models.simulation import Execution, Footprint, NamedFootprint, Observation
from tidemark.models.simulation.snapshot import Places, places_of, recall


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


class MergingNode(TreeNode):
    """A node with what was observed there, and what is known of the places at which tasks wait."""

    __slots__ = ("observed", "places")

    observed: Observation | None
    places: Places


class MergingSearch(TreeWalk[MergingNode], StateStrategy):
    """Depth-first search of the subtree below a work item, each declared state being expanded once.

    Args:
        met: the states met so far.
        item: where to start. The events in its ``sleep`` were tried at its node already.
    """

    def __init__(self, met: Met, *, item: WorkItem = WHOLE) -> None:
        super().__init__(item)
        self.met = met
        self._tried = frozenset(label for label, _ in item.sleep)
        self._observed: Observation | None = None
        self._places: Places = ()

    def _advance(self, node: MergingNode) -> bool:
        place = self._next(node.enabled, node.current + 1, root=len(self._stack) == 1)
        if place is not None:
            node.go_to(place)
        return place is not None

    def _grow(self, place: int, enabled: Sequence[str], last: Footprint | None) -> MergingNode | None:
        """Take the first event that was not tried."""
        del last
        first = self._next(enabled, 0, root=place == 0)
        return None if first is None else self._placed(MergingNode(enabled, first))

    def _placed(self, node: MergingNode) -> MergingNode:
        """Return the node of the state in which an execution has arrived."""
        node.observed, node.places = self._observed, self._places
        return node

    def left(self) -> float:
        """Say nothing: what is left has mostly been met elsewhere, so that it is not like what was seen."""
        return 0.0

    def arrive(self, execution: Execution) -> bool:
        """Merge, unless the state is new or lies on the way to where the search goes on."""
        place = self._depth - len(self._base)
        if place < len(self._stack):
            self._on_the_way(place, execution)
            return True
        state = self.state_of(execution)
        if place == 0:
            # The node of a work item was met when the item was made; what was tried there is in the item.
            self.met.here.add(state)
        elif not self.met.add(state):
            return False
        self._observed, self._places = execution.observation(), places_of(execution.world)
        return True

    def _on_the_way(self, place: int, execution: Execution) -> None:
        """At the last node on the way, say what is known, so that nothing is computed again."""
        if 0 <= place == len(self._stack) - 1:
            execution.be_at(self._stack[place].observed)
            recall(execution.world, self._stack[place].places)

    def state_of(self, execution: Execution) -> bytes:
        """Return the digest of what is merged."""
        return execution.declared_state()

    def remaining(self) -> list[WorkItem]:
        """Return what is left after the present execution. Call it between executions only."""
        if not self._began:
            return [WorkItem(self._base, _tried(sorted(self._tried)))]
        found = []
        for depth, node in enumerate(self._stack):
            if self._next(node.enabled, node.current + 1, root=depth == 0) is None:
                continue
            tried = set(node.enabled[: node.current + 1]) | (self._tried if depth == 0 else set())
            found.append(WorkItem(self._picks(depth), _tried(sorted(tried))))
        return found

    def _next(self, enabled: Sequence[str], start: int, *, root: bool) -> int | None:
        for place in range(start, len(enabled)):
            if not root or enabled[place] not in self._tried:
                return place
        return None


def _tried(labels: Sequence[str]) -> tuple[tuple[str, NamedFootprint], ...]:
    return tuple((label, NamedFootprint((), ())) for label in labels)


class HistorySearch(MergingSearch):
    """Depth-first search of the subtree below a work item, each history being continued once.

    Args:
        timed: the clock is a part of the state.
    """

    def __init__(self, met: Met, *, timed: bool, item: WorkItem = WHOLE) -> None:
        super().__init__(met, item=item)
        self.timed = timed
        self.clock_read = False
        self._execution: Execution | None = None

    @property
    def in_vain(self) -> bool:
        """Whether the search has to begin again, with the clock in its states."""
        return self.clock_read and not self.timed

    def new_execution(self) -> bool:
        """Go to the next leaf, unless the search leads to nothing new."""
        return not self.in_vain and super().new_execution()

    def arrive(self, execution: Execution) -> bool:
        """Merge as ``MergingSearch`` does."""
        self._execution = execution
        return super().arrive(execution)

    def state_of(self, execution: Execution) -> bytes:
        """Return the digest of the history and of what the loop holds."""
        return execution.history_state(timed=self.timed)

    def done(self, last: Footprint | None) -> None:
        """Note whether the clock was looked at."""
        super().done(last)
        if self._execution is not None:
            self.clock_read = self.clock_read or self._execution.clock_read
            self._execution = None


class MemorySearch(HistorySearch):
    """Depth-first search in which each memory is continued once.

    Attributes:
        opaque: types of objects of which the contents could not be seen.
        round: the choices of an execution that came back to one of its own states, and how many of them are
            that round: the longest one.
    """

    def __init__(self, met: Met, *, timed: bool) -> None:
        super().__init__(met, timed=timed)
        self.opaque: set[str] = set()
        self.round: tuple[tuple[int, ...], int] = ((), 0)
        self._digest = b""
        self._path: list[bytes] = []
        self._before: dict[bytes, set[bytes]] = {}
        self._ways: dict[bytes, tuple[int, ...]] = {}
        self._ends: set[bytes] = set()
        self._merged = False

    def state_of(self, execution: Execution) -> bytes:
        """Return the digest of the memory."""
        self._digest = execution.memory_state(timed=self.timed)
        self.opaque |= {execution.opaque} - {""}
        return self._digest

    def arrive(self, execution: Execution) -> bool:
        """Merge as the others do, and keep which state led to which."""
        place = self._depth
        again = place < len(self._stack)
        goes_on = super().arrive(execution)
        self._merged = not goes_on
        if not again:
            self._ways.setdefault(self._digest, self._picks(place))
            self._before.setdefault(self._digest, set()).update(self._path[place - 1 : place])
            if self._merged and self._digest in self._path[:place]:
                length = place - self._path.index(self._digest)
                self.round = max(self.round, (self._picks(place), length), key=lambda one: one[1])
            self._path[place:] = [self._digest]
        return goes_on

    def done(self, last: Footprint | None) -> None:
        """Keep from which state an execution came to its end."""
        if self._execution is not None and not self._merged and not self._execution.world.enabled():
            self._ends.update(self._path[self._depth - 1 : self._depth])
        super().done(last)

    def endless(self) -> tuple[int, ...] | None:
        """Return the choices that lead to where no execution comes to an end any more; None if it always may.
        Ask after a complete search.
        """
        ending, left = set(self._ends), list(self._ends)
        while left:
            new = self._before[left.pop()] - ending
            ending |= new
            left += new
        return min((way for state, way in self._ways.items() if state not in ending), key=len, default=None)
