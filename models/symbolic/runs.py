"""Runs of a bounded instance as one growing formula: bounded model checking, shortest run first."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.symbolic import bits
from tidemark.models.symbolic.bits import Bit
from tidemark.models.symbolic.finite import Move, SymbolicInstance, SymbolicState
from tidemark.models.symbolic.hints import instance_in, is_true, new_solver
from tidemark.models.symbolic.obligations import closed
from tidemark.models.symbolic.step import OneStep, as_formula
from tidemark.spec.language.spec import Property


@dataclass(frozen=True)
class SymbolicRun:
    """A run of an instance from an initial state: one more state than steps."""

    instance: Instance
    states: tuple[State, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Searched:
    """The extent of a search for runs. ``depth``: every run of up to that many steps was covered."""

    depth: int
    found: Mapping[str, SymbolicRun]
    """The shortest run for each goal that was reached."""
    stopped: str = ""
    """Why it stopped early; empty if it reached all goals or the requested depth."""


class Runs:
    """All runs of an instance up to a depth, unrolled step by step."""

    def __init__(self, instance: Instance) -> None:
        self.space = SymbolicInstance(instance)
        self._states: list[SymbolicState] = []
        self._any = OneStep(self.space)
        first, condition = self.space.initial()
        self._solver = new_solver(self.space.conditions)
        self._solver.add(condition)
        self._states.append(first)

    @property
    def depth(self) -> int:
        """Number of steps unrolled so far."""
        return len(self._states) - 1

    def extend(self) -> None:
        """One more step."""
        here = self._states[-1]
        known = len(self.space.conditions)
        there = self.space.state(f"@{len(self._states)}")
        self._solver.add(*(item for item in self.space.conditions[known:] if item is not True))
        pairs = [(flag, z3.Bool(f"take {i} @{self.depth}")) for i, flag in enumerate(self._any.taken)]
        pairs += _renaming(self._any.before, here) + _renaming(self._any.after, there)
        self._solver.add(z3.substitute(self._any.relation, *pairs))
        self._states.append(there)

    def violates(self, prop: Property) -> Bit:
        """The condition that the last state (for a transition invariant: the last step) breaks a property."""
        last = self._states[-1]
        if prop.kind != "transition_invariant":
            return bits.invert(self.space.holds(closed(prop), last))
        if self.depth == 0:
            return False
        return bits.invert(self.space.holds(closed(prop), self._states[-2], last))

    def falls(self) -> Bit:
        """The condition that a step from the last state makes a natural number negative."""
        falls = bits.some(bits.both(move.enabled, bits.some(move.below.values())) for move in self._any.moves)
        if isinstance(falls, bool):
            return falls
        return z3.substitute(falls, *_renaming(self._any.before, self._states[-1]))

    def is_at(self, state: State) -> Bit:
        """The condition that the last state is a given one."""
        parts = []
        for variable, value in zip(self.space.spec.variables, state, strict=True):
            cells = self.space.cells(variable.type)
            values = value if isinstance(value, tuple) else (value,)
            parts += [
                self._states[-1][variable.name][cell].get(item, False)
                for cell, item in zip(cells, values, strict=True)
            ]
        return bits.every(parts)

    def check(self, condition: Bit, *, seconds: float) -> tuple[str, SymbolicRun | None]:
        """Does the end of a run of the present depth satisfy the condition? ``yes``, ``no``, ``unknown``."""
        if condition is False:
            return "no", None
        self._solver.push()
        try:
            self._solver.set("timeout", max(1, int(seconds * 1000)))
            self._solver.add(condition)
            result = self._solver.check()
            if result == z3.sat:
                return "yes", self._decode(self._solver.model())
            return ("no" if result == z3.unsat else "unknown"), None
        finally:
            self._solver.pop()

    def _decode(self, model: Any) -> SymbolicRun:
        states = tuple(self.space.decode(model, state) for state in self._states)
        steps = tuple(self._step(model, number).step for number in range(self.depth))
        return SymbolicRun(instance_in(self.space, model), states, steps)

    def _step(self, model: Any, number: int) -> Move:
        flags = (z3.Bool(f"take {i} @{number}") for i in range(len(self._any.moves)))
        return next(move for move, flag in zip(self._any.moves, flags, strict=True) if is_true(model, flag))


def _renaming(old: SymbolicState, new: SymbolicState) -> list[tuple[Any, Any]]:
    """Pairs of symbols: those of ``old`` (which are all atoms) and what they are in ``new``."""
    pairs = []
    for name, cells in old.items():
        for cell, cases in cells.items():
            for value, bit in cases.items():
                if not isinstance(bit, bool) and not z3.is_not(bit):
                    pairs.append((bit, as_formula(new[name][cell].get(value, False))))
    return pairs


Goal = Callable[["Runs"], Bit]
"""A condition on the end of the unrolled run."""


def search(instance: Instance, goals: Mapping[str, Goal], *, depth: int, seconds: float) -> Searched:
    """For each goal the shortest run of up to ``depth`` steps which ends in it, within ``seconds`` in all."""
    ends = time.perf_counter() + seconds
    unrolled = Runs(instance)
    found: dict[str, SymbolicRun] = {}
    while True:
        for name, goal in goals.items():
            if name in found:
                continue
            left = ends - time.perf_counter()
            answer, run = unrolled.check(goal(unrolled), seconds=left) if left > 0 else ("unknown", None)
            if run is not None:
                found[name] = run
            elif answer == "unknown":
                why = f"the limit of {seconds:g} s was reached at depth {unrolled.depth}"
                return Searched(unrolled.depth - 1, found, why)
        if unrolled.depth >= depth or len(found) == len(goals):
            return Searched(unrolled.depth, found)
        unrolled.extend()
