"""A kernel that is composed of one compiled part per action.

Protocols that differ in one action share all other parts, so that hundreds of mutants need one short
compilation each. Results and their order equal those of the kernel that is compiled as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tidemark.models.instance import Instance
from tidemark.models.native.codec import Block
from tidemark.models.native.codegen.module import plan
from tidemark.models.native.kernel import Buffers, Kernel, compile_kernel
from tidemark.spec.language.spec import Action, Property, Spec


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


class PartsLibrary:
    """The compiled parts of variants of one instance, kept in memory."""

    def __init__(self) -> None:
        self._parts: dict[tuple[object, ...], Kernel] = {}

    def action(self, whole: Instance, action: Action) -> Kernel:
        """One action with the claims about its steps: transition invariants and its witnesses."""
        claims = tuple(
            prop
            for prop in whole.spec.of_kind("transition_invariant", "reachable")
            if prop.kind == "transition_invariant" or prop.after == action.name
        )
        return self._compiled(whole, (action,), claims)

    def conditions(self, whole: Instance) -> Kernel:
        """The conditions on states: invariants and lemmas."""
        return self._compiled(whole, (), whole.spec.of_kind("invariant", "lemma"))

    def _compiled(self, whole: Instance, actions: tuple[Action, ...], claims: tuple[Property, ...]) -> Kernel:
        key = (whole.spec.variables, actions, claims)
        if key not in self._parts:
            given = (whole.protocol, whole.bounds, whole.constants, whole.name)
            self._parts[key] = compile_kernel(_Part(*given, whole, actions, claims))
        return self._parts[key]


class KernelOfParts(Kernel):
    """The kernel of an instance, from the parts of a library."""

    def __init__(self, instance: Instance, library: PartsLibrary) -> None:
        self.instance = instance
        self.plan = plan(instance)
        self.conditions = library.conditions(instance)
        self.codec = self.conditions.codec
        self.parts = {action.name: library.action(instance, action) for action in instance.spec.actions}
        self.warm = all(part.warm for part in (self.conditions, *self.parts.values()))
        self.text = "\n".join(part.text for part in (self.conditions, *self.parts.values()))
        numbers = {prop.id: number for number, prop in enumerate(self.plan.step_claims)}
        self._claims = [
            np.array([numbers[prop.id] for prop in part.step_claims], dtype=np.int64)
            for part in self.parts.values()
        ]

    def append(self, block: Block, buffers: Buffers) -> None:
        """See ``Kernel``: the parts one after the other, with numbers of the whole."""
        layout, common = self.plan, buffers.addresses[:5]
        stats, flags = buffers.addresses[5:7]
        a_row = buffers.stats.strides[0]
        end = int(buffers.cursor[0])
        for number, part in enumerate(self.parts.values()):
            begin, known = end, self._claims[number]
            seen, where = np.zeros(len(known) + 1, np.uint8), np.empty(len(known) + 1, np.int64)
            seen[:-1] = before = buffers.seen[known]
            part.append_at(
                block,
                *common,
                stats + number * a_row,
                flags + layout.first_guard[number],
                seen.ctypes.data,
                where.ctypes.data,
            )
            end = int(buffers.cursor[0])
            if end == begin:
                continue  # no step, so that none was looked at
            buffers.step[begin:end] += layout.first_step[number]
            fresh = seen[:-1] != before
            if fresh.any():
                buffers.seen[known[fresh]] = 1
                buffers.where[known[fresh]] = where[:-1][fresh]

    def check(self, block: Block) -> Any:
        """See ``Kernel``."""
        return self.conditions.check(block)

    def breaks(self, block: Block) -> Any:
        """See ``Kernel``."""
        return self.conditions.breaks(block)

    def differs(self, other: KernelOfParts, states: Block) -> bool:
        """Does the other relation begin differently, or lead from one of the states elsewhere?"""
        if self.parts.keys() != other.parts.keys():
            return True
        if not np.array_equal(self.initial_block(), other.initial_block()):
            return True
        return any(
            _differ(part, other.parts[name], states)
            for name, part in self.parts.items()
            if part is not other.parts[name]
        )


def _differ(one: Kernel, two: Kernel, states: Block) -> bool:
    for first in range(0, len(states), one.chunk):
        block = states[first : first + one.chunk]
        left, right = one.expand(block), two.expand(block)
        pairs = (
            (left.successors, right.successors), (left.parent, right.parent), (left.step, right.step),
        )  # fmt: skip
        if not all(np.array_equal(mine, others) for mine, others in pairs):
            return True
        if not np.array_equal(left.below, right.below):
            return True
    return False
