"""The lemmas that an inductive argument needs, on one small instance: cores of the queries, and deletion."""

from collections.abc import Sequence
from typing import Any

import z3

from tidemark.models.instance import Instance
from tidemark.models.symbolic import bits
from tidemark.models.symbolic.bits import Bit
from tidemark.models.symbolic.finite import SymbolicInstance
from tidemark.models.symbolic.hints import new_solver
from tidemark.models.symbolic.obligations import closed
from tidemark.models.symbolic.step import OneStep, as_formula
from tidemark.spec.language.spec import Property


class Needed:
    """The claims of an instance, each of which can be assumed before a step, after it, or asked about."""

    def __init__(self, instance: Instance) -> None:
        self.spec = instance.spec
        self.space = SymbolicInstance(instance)
        self.step = OneStep(self.space)
        self._solver = new_solver(self.space.conditions)
        self._lemmas = tuple(prop.id for prop in self.spec.of_kind("lemma"))
        self._invariants = tuple(prop.id for prop in self.spec.of_kind("invariant"))
        self._steps = tuple(prop.id for prop in self.spec.of_kind("transition_invariant"))
        self._before: dict[str, Any] = {}
        self._after: dict[str, Any] = {}
        for prop in self.spec.of_kind("invariant", "lemma"):
            self._before[prop.id] = self._flag(f"before {prop.id}", self._holds(prop, after=False))
            self._after[prop.id] = self._flag(f"after {prop.id}", self._holds(prop, after=True))
        step = self._flag("a step", self.step.relation)
        claims = self.spec.of_kind("invariant", "lemma", "transition_invariant")
        self._goals = {prop.id: (self._broken(prop), step) for prop in claims}
        below = [bits.both(m.enabled, bits.some(m.below.values())) for m in self.step.moves]
        self._goals["types"] = (self._flag("broken types", bits.some(below)), z3.BoolVal(val=True))

    def _flag(self, name: str, bit: Bit) -> Any:
        flag = z3.Bool(name)
        self._solver.add(z3.Implies(flag, as_formula(bit)))
        return flag

    def _holds(self, prop: Property, *, after: bool) -> Bit:
        return self.space.holds(closed(prop), self.step.after if after else self.step.before)

    def _broken(self, prop: Property) -> Any:
        if prop.kind != "transition_invariant":
            return self._flag(f"broken {prop.id}", bits.invert(self._holds(prop, after=True)))
        holds = self.space.holds(closed(prop), self.step.before, self.step.after)
        return self._flag(f"broken {prop.id}", bits.invert(holds))

    def supports(self, lemmas: Sequence[str], goal: str) -> bool:
        """Do some lemmas, with all invariants, make one claim inductive here?"""
        known = (*self._invariants, *lemmas)
        flags = [self._before[name] for name in known]
        if goal in self._steps:
            flags += [self._after[name] for name in known]
        return bool(self._solver.check(*flags, *self._goals[goal]) == z3.unsat)

    def closed_under(self, lemmas: Sequence[str]) -> bool:
        """Do some lemmas, with all invariants, support themselves and all claims?"""
        goals = ("types", *self._invariants, *self._steps, *lemmas)
        return all(self.supports(lemmas, goal) for goal in goals)

    def lemmas(self) -> tuple[str, ...] | None:
        """A smallest set of lemmas that suffices; None if all do not. Later lemmas are left out first."""
        if not self.closed_under(self._lemmas):
            return None
        kept: set[str] = set()
        todo = ["types", *self._invariants, *self._steps]
        while todo:
            fresh = self._core(todo.pop(0), kept) - kept
            kept |= fresh
            todo += sorted(fresh, key=self._lemmas.index)
        order = [name for name in self._lemmas if name in kept]
        for name in reversed(list(order)):
            fewer = [other for other in order if other != name]
            if self.closed_under(fewer):
                order = fewer
        return tuple(order)

    def _core(self, goal: str, preferred: set[str]) -> set[str]:
        """Lemmas that suffice for one claim; those that are needed anyway are left out last."""
        kept = list(self._lemmas)
        for name in sorted(self._lemmas, key=lambda n: (n in preferred, -self._lemmas.index(n))):
            fewer = [other for other in kept if other != name]
            if self.supports(fewer, goal):
                kept = fewer
        return set(kept)
