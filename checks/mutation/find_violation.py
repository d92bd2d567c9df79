"""Breadth-first search of a relation for anything that breaks a claim, stopped as soon as one is broken."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from tidemark.checks.mutation.relation import ROWS, ActionKernel, Relation
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.native.codec import State
from tidemark.models.native.kernel import Buffers
from tidemark.models.native.search.table import Visited


@dataclass(frozen=True, kw_only=True)
class MutantLimits:
    """Where a search stops without a decision."""

    states: int = 2_000_000
    seconds: float = 60.0


@dataclass(frozen=True)
class Find:
    """Where a claim was decided: a state (by number), or the step from it to ``target``."""

    state: int
    step: int | None = None
    target: tuple[int, ...] = ()


@dataclass
class Findings:
    """What a search found. ``stopped`` is empty if all states within the bounds were visited.

    ``broken``: invariants, lemmas and transition invariants with the place of their first violation;
    ``reached``: witnesses; ``fired``: actions that were taken within the bounds; each with its first place.
    """

    relation: Relation
    visited: Visited
    initial: int
    broken: dict[str, Find] = field(default_factory=dict)
    reached: dict[str, Find] = field(default_factory=dict)
    fired: dict[str, Find] = field(default_factory=dict)
    stopped: str = ""

    @property
    def complete(self) -> bool:
        """Were all states visited?"""
        return not self.stopped

    def run_to(self, find: Find) -> tuple[State, list[Step]]:
        """A shortest run to the place: its initial state and its steps."""
        number, steps = find.state, list[Step]()
        while number >= self.initial:
            steps.append(self.relation.steps[self.visited.step(number)])
            number = self.visited.parent(number)
        steps.reverse()
        if find.step is not None:
            steps.append(self.relation.steps[find.step])
        return self.relation.checker.codec.unpack(self.visited.states[number]), steps


def find_violations(relation: Relation, *, stop_on: Collection[str], limits: MutantLimits) -> Findings:
    """Visit states until a claim of ``stop_on`` is broken, all are visited, or a limit is met."""
    return _Hunt(relation, frozenset(stop_on), limits).run()


class _Hunt:
    def __init__(self, relation: Relation, stop_on: frozenset[str], limits: MutantLimits) -> None:
        self.relation, self.stop_on, self.limits = relation, stop_on, limits
        room = limits.states + ROWS * max(1, len(relation.steps))
        self.visited = Visited(relation.checker.words, len(relation.steps), room)
        rows = relation.initial()
        self.visited.add_initial(rows)
        self.found = Findings(relation, self.visited, len(rows))
        self.ends = time.perf_counter() + limits.seconds
        for part in relation.parts:
            part.clear()

    def run(self) -> Findings:
        """The search; a level is finished before the next begins, so that runs are shortest."""
        found, first, level = self.found, 0, self.visited.count
        self._check_states(0)
        if not self.visited.count:
            found.stopped = "there is no initial state"
        while first < self.visited.count and not found.stopped:
            last = min(first + ROWS, level)
            self._expand(first, last)
            first = last
            if first == level:
                level = self.visited.count
            found.stopped = self._why_stop(done=first == self.visited.count)
        return found

    def _why_stop(self, *, done: bool) -> str:
        if self.stop_on & self.found.broken.keys():
            return "a claim is broken"
        if done:
            return ""
        if self.visited.count > self.limits.states:
            return f"the limit of {self.limits.states} states was reached"
        if time.perf_counter() > self.ends:
            return f"the limit of {self.limits.seconds:g} s was reached"
        return ""

    def _expand(self, first: int, last: int) -> None:
        known = self.visited.count
        actions = self.relation.instance.spec.actions
        block = self.visited.states[first:last]
        for action, part, offset in zip(actions, self.relation.parts, self.relation.first_step, strict=True):
            buffers = part.buffers
            for row, count in part.run(block):
                buffers.step[:count] += offset
                self._note_steps(part, first + row)
                if count:
                    if action.name not in self.found.fired:
                        self.found.fired[action.name] = _place(buffers, 0, first + row)
                    self.visited.absorb(
                        buffers.successors, buffers.parent, buffers.step, count=count, base=first + row
                    )
        self._check_states(known)

    def _note_steps(self, part: ActionKernel, base: int) -> None:
        """Events are numbered by the kernel: which claim, and the successor at which it was first decided."""
        buffers = part.buffers
        for index in np.flatnonzero(buffers.seen).tolist():
            claim, at = part.claims[index], int(buffers.where[index])
            places = self.found.reached if claim.kind == "reachable" else self.found.broken
            if claim.id not in places:
                places[claim.id] = _place(buffers, at, base)

    def _check_states(self, known: int) -> None:
        checker, fresh = self.relation.checker, self.visited.states[known:]
        if not len(fresh) or not checker.state_claims:
            return
        marks = checker.check(fresh)
        if not marks.any():
            return
        for index, claim in enumerate(checker.state_claims):
            if claim.id not in self.found.broken:
                rows = np.flatnonzero(marks[:, index // 64] & np.uint64(1 << index % 64))
                if len(rows):
                    self.found.broken[claim.id] = Find(known + int(rows[0]))


def _place(buffers: Buffers, at: int, base: int) -> Find:
    """The step to successor number ``at``."""
    return Find(base + int(buffers.parent[at]), int(buffers.step[at]), tuple(buffers.successors[at].tolist()))
