"""Houdini, driven by need: candidates that exclude counterexamples to induction.

A step from a state in which all claims hold to one in which a claim fails shows a state that should be
unreachable. A candidate that excludes it is assumed, and becomes a claim itself; one that cannot be kept is
dropped for ever. The remaining ones support all claims and themselves. All this happens within the bounds of
one small instance; the proof for any size still has to follow.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import z3

from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.lemmas.cubes import MOST, Cube, Family
from tidemark.models.lemmas.features import groups
from tidemark.models.lemmas.samples import Batch, batch
from tidemark.models.symbolic import bits
from tidemark.models.symbolic.finite import SymbolicInstance
from tidemark.models.symbolic.hints import instance_in, new_solver, plain_model
from tidemark.models.symbolic.obligations import closed
from tidemark.models.symbolic.step import OneStep, as_formula
from tidemark.spec.language.expr import Expr, Variable, variables_read

Watch = Callable[[str], None]


@dataclass(frozen=True)
class Candidate:
    """A cube of a family: the claim that its literals never hold together."""

    family: int
    cube: Cube


Due = str | Candidate
"""A claim that needs support: a stated claim by its id (or ``type:variable``), or a candidate."""

TYPE = "type:"


@dataclass
class Closed:
    """The result. ``kept`` supports the claims that are not in ``open``, and itself, within the bounds."""

    kept: list[Candidate] = field(default_factory=list)
    open: dict[str, tuple[Any, State]] = field(default_factory=dict)
    """Claims for which no candidate helps: the constants and the state before the breaking step."""
    dropped: int = 0
    stopped: str = ""


class Closure:
    """The candidates over a small instance, and the solver that checks their induction. ``samples`` are
    reachable states of a larger instance, so that the bounds of the small one suggest nothing. Raises
    BadInstance.
    """

    def __init__(self, instance: Instance, samples: Batch) -> None:
        self.instance = instance
        self.spec = instance.spec
        self.space = SymbolicInstance(instance)
        self.step = OneStep(self.space)
        self._first, self._start = self.space.initial()
        everything = (Family(group, samples) for group in groups(self.spec))
        self.families = [family for family in everything if family.literals]
        self._solver = new_solver(self.space.conditions)
        self._solver.add(self.step.relation)
        self._begin = new_solver(self.space.conditions)
        self._begin.add(as_formula(self._start))
        self._types = new_solver(self.space.conditions)
        self._stated: list[Any] = []
        for prop in self.spec.of_kind("invariant", "lemma"):
            self._stated.append(self._switch(f"stated {prop.id}", closed(prop)))
        self._switches: dict[Candidate, Any] = {}
        self._goals: dict[Due, Any] = {}
        self._dropped: set[Candidate] = set()
        self._supports: dict[Due, frozenset[Candidate]] = {}

    def _switch(self, name: str, expr: Expr) -> Any:
        """A flag that assumes a condition of the state before."""
        flag = z3.Bool(name)
        holds = z3.Implies(flag, as_formula(self.space.holds(expr, self.step.before)))
        self._solver.add(holds)
        self._types.add(holds)
        return flag

    def expr(self, candidate: Candidate) -> Expr:
        """The candidate as a claim."""
        return self.families[candidate.family].expr(candidate.cube)

    def run(self, *, seconds: float, watch: Watch = lambda _text: None) -> Closed:
        """Look for candidates that make all stated claims inductive, for at most so many seconds."""
        ends = time.perf_counter() + seconds
        result = Closed()
        while (due := self._next_goal(result)) is not None:
            if time.perf_counter() > ends:
                result.stopped = f"the limit of {seconds:.0f} s was reached"
                break
            watch(f"{len(self._needed())} candidates in use, {len(self._dropped)} dropped")
            self._establish(due, result)
        result.kept = sorted(self._needed(), key=self._rank)
        result.dropped = len(self._dropped)
        return result

    def _next_goal(self, result: Closed) -> Due | None:
        for candidate in sorted(self._needed(), key=self._rank):
            if candidate not in self._supports:
                return candidate
        for claim in self._claims:
            if claim not in self._supports and claim not in result.open:
                return claim
        return None

    @cached_property
    def _claims(self) -> tuple[str, ...]:
        """Stated claims, and for each variable that could become negative that it does not."""
        below = {
            f"{TYPE}{name}"
            for move in self.step.moves
            for name, bit in move.below.items()
            if bit is not False
        }
        stated = self.spec.of_kind("invariant", "lemma", "transition_invariant")
        return (*sorted(below), *(prop.id for prop in stated))

    def _needed(self) -> set[Candidate]:
        found: set[Candidate] = set()
        todo: list[Due] = list(self._claims)
        while todo:
            fresh = self._supports.get(todo.pop(), frozenset()) - found
            found |= fresh
            todo += fresh
        return found

    def _rank(self, candidate: Candidate) -> tuple[int, int, int, int, Cube]:
        family = self.families[candidate.family]
        cube = candidate.cube
        return len(cube), family.weight(cube), len(family.group), candidate.family, cube

    def _establish(self, due: Due, result: Closed) -> None:
        if isinstance(due, Candidate) and not self._holds_at_start(due):
            self.drop(due)
            return
        solver, goal = self._goal(due)
        while True:
            active = list(self._switches)
            assumed = [*self._stated, *(self._switches[item] for item in active), goal]
            if solver.check(*assumed) == z3.unsat:
                self._supports[due] = self._core(solver, active, goal)
                return
            constants, state = self._state_before(solver, assumed)
            chosen = self._excluding(batch(self.instance, [(constants, state)]), due)
            if chosen is None:
                if isinstance(due, Candidate):
                    self.drop(due)
                else:
                    result.open[due] = (constants, state)
                return
            self._switches[chosen] = self._switch(f"candidate {chosen}", self.expr(chosen))

    def _goal(self, due: Due) -> tuple[Any, Any]:
        """The solver to ask, and a flag under which the claim fails after the step (or in it)."""
        solver = self._types if isinstance(due, str) and due.startswith(TYPE) else self._solver
        if due not in self._goals:
            flag = z3.Bool(f"broken {due}")
            solver.add(z3.Implies(flag, as_formula(self._fails(due))))
            self._goals[due] = flag
        return solver, self._goals[due]

    def _fails(self, due: Due) -> bits.Bit:
        before, after = self.step.before, self.step.after
        if isinstance(due, Candidate):
            return bits.invert(self.space.holds(self.expr(due), after))
        if due.startswith(TYPE):
            name = due.removeprefix(TYPE)
            return bits.some(bits.both(m.enabled, m.below.get(name, False)) for m in self.step.moves)
        prop = self.spec.property(due)
        if prop.kind != "transition_invariant":
            return bits.invert(self.space.holds(closed(prop), after))
        later = [closed(p) for p in self.spec.of_kind("invariant", "lemma")]
        fails = bits.invert(self.space.holds(closed(prop), before, after))
        return bits.every([fails, *(self.space.holds(item, after) for item in later)])

    def _holds_at_start(self, candidate: Candidate) -> bool:
        fails = bits.invert(self.space.holds(self.expr(candidate), self._first))
        return bool(self._begin.check(as_formula(fails)) == z3.unsat)

    def drop(self, candidate: Candidate) -> None:
        """Drop it for ever; claims that it supported have to find another support."""
        self._dropped.add(candidate)
        self._switches.pop(candidate, None)
        for name, support in list(self._supports.items()):
            if candidate in support:
                del self._supports[name]

    def _core(self, solver: Any, active: Sequence[Candidate], goal: Any) -> frozenset[Candidate]:
        """Candidates that suffice and of which none can be left out; complicated ones are left out first."""
        named = {self._switches[item].get_id(): item for item in active}
        kept = [named[flag.get_id()] for flag in solver.unsat_core() if flag.get_id() in named]
        for item in sorted(kept, key=self._rank, reverse=True):
            fewer = [other for other in kept if other != item]
            flags = [self._switches[other] for other in fewer]
            if solver.check(*self._stated, *flags, goal) == z3.unsat:
                kept = fewer
        return frozenset(kept)

    def _state_before(self, solver: Any, assumed: Sequence[Any]) -> tuple[Any, State]:
        wishes = [list(cases.values()) for table in self.step.before.values() for cases in table.values()]
        model = plain_model(solver, assumed, wishes)
        return instance_in(self.space, model).constants, self.space.decode(model, self.step.before)

    def _excluding(self, state: Batch, due: Due) -> Candidate | None:
        """The best candidate that is false in a state: few literals, about the variables of the claim."""
        about = self._about(due)
        for many in (False, True):
            families = [f for f in enumerate(self.families) if (len(f[1].group) > 2) == many]
            for literals in range(1, MOST + 1):
                found: list[tuple[Any, Candidate]] = []
                for number, family in families:
                    for cube in family.excluding(state, literals=literals):
                        candidate = Candidate(number, cube)
                        if candidate not in self._dropped:
                            far = len(family.variables(cube) - about)
                            found.append(((far, *self._rank(candidate)), candidate))
                if found:
                    return min(found, key=lambda item: item[0])[1]
        return None

    def _about(self, due: Due) -> frozenset[Variable]:
        if isinstance(due, Candidate):
            return self.families[due.family].variables(due.cube)
        if due.startswith(TYPE):
            written = due.removeprefix(TYPE)
            return frozenset(variable for variable in self.spec.variables if variable.name == written)
        return variables_read(self.spec.property(due).expr)
