"""Liveness on the finished graph of a search: does every state with the premise lead to one with the
conclusion?

Counterexamples are real lassos: a run to a state with the premise, on without the conclusion, and round a
cycle for ever that is fair to every action which the protocol declares fair. Fairness is meant for each
action with each value of its parameters and for steps that change the state, as in TLA+. What the bounds
cut is disabled: steps that leave them, and steps with an argument beyond them (see ``bounds_note``). The
interpreter takes every lasso again, and decides about fairness itself.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from tidemark.checks.explore.lasso import Case, cases, excuse
from tidemark.models.instance import Domain
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.native.graph import Graph, Mask, reach
from tidemark.models.native.kernel import Conditions
from tidemark.models.native.lasso import Cycle, Fairness, FairSearch, walk_back
from tidemark.models.native.search.path import Path, PathMismatchError, chain, replayed
from tidemark.models.native.search.result import SearchResult
from tidemark.spec.language.expr import binders_of, walk
from tidemark.spec.language.spec import Property
from tidemark.spec.language.types import NumberType, least_of

SHOWN = 3
"""Steps with an argument beyond the bounds that are named, at most."""


def bounds_note(result: SearchResult) -> str:
    """What the bounds cut: steps that leave them, and what arguments and quantifiers range over."""
    spec, cut = result.kernel.instance.spec, result.out_of_bounds
    note = (
        f"the steps that leave the bounds ({cut}) count as disabled" if cut else "no step leaves the bounds"
    )
    ranges = {param.type for action in spec.actions for param in action.params}
    for expr in (part for action in spec.actions for part in action.expressions):
        ranges |= {binder.type for node in walk(expr) for binder in binders_of(node)}
    ends = sorted(kind.name for kind in ranges if isinstance(kind, NumberType))
    return f"{note}; arguments and quantifiers end at the bound of {', '.join(ends)}" if ends else note


def cut_arguments(interpreter: Interpreter, prop: Property, lasso: Path) -> str:
    """Fair steps that are possible in the loop of a lasso with an argument just beyond the bounds; empty if
    there are none.
    """
    assert lasso.loop_start is not None
    loop = set(lasso.states[lasso.loop_start :])
    found = []
    for action in interpreter.spec.actions:
        if action.fairness == "none" or action.name in prop.without:
            continue
        domains = [interpreter.instance.domain(param.type) for param in action.params]
        for args in itertools.product(*((*_beyond(domain), *domain.values) for domain in domains)):
            inside = all(value in d.values for value, d in zip(args, domains, strict=True))
            step = Step(action.name, args)
            if not inside and any(interpreter.failing_guard(state, step) is None for state in loop):
                found.append(str(step))
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    possible = f"{', '.join(found[:SHOWN])}{more} would be possible in the cycle"
    return f"the bounds cut an argument: {possible}; try a larger bound" if found else ""


def _beyond(domain: Domain) -> tuple[int, ...]:
    """The numbers next to a range, as far as they are of the type."""
    if not isinstance(domain.type, NumberType):
        return ()
    low, least = domain.low - 1, least_of(domain.type)
    return (domain.low + domain.size, *((low,) if least is None or low >= least else ()))


@dataclass(frozen=True)
class Answer:
    """What was found about a leads_to. ``waiting``: states, over all parameters, in which the wait goes
    on.
    """

    prop: Property
    waiting: int
    lasso: Path | None = None
    case: Case | None = None


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
                self._confirm(prop, case, path)
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

    def _confirm(self, prop: Property, case: Case, path: Path) -> None:
        """The interpreter's own word on the lasso. Raises PathMismatchError."""
        assert path.loop_start is not None
        why = excuse(
            self.interpreter, prop, case, states=path.states, steps=path.steps, loop_start=path.loop_start
        )
        if why:
            raise PathMismatchError(f"{prop.id}: {why}")


def _column(marks: np.ndarray[tuple[int, ...], np.dtype[np.uint64]], number: int) -> Mask:
    return np.asarray(marks[:, number // 64] & np.uint64(1 << number % 64) != 0)
