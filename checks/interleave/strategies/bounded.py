"""Exhaustive search of the executions that cost at most so much: few delays, or few preemptions.

Most bugs show with very few deviations from a natural order, so that a small bound finds them in trees that
are too large to be searched. A bounded search leaves the rest out: it can refute, and never passes.
"""

from abc import abstractmethod
from collections.abc import Sequence

from tidemark.checks.interleave.errors import DivergenceError
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.simulation import Event, Execution, Footprint, Order


class _Node:
    __slots__ = ("costs", "current", "enabled", "left")

    def __init__(self, enabled: Sequence[str], costs: Sequence[int], left: int) -> None:
        self.enabled = tuple(enabled)
        self.costs = costs
        self.left = left
        self.current = -1

    def advance(self) -> bool:
        """Go to the next child that can be paid for."""
        for place in range(self.current + 1, len(self.enabled)):
            if self.costs[place] <= self.left:
                self.current = place
                return True
        return False


class BoundedSearch(StateStrategy):
    """Depth-first search of the executions whose choices cost at most ``bound`` in all.

    Attributes:
        left_out: choices that could not be paid for.
    """

    unit = "deviations"

    def __init__(self, bound: int) -> None:
        if bound < 0:
            raise BadInputError(f"a bound of {bound} {self.unit}", remedy="give 0 or a positive number")
        self.bound = bound
        self.left_out = 0
        self._stack: list[_Node] = []
        self._depth = 0
        self._costs: Sequence[int] = ()
        self._began = False

    def __str__(self) -> str:
        return f"only orders with at most {self.bound} {self.unit}; {self.left_out} choices were left out"

    @abstractmethod
    def costs(self, execution: Execution, events: Sequence[Event], path: Sequence[int]) -> Sequence[int]:
        """Return what each of the enabled events costs after the path of earlier picks. Some cost nothing."""

    def new_execution(self) -> bool:
        """Go to the next leaf, in depth-first order."""
        self._depth = 0
        if not self._began:
            self._began = True
            return True
        while self._stack and not self._stack[-1].advance():
            self._stack.pop()
        return bool(self._stack)

    def arrive(self, execution: Execution) -> bool:
        """Price the enabled events of a new node."""
        if self._depth == len(self._stack):
            path = [node.current for node in self._stack]
            self._costs = self.costs(execution, execution.enabled(), path)
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Follow the stack; below it, take the first event that can be paid for."""
        del last
        if self._depth < len(self._stack):
            node = self._stack[self._depth]
            if node.enabled != tuple(enabled):
                raise DivergenceError(step=self._depth, expected=node.enabled, seen=enabled)
        else:
            above = self._stack[-1] if self._stack else None
            left = above.left - above.costs[above.current] if above else self.bound
            node = _Node(enabled, self._costs, left)
            self.left_out += sum(1 for cost in self._costs if cost > left)
            if not node.advance():
                return None
            self._stack.append(node)
        self._depth += 1
        return node.current

    def done(self, last: Footprint | None) -> None:
        """Nothing is learned."""


class DelayBounded(BoundedSearch):
    """Passing over an enabled event is a delay. A fault is no delay: its own budget bounds it."""

    unit = "delays"

    def costs(self, execution: Execution, events: Sequence[Event], path: Sequence[int]) -> Sequence[int]:
        """The default choice is free, the next one costs 1, and so on."""
        del execution, path
        return [0 if event.fault else place for place, event in enumerate(events)]


class PreemptionBounded(BoundedSearch):
    """Leaving a process while it could go on is a preemption; in a free order, leaving a task."""

    unit = "preemptions"

    def __init__(self, bound: int) -> None:
        super().__init__(bound)
        self._actors: list[list[str]] = []

    def costs(self, execution: Execution, events: Sequence[Event], path: Sequence[int]) -> Sequence[int]:
        """Staying costs nothing; leaving costs nothing if one cannot stay."""
        del self._actors[len(path) :]
        actors = [_actor(execution, event) for event in events]
        before = self._actors[-1][path[-1]] if path else None
        self._actors.append(actors)
        leaving = int(before in actors)
        return [
            0 if actor == before or event.fault else leaving
            for actor, event in zip(actors, events, strict=True)
        ]


def _actor(execution: Execution, event: Event) -> str:
    relaxed = execution.program.settings.order is Order.RELAXED
    return event.owner if relaxed and event.owner else event.lane.title
