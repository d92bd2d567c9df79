r"""Fair cycles: sets of states in which a run can stay for ever without breaking a fairness assumption, and
one such run.

Fairness applies to each action with each value of its parameters, as in TLA+'s ``\A p: WF_vars(A(p))``: a
weakly fair step that is enabled for ever is taken, a strongly fair one that is enabled again and again is
taken again and again. A run may also stutter for ever where no fair step is enabled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidemark.models.native.graph import Graph, Mask, bit_numbers, components, reach, summarise

Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class Fairness:
    """Numbers of the fair steps; a strongly fair one is not repeated among the weak ones."""

    weak: tuple[int, ...]
    strong: tuple[int, ...]

    @property
    def steps(self) -> tuple[int, ...]:
        """All of them, weak ones first."""
        return self.weak + self.strong


@dataclass(frozen=True)
class Cycle:
    """A walk through ``states`` by ``steps`` back to its first state, where it stutters without steps."""

    states: tuple[int, ...]
    steps: tuple[int, ...]


class FairSearch:
    """Looks for fair cycles in parts of one graph, under one fairness."""

    def __init__(self, graph: Graph, fairness: Fairness) -> None:
        self.graph, self.fairness = graph, fairness
        self.enabled = graph.enabled(fairness.steps)
        self.bit_of = bit_numbers(fairness.steps, graph.result.kernel.plan.steps)
        self.weak = self._mask(range(len(fairness.weak)))
        self.strong = self._mask(range(len(fairness.weak), len(fairness.steps)))

    def _mask(self, bits: Sequence[int]) -> Bits:
        mask = np.zeros(self.enabled.shape[1], dtype=np.uint64)
        for bit in bits:
            mask[bit // 64] |= np.uint64(1 << bit % 64)
        return mask

    def stuttering_state(self, allowed: Mask) -> int | None:
        """The first allowed state in which a run may stutter for ever."""
        still = allowed & ~(self.enabled & (self.weak | self.strong)).any(axis=1)
        found = np.flatnonzero(still)
        return int(found[0]) if len(found) else None

    def component(self, allowed: Mask) -> Mask | None:
        """The states of a part in which a run can cycle for ever, fairly; None if there is none. A component
        in which a weakly fair step is always enabled and never taken has no fair cycle. Where a strongly fair
        step is enabled and never taken, a fair cycle avoids the states that enable it: these are removed.
        """
        graph = self.graph
        while allowed.any():
            own, total = components(graph.first, graph.target, allowed)
            some, every, taken = summarise(
                (graph.first, graph.target, graph.step), own, total, self.enabled, self.bit_of
            )
            weakly = ~(every & ~taken & self.weak).any(axis=1)
            owed = some & ~taken & self.strong
            fair = weakly & ~owed.any(axis=1)
            if fair.any():
                members = np.flatnonzero((own >= 0) & fair[own])
                return np.asarray(own == own[members[0]])
            inside = (own >= 0) & weakly[own]
            allowed = inside & ~(self.enabled & owed[own]).any(axis=1)
        return None

    def cycle(self, part: Mask, start: int) -> Cycle:
        """A fair cycle through ``start`` in a part found by ``component``."""
        walk = _Walk(self.graph, part, start)
        if not walk.moves():
            return Cycle((start,), ())
        while True:
            owed = self._owed(walk)
            if owed is not None:
                walk.satisfy(owed, self._without(owed))
            elif walk.closed:
                return Cycle(tuple(walk.states[:-1]), tuple(walk.steps))
            else:
                walk.close()  # states on the way back may leave other steps unsatisfied

    def _owed(self, walk: _Walk) -> int | None:
        """A fair step that the walk does not satisfy yet."""
        bits = self.enabled[np.array(walk.states)]
        taken = self._mask([int(self.bit_of[step]) for step in walk.steps if self.bit_of[step] >= 0])
        weak = np.bitwise_and.reduce(bits, axis=0) & self.weak
        strong = np.bitwise_or.reduce(bits, axis=0) & self.strong
        owed = (weak | strong) & ~taken
        for number, step in enumerate(self.fairness.steps):
            if int(owed[number // 64]) >> (number % 64) & 1:
                return step
        return None

    def _without(self, step: int) -> Mask | None:
        """States that do not enable a weakly fair step; None for a strongly fair one, which must be taken."""
        if step not in self.fairness.weak:
            return None
        bit = int(self.bit_of[step])
        return np.asarray(self.enabled[:, bit // 64] & np.uint64(1 << bit % 64) == 0)


class _Walk:
    """A walk inside a strongly connected part, extended goal by goal."""

    def __init__(self, graph: Graph, part: Mask, start: int) -> None:
        self.graph, self.part = graph, part
        self.states: list[int] = [start]
        self.steps: list[int] = []

    @property
    def closed(self) -> bool:
        """Has it moved and come back?"""
        return len(self.states) > 1 and self.states[-1] == self.states[0]

    def _edges(self, state: int) -> range:
        return range(int(self.graph.first[state]), int(self.graph.first[state + 1]))

    def moves(self) -> bool:
        """Does any edge stay in the part?"""
        return any(self.part[self.graph.target[edge]] for edge in self._edges(self.states[0]))

    def satisfy(self, step: int, without: Mask | None) -> None:
        """Move to the nearest state that does not enable the step, or take the step, whichever is nearer."""
        candidates = np.flatnonzero(self.graph.step == step)
        sources = sources_of(self.graph, candidates)
        inside = self.part[sources] & self.part[self.graph.target[candidates]]
        goals = np.zeros(self.graph.states, dtype=np.bool_)
        goals[sources[inside]] = True
        if without is not None:
            goals |= without & self.part
        self._to(goals)
        here = self.states[-1]
        if without is None or not without[here]:
            taken = [
                e for e in self._edges(here) if self.graph.step[e] == step and self.part[self.graph.target[e]]
            ]
            self._over(taken[0])

    def close(self) -> None:
        """Walk back to the start, by one edge at least."""
        if not self.steps:
            self._over(next(e for e in self._edges(self.states[0]) if self.part[self.graph.target[e]]))
        goals = np.zeros(self.graph.states, dtype=np.bool_)
        goals[self.states[0]] = True
        self._to(goals)

    def _over(self, edge: int) -> None:
        self.steps.append(int(self.graph.step[edge]))
        self.states.append(int(self.graph.target[edge]))

    def _to(self, goals: Mask) -> None:
        """The shortest path to one of the goals."""
        here = self.states[-1]
        if goals[here]:
            return
        via, order = reach(self.graph.first, self.graph.target, self.part, np.array([here], dtype=np.int32))
        goal = int(order[np.flatnonzero(goals[order])[0]])
        for edge in walk_back(self.graph, via, goal):
            self._over(edge)


def sources_of(graph: Graph, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """The states from which edges lead."""
    return np.asarray(np.searchsorted(graph.first, edges, side="right") - 1)


def walk_back(graph: Graph, via: NDArray[np.int64], goal: int) -> list[int]:
    """Edges from a source of ``reach`` to ``goal``."""
    edges: list[int] = []
    state = goal
    while via[state] >= 0:
        edges.append(int(via[state]))
        state = int(np.searchsorted(graph.first, via[state], side="right")) - 1
    return edges[::-1]
