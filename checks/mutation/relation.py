"""The transition relation of an instance as one small kernel per action.

A mutant shares all kernels but those of its wrong actions with the protocol that it is made from, so that
hundreds of mutants need one short compilation each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.native.codec import Block
from tidemark.models.native.kernel import Buffers, Kernel, compile_kernel
from tidemark.spec.language.spec import Action, Property, Spec

ROWS = 2048
"""States that are expanded together."""
MOST_SUCCESSORS = 1 << 18
"""Room for successors of one action in one call; with very many steps fewer states are expanded together."""


@dataclass(frozen=True)
class _Part(Instance):
    """An instance with some of its actions and claims. The layout of states is that of the whole."""

    whole: Instance | None = None
    actions: tuple[Action, ...] = ()
    properties: tuple[Property, ...] = ()

    @cached_property
    def spec(self) -> Spec:
        """The reduced protocol."""
        assert self.whole is not None
        return replace(self.whole.spec, actions=self.actions, properties=self.properties)


def _part(whole: Instance, actions: tuple[Action, ...], properties: tuple[Property, ...]) -> _Part:
    return _Part(whole.protocol, whole.bounds, whole.constants, whole.name, whole, actions, properties)


class ActionKernel:
    """One compiled action with the claims about its steps: transition invariants and its witnesses."""

    def __init__(
        self, whole: Instance, action: Action, claims: tuple[Property, ...], folder: Path | None
    ) -> None:
        self.kernel = compile_kernel(_part(whole, (action,), claims), folder=folder)
        self.claims = self.kernel.step_claims
        self.rows = max(16, min(ROWS, MOST_SUCCESSORS // max(1, self.kernel.plan.steps)))
        self.buffers = Buffers(self.kernel, self.rows)

    def clear(self) -> None:
        """Forget the counts and events of an earlier search."""
        for array in (self.buffers.stats, self.buffers.flags, self.buffers.seen):
            array[:] = 0

    def run(self, block: Block) -> Iterator[tuple[int, int]]:
        """Expand the block in portions: (first row, successors) with the results in ``buffers``."""
        for first in range(0, len(block), self.rows):
            yield first, self.kernel.run(block[first : first + self.rows], self.buffers)


class Library:
    """Compiled parts of all mutants of one instance, kept in memory; ``folder`` keeps them on disk too."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._actions: dict[tuple[object, ...], ActionKernel] = {}
        self._checkers: dict[tuple[object, ...], Kernel] = {}

    def action(self, whole: Instance, action: Action) -> ActionKernel:
        """The kernel of one action."""
        spec = whole.spec
        claims = tuple(
            prop
            for prop in spec.of_kind("transition_invariant", "reachable")
            if prop.kind == "transition_invariant" or prop.after == action.name
        )
        key = (spec.variables, action, claims)
        if key not in self._actions:
            self._actions[key] = ActionKernel(whole, action, claims, self.folder)
        return self._actions[key]

    def checker(self, whole: Instance) -> Kernel:
        """The kernel of the conditions on states: invariants and lemmas."""
        claims = whole.spec.of_kind("invariant", "lemma")
        key = (whole.spec.variables, claims)
        if key not in self._checkers:
            self._checkers[key] = compile_kernel(_part(whole, (), claims), folder=self.folder)
        return self._checkers[key]


class Relation:
    """All steps of an instance (of a protocol or of a mutant) and the claims about states and steps."""

    def __init__(self, instance: Instance, library: Library) -> None:
        self.instance = instance
        self.interpreter = Interpreter(instance)
        self.checker = library.checker(instance)
        self.parts = [library.action(instance, action) for action in instance.spec.actions]
        sizes = [part.kernel.plan.steps for part in self.parts]
        self.first_step = [sum(sizes[:number]) for number in range(len(sizes))]

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps; a step's number is its place here."""
        return self.interpreter.steps

    def claims(self) -> tuple[Property, ...]:
        """All claims, in declared order."""
        return self.instance.spec.properties

    def initial(self) -> Block:
        """The packed initial states."""
        return self.checker.codec.pack_all(self.interpreter.initial())

    def differs(self, other: Relation, states: Block) -> bool:
        """Do the two relations begin differently, or lead from one of the states to different ones?

        Only states within the bounds count. Both have the same variables.
        """
        mine = {a.name: p for a, p in zip(self.instance.spec.actions, self.parts, strict=True)}
        others = {a.name: p for a, p in zip(other.instance.spec.actions, other.parts, strict=True)}
        if set(mine) != set(others) or not np.array_equal(self.initial(), other.initial()):
            return True
        names = [name for name in mine if mine[name] is not others[name]]
        return any(_differ(mine[name], others[name], states) for name in names)


def _differ(one: ActionKernel, two: ActionKernel, states: Block) -> bool:
    one.clear()
    two.clear()
    for (_, count), (_, other) in zip(one.run(states), two.run(states), strict=True):
        if count != other:
            return True
        first, second = one.buffers, two.buffers
        for left, right in ((first.successors, second.successors), (first.parent, second.parent)):
            if not np.array_equal(left[:count], right[:count]):
                return True
        if not np.array_equal(first.step[:count], second.step[:count]):
            return True
    return False
