"""A kernel made of the interpreter, with its own packing: slow, and an opponent of the compiled one."""

from __future__ import annotations

import numpy as np

from tidemark.checks.spark.search.search_kernel import Expanded
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.spec.language.types import MapType

FACTORY = "tests.checks.spark.slow_kernel:slow"


def slow(instance: Instance) -> SlowKernel:
    return SlowKernel(instance)


class SlowKernel:
    """States as one large number in mixed radix, cut into words."""

    chunk = 50

    def __init__(self, instance: Instance) -> None:
        self.interpreter = Interpreter(instance)
        self.cells: list[tuple[int, ...]] = []
        self.shapes: list[int] = []
        for variable in instance.spec.variables:
            kind = variable.type
            is_map = isinstance(kind, MapType)
            domain = instance.domain(kind.value if is_map else kind)  # type: ignore[attr-defined]
            size = sum(1 for _ in instance.entries(kind)) if is_map else 0  # type: ignore[arg-type, misc]
            self.shapes.append(size)
            self.cells += [domain.values] * (size or 1)  # type: ignore[list-item]
        top = int(np.prod([len(cell) for cell in self.cells], dtype=object))
        self.words = max(1, -(-(top - 1).bit_length() // 64))
        self.actions = [action.name for action in instance.spec.actions]
        self.numbers = {step: number for number, step in enumerate(self.interpreter.steps)}

    def pack(self, state):
        flat = [v for value, size in zip(state, self.shapes) for v in (value if size else (value,))]
        number = 0
        for cell, value in zip(self.cells, flat):
            number = number * len(cell) + cell.index(value)
        return [(number >> (64 * word)) & (2**64 - 1) for word in range(self.words)]

    def unpack(self, row):
        number = sum(int(word) << (64 * place) for place, word in enumerate(row))
        flat = []
        for cell in reversed(self.cells):
            number, index = divmod(number, len(cell))
            flat.append(cell[index])
        flat.reverse()
        state, at = [], 0
        for size in self.shapes:
            state.append(tuple(flat[at : at + size]) if size else flat[at])
            at += size or 1
        return tuple(state)

    def block(self, states):
        return np.array([self.pack(state) for state in states], np.uint64).reshape(-1, self.words)

    def initial(self):
        return self.block(self.interpreter.initial())

    def expand(self, block):
        assert block.shape[0] <= self.chunk
        generated, out_of_bounds = [0] * len(self.actions), [0] * len(self.actions)
        successors, parent, step, events, dead = [], [], [], set(), 0
        claims = self.interpreter.spec.of_kind("transition_invariant", "reachable")
        for row in range(block.shape[0]):
            before = self.unpack(block[row])
            found = list(self.interpreter.successors(before))
            dead += not found
            for item in found:
                index = self.actions.index(item.step.action)
                generated[index] += 1
                out_of_bounds[index] += not item.in_bounds
                if not item.in_bounds:
                    continue
                successors.append(item.state)
                parent.append(row)
                step.append(self.numbers[item.step])
                events |= {claim.id for claim in claims if self.occurs(claim, before, item)}
        return Expanded(
            successors=self.block(successors),
            parent=np.array(parent, np.int64),
            step=np.array(step, np.int32),
            generated=tuple(generated),
            out_of_bounds=tuple(out_of_bounds),
            deadlocks=dead,
            guards=0,
            events=frozenset(events),
        )

    def occurs(self, claim, before, item):
        if claim.kind == "reachable":
            return claim.after == item.step.action and self.interpreter.holds(
                claim, before, item.state, item.step
            )
        return not self.interpreter.holds(claim, before, item.state)

    def failing(self, block):
        found = {}
        for claim in self.interpreter.spec.of_kind("invariant", "lemma"):
            rows = np.array([not self.interpreter.holds(claim, self.unpack(row)) for row in block], np.bool_)
            if rows.any():
                found[claim.id] = rows
        return found
