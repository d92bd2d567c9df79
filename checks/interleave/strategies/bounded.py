"""Exhaustive search of the executions that cost at most so much: few delays, or few preemptions.

Most bugs show with very few deviations from a natural order, so that a small bound finds them in trees that
are too large to be searched. A bounded search leaves the rest out: what holds holds within the bound only,
and the bound is a part of the verdict.
"""

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from tidemark.checks.interleave.errors import DivergenceError
from tidemark.checks.interleave.strategies.strategy import Remembering, StateStrategy
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.simulation import Event, Execution, Footprint, Order
from tidemark.models.simulation.snapshot import Places, places_of, plain, recall


class BoundedNode:
    """A node on the way to the present leaf.

    Attributes:
        left: how much the choices from here on may cost.
        footprint: footprint of the present step, once it was taken.
        places: where tasks wait here, for a search that looks at declared states.
    """

    __slots__ = ("costs", "current", "enabled", "footprint", "left", "places")

    def __init__(self, enabled: Sequence[str], costs: Sequence[int], left: int, places: Places) -> None:
        self.enabled = tuple(enabled)
        self.costs = costs
        self.left = left
        self.places = places
        self.current = -1
        self.footprint: Footprint | None = None

    def advance(self) -> bool:
        """Go to the next child that can be paid for."""
        self.footprint = None
        for place in range(self.current + 1, len(self.enabled)):
            if self.costs[place] <= self.left:
                self.current = place
                return True
        return False


class BoundedSearch(StateStrategy, Remembering):
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
        self._stack: list[BoundedNode] = []
        self._depth = 0
        self._costs: Sequence[int] = ()
        self._places: Places = ()
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
        if self._depth < len(self._stack):
            node = self._stack[self._depth]
            if node.enabled != tuple(enabled):
                raise DivergenceError(step=self._depth, expected=node.enabled, seen=enabled)
        else:
            self._note(last)
            left = self._left()
            node = BoundedNode(enabled, self._costs, left, self._places)
            self.left_out += sum(1 for cost in self._costs if cost > left)
            if not node.advance():
                return None
            self._stack.append(node)
        self._depth += 1
        return node.current

    def known(self) -> list[Footprint]:
        """Return the steps of the next execution that were taken before."""
        taken = itertools.takewhile(lambda one: one is not None, (node.footprint for node in self._stack))
        return [footprint for footprint in taken if footprint is not None]

    def done(self, last: Footprint | None) -> None:
        """Keep the footprint of the last step."""
        self._note(last)

    def _left(self) -> int:
        """Return how much the choices below the stack may cost."""
        above = self._stack[-1] if self._stack else None
        return above.left - above.costs[above.current] if above else self.bound

    def _note(self, last: Footprint | None) -> None:
        if self._stack and self._stack[-1].footprint is None:
            self._stack[-1].footprint = last


class _Order(NamedTuple):
    """In which order events are due.

    Attributes:
        due: labels of the events that were not delayed, the oldest first, and then of those that were.
        late: those that were, in the order of their delays.
        labels: all, by place.
    """

    due: tuple[str, ...]
    late: tuple[str, ...]
    labels: tuple[str, ...]

    def after(self, place: int) -> tuple[str, ...]:
        """Return what is late after the event at a place: what was passed over is due last."""
        taken = self.labels[place]
        if taken not in self.due:
            return self.late
        passed = self.due[: self.due.index(taken)]
        return (*(label for label in self.late if label not in passed and label != taken), *passed)


class DelayBounded(BoundedSearch):
    """Passing over the event that is due is a delay: it is due after all others then (Emmi, Qadeer,
    Rakamaric 2011). So one delay holds an event up for any time. A fault is no delay: its own budget bounds
    it.
    """

    unit = "delays"

    def __init__(self, bound: int) -> None:
        super().__init__(bound)
        self._orders: list[_Order] = []

    def costs(self, execution: Execution, events: Sequence[Event], path: Sequence[int]) -> Sequence[int]:
        """What is due is free, the next one costs 1, and so on."""
        del execution, self._orders[len(path) :]
        late = self._orders[-1].after(path[-1]) if path else ()
        natural = [event.label for event in events if not event.fault]
        still = tuple(label for label in late if label in natural)
        due = (*(label for label in natural if label not in still), *still)
        self._orders.append(_Order(due, still, tuple(event.label for event in events)))
        price = {label: number for number, label in enumerate(due)}
        return [0 if event.fault else price[event.label] for event in events]


class DelaysBetweenStates(DelayBounded):
    """The same executions; one is given up where another has come with as many delays left.

    Met are equal declared states in which the same events are due in the same order. Rests on the promise of
    the program that goes with merged states.

    Attributes:
        states: digests of the declared states.
    """

    def __init__(self, bound: int) -> None:
        super().__init__(bound)
        self.states: set[bytes] = set()
        self._met: dict[tuple[bytes, tuple[str, ...], int], int] = {}

    def arrive(self, execution: Execution) -> bool:
        """Price the events of a new node, unless it was met with as much left."""
        if self._depth < len(self._stack):
            if self._depth == len(self._stack) - 1:
                recall(execution.world, self._stack[-1].places)
            return True
        super().arrive(execution)
        state, order, left = execution.declared_state(), self._orders[-1], self._left()
        self.states.add(state)
        key = (state, tuple([plain(label) for label in order.due]), len(order.late))
        if self._met.get(key, -1) >= left:
            return False
        self._met[key] = left
        self._places = places_of(execution.world)
        return True


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
