"""Liveness on the finished graph of a search: does every state with the premise lead to one with the
conclusion?

Counterexamples are real lassos: a run to a state with the premise, on without the conclusion, and round a
cycle for ever that is fair to every action which the protocol declares fair. Fairness is meant for each
action with each value of its parameters and for steps that change the state, as in TLA+; steps that leave
the bounds count as disabled. The interpreter takes every lasso again, and decides about fairness itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.native.codec import State
from tidemark.models.native.graph import Graph, Mask, reach
from tidemark.models.native.kernel import Conditions
from tidemark.models.native.lasso import Cycle, Fairness, FairSearch, walk_back
from tidemark.models.native.search.path import Path, PathMismatchError, chain, replayed
from tidemark.spec.language.expr import Const, Expr, Value, substitute
from tidemark.spec.language.fold import conjunction, fold, negation
from tidemark.spec.language.spec import Property

BOUNDS_NOTE = "steps that leave the bounds count as disabled"


@dataclass(frozen=True)
class Case:
    """A leads_to for one value of its parameters: states that begin the wait, and states in which it goes
    on.
    """

    values: tuple[Value, ...]
    begins: Expr
    waits: Expr


@dataclass(frozen=True)
class Answer:
    """What was found about a leads_to. ``waiting``: states, over all parameters, in which the wait goes
    on.
    """

    prop: Property
    waiting: int
    lasso: Path | None = None
    case: Case | None = None


def cases(interpreter: Interpreter, prop: Property) -> Iterator[Case]:
    """One case for each value of the parameters."""
    domains = [interpreter.instance.domain(param.type).values for param in prop.params]
    for values in itertools.product(*domains):
        local = {p.name: Const(p.type, value) for p, value in zip(prop.params, values, strict=True)}
        premise, conclusion = (fold(substitute(part, locals_=local)) for part in (prop.premise, prop.expr))
        yield Case(values, conjunction(premise, negation(conclusion)), negation(conclusion))


def fairness_of(interpreter: Interpreter, prop: Property) -> Fairness:
    """The steps that are fair for a property."""
    kinds = {
        action.name: action.fairness for action in interpreter.spec.actions if action.name not in prop.without
    }
    chosen: dict[str, list[int]] = {"none": [], "weak": [], "strong": []}
    for number, step in enumerate(interpreter.steps):
        chosen[kinds.get(step.action, "none")].append(number)
    return Fairness(tuple(chosen["weak"]), tuple(chosen["strong"]))


class LivenessChecker:
    """Decides the leads_to properties of one graph; what they share is computed once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.interpreter = graph.result.kernel.interpreter
        self._searches: dict[Fairness, FairSearch] = {}

    def check(self, prop: Property) -> Answer:
        """Look for a lasso, parameter value by parameter value; the first one found is reported."""
        fairness = fairness_of(self.interpreter, prop)
        if fairness not in self._searches:
            self._searches[fairness] = FairSearch(self.graph, fairness)
        fair = self._searches[fairness]
        todo = list(cases(self.interpreter, prop))
        conditions = [part for case in todo for part in (case.begins, case.waits)]
        marks = Conditions(self.graph.result.kernel.instance, conditions).evaluate(self.graph.result.states)
        total = 0
        for number, case in enumerate(todo):
            begins, waits = (_column(marks, 2 * number + k) for k in (0, 1))
            via, order = reach(
                self.graph.first, self.graph.target, waits, np.flatnonzero(begins).astype(np.int32)
            )
            total += len(order)
            found = self._lasso(fair, via != -1)
            if found is not None:
                path = self._path(via, found)
                self._confirm(prop, case, fairness, path)
                return Answer(prop, total, path, case)
        return Answer(prop, total)

    def _lasso(self, fair: FairSearch, waiting: Mask) -> Cycle | None:
        still = fair.stuttering_state(waiting)
        if still is not None:
            return Cycle((still,), ())
        part = fair.component(waiting)
        return None if part is None else fair.cycle(part, int(np.flatnonzero(part)[0]))

    def _path(self, via: np.ndarray[tuple[int, ...], np.dtype[np.int64]], cycle: Cycle) -> Path:
        """From an initial state to a beginning of the wait, on to the cycle, and round it once."""
        graph, result = self.graph, self.graph.result
        edges = walk_back(graph, via, cycle.states[0])
        begin = cycle.states[0]
        if edges:
            begin = int(np.searchsorted(graph.first, edges[0], side="right")) - 1
        numbers, steps = chain(result, begin)
        numbers += [int(graph.target[edge]) for edge in edges]
        steps += [int(graph.step[edge]) for edge in edges]
        loop_start = len(numbers) - 1
        if cycle.steps:
            numbers += [*cycle.states[1:], cycle.states[0]]
            steps += cycle.steps
        states = [result.kernel.codec.unpack(result.states[number]) for number in numbers]
        return replayed(
            self.interpreter, states, [result.kernel.steps[step] for step in steps], loop_start=loop_start
        )

    def _confirm(self, prop: Property, case: Case, fairness: Fairness, path: Path) -> None:
        """The interpreter's own word on the lasso. Raises PathMismatchError."""
        assert path.loop_start is not None
        holds = self.interpreter.evaluate
        waits = [bool(holds(case.waits, state)) for state in path.states]
        start = next((n for n, state in enumerate(path.states) if holds(case.begins, state)), len(waits))
        if start > path.loop_start or not all(waits[path.loop_start :]):
            raise PathMismatchError(f"{prop.id}: the lasso does not wait for the conclusion for ever")
        cycle, taken = path.states[path.loop_start :], set(path.steps[path.loop_start :])
        if cycle[0] != cycle[-1]:
            raise PathMismatchError(f"{prop.id}: the lasso is not closed")
        for number, quantifier in [(n, all) for n in fairness.weak] + [(n, any) for n in fairness.strong]:
            step = self.interpreter.steps[number]
            if step not in taken and quantifier(self._enabled(state, step) for state in cycle):
                raise PathMismatchError(f"{prop.id}: the lasso is not fair to {step}")

    def _enabled(self, state: State, step: Step) -> bool:
        found = self.interpreter.apply(state, step)
        return found is not None and found.in_bounds and found.state != state


def _column(marks: np.ndarray[tuple[int, ...], np.dtype[np.uint64]], number: int) -> Mask:
    return np.asarray(marks[:, number // 64] & np.uint64(1 << number % 64) != 0)


def shown_values(prop: Property, values: Sequence[Value]) -> str:
    """Parameter values as text, for example ``position = 2``."""
    return ", ".join(f"{param.name} = {value}" for param, value in zip(prop.params, values, strict=True))
