"""One step of a bounded instance as a formula over a state before and a state after."""

from typing import Any

import z3

from tidemark.models.symbolic import bits
from tidemark.models.symbolic.bits import Bit
from tidemark.models.symbolic.finite import Cell, SymbolicInstance


class OneStep:
    """``relation`` says that exactly one of ``moves``, as the flags ``taken`` say, leads from ``before`` to
    ``after``, within the bounds. The conditions on the symbols of both states are added to ``space``.
    """

    def __init__(self, space: SymbolicInstance) -> None:
        self.before = space.state("?")
        self.after = space.state("!")
        self.moves = tuple(space.moves(self.before))
        self.taken = [z3.Bool(f"take {place}") for place in range(len(self.moves))]
        self.relation = self._one_step()

    def _one_step(self) -> Any:
        """Exactly one move is taken; it has its effect, and all other entries stay."""
        parts: list[Bit] = [z3.PbEq([(flag, 1) for flag in self.taken], 1)]
        writers: dict[tuple[str, Cell], list[Any]] = {}
        for move, taken in zip(self.moves, self.taken, strict=True):
            parts.append(z3.Implies(taken, as_formula(bits.both(move.enabled, move.in_bounds))))
            for name, table in move.written.items():
                for cell, cases in table.items():
                    if cases is self.before[name][cell]:
                        continue
                    writers.setdefault((name, cell), []).append(taken)
                    parts.append(z3.Implies(taken, as_formula(bits.same(cases, self.after[name][cell]))))
        for name, cells in self.before.items():
            for cell, cases in cells.items():
                stays = bits.same(cases, self.after[name][cell])
                parts.append(as_formula(bits.either(bits.some(writers.get((name, cell), ())), stays)))
        return z3.And([part for part in parts if part is not True])


def as_formula(bit: Bit) -> Any:
    """A condition as a Z3 formula, even if it is known."""
    return z3.BoolVal(bit) if isinstance(bit, bool) else bit
