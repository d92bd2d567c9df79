"""Bounded model checking: real runs that break a claim, and whether a counterexample to induction can be
reached.

A run is found on a small instance by Z3, run again by the interpreter, and run again on larger instances,
so that it does not
owe anything to the bounds. Not finding one says nothing beyond the stated depth and bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.checks.prove.prover import SIZE as USUAL
from tidemark.checks.prove.prover import SMALLER
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.trace import BrokenRunError, counterexample, failing_conjunct, run_again
from tidemark.models.instance import BadInstance, Bound, Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.interpreted.search import Search
from tidemark.models.symbolic.hints import SmallModel, small_bounds
from tidemark.models.symbolic.ranking import is_of_a_step
from tidemark.models.symbolic.runs import Goal, SymbolicRun, search
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language.expr import Variable
from tidemark.spec.language.spec import Property
from tidemark.spec.language.types import MapType, NumberType, zero_of

DEPTH = 14
"""Steps of the longest run that is looked for."""

SECONDS = 20.0
"""Limit of one search on one instance."""

STATES = 3_000
"""States of an instance that are enumerated, at most, to tell that a state is not among them."""


@dataclass(frozen=True)
class FoundRun:
    """A real run that breaks a claim, confirmed by the interpreter."""

    instance: Instance
    counterexample: Counterexample
    depth: int
    notes: tuple[str, ...]


def find_runs(
    subject: ProofSubject, claims: Sequence[Property], *, depth: int = DEPTH, seconds: float = SECONDS
) -> dict[str, FoundRun]:
    """Runs of up to ``depth`` steps on small instances that break the claims: by property id, the
    shortest found.

    Raises BrokenRunError if the interpreter does not confirm a run: then the encoding is wrong.
    """
    found: dict[str, FoundRun] = {}
    for elements, greatest in (SMALLER[-1], USUAL):
        left = [prop for prop in claims if prop.id not in found]
        bounds = small_bounds(subject.spec, elements=elements, greatest=greatest)
        if not left:
            break
        try:
            instance = subject.instance(bounds)
            goals = {prop.id: _breaks(prop) for prop in left}
            searched = search(instance, goals, depth=depth, seconds=seconds)
        except BadInstance:
            continue
        for prop in left:
            if prop.id in searched.found:
                found[prop.id] = confirm(searched.found[prop.id], prop)
    return found


def broken_part(interpreter: Interpreter, prop: Property, states: Sequence[State]) -> str:
    """The false part of a claim at the end of a run; empty if it holds there.

    ``prop`` may be the claim of the proof, in which constants are open: here they have the instance's values.
    """
    claim = interpreter.spec.property(prop.id)
    if claim.kind == "transition_invariant" or is_of_a_step(claim):
        return failing_conjunct(interpreter, claim, states[-2], states[-1])
    return failing_conjunct(interpreter, claim, states[-1])


def _breaks(prop: Property) -> Goal:
    return lambda runs: runs.violates(prop)


def confirm(run: SymbolicRun, prop: Property) -> FoundRun:
    """The run as a counterexample, after the interpreter has run it again and found the claim broken at
    its end.
    """
    interpreter = Interpreter(run.instance)
    states = run_again(interpreter, run.states[0], run.steps)
    if run.states[0] not in set(interpreter.initial()):
        raise BrokenRunError("the run does not begin in an initial state")
    if tuple(states) != run.states:
        raise BrokenRunError("the interpreter comes to other states")
    failing = broken_part(interpreter, prop, states)
    if not failing:
        raise BrokenRunError(f"{prop.id} is not broken at the end of the run")
    shown = counterexample(run.instance, states=states, steps=run.steps, failing=failing)
    return FoundRun(run.instance, shown, len(run.steps), (_stability(run, prop),))


def _stability(run: SymbolicRun, prop: Property) -> str:
    """Does the same run exist, and break the claim, where the bounds are larger?"""
    grown = [_grow(run.instance, by) for by in (1, 3)]
    kept = [instance for instance in grown if _breaks_again(instance, run, prop)]
    if len(kept) == len(grown):
        return "the same steps break the claim on larger instances too: " + "; ".join(
            instance.bounds_text() for instance in kept
        )
    return "the run depends on the bounds: on a larger instance the same steps do not break the claim"


def _breaks_again(instance: Instance, run: SymbolicRun, prop: Property) -> bool:
    interpreter = Interpreter(instance)
    first = _widen(run.instance, instance, run.states[0])
    try:
        states = run_again(interpreter, first, run.steps)
    except BrokenRunError:
        return False
    return bool(broken_part(interpreter, prop, states))


def _grow(instance: Instance, by: int) -> Instance:
    """The same instance with larger numbers (not more elements); map constants continue with their type's
    zero.
    """
    bounds: dict[str, Bound] = dict(instance.bounds)
    for kind in instance.spec.types:
        if isinstance(kind, NumberType) and kind.name in bounds:
            old = bounds[kind.name]
            bounds[kind.name] = old + by if isinstance(old, int) else (old[0] - by, old[1] + by)
    constants = dict(instance.constants)
    larger = replace(instance, bounds=bounds)
    for variable in instance.spec.constants:
        constants[variable.name] = _grown_constant(instance, larger, variable)
    return replace(instance, bounds=bounds, constants=constants)


def _grown_constant(old: Instance, new: Instance, variable: Variable) -> Any:
    kind = variable.type
    assert isinstance(kind, MapType)
    known = dict(zip(old.entries(kind), old.map_constants[variable.name], strict=True))
    fill = zero_of(kind.value)

    def level(at: tuple[Any, ...], domains: Sequence[Any]) -> Any:
        if not domains:
            return known.get(at, fill)
        return [level((*at, value), domains[1:]) for value in domains[0].values]

    return level((), new.domains(kind.keys))


def _widen(old: Instance, new: Instance, state: State) -> State:
    """A state of a smaller instance in a larger one: entries outside have their initial value."""
    found: list[Any] = []
    for variable, value in zip(old.spec.variables, state, strict=True):
        if isinstance(variable.type, MapType):
            known = dict(zip(old.entries(variable.type), value, strict=True))
            found.append(
                tuple(known.get(at, old.out_of_bounds_value(variable)) for at in new.entries(variable.type))
            )
        else:
            found.append(value)
    return tuple(found)


@dataclass(frozen=True)
class Reach:
    """Whether the state of a counterexample to induction can be reached, and what was searched."""

    text: str
    """One sentence that claims no more than was searched."""
    run: FoundRun | None = None
    """A real run to the state and on by the step that breaks the claim."""


def reach(model: SmallModel, prop: Property, *, depth: int = DEPTH, seconds: float = SECONDS) -> Reach:
    """Look for a run to the state of a counterexample to induction: by Z3 up to a depth, then exhaustively.

    Raises BrokenRunError if the interpreter does not confirm a run that was found.
    """
    instance = model.instance
    goals: dict[str, Goal] = {"state": lambda runs: runs.is_at(model.before)}
    searched = search(instance, goals, depth=depth, seconds=seconds)
    size = instance.bounds_text()
    if searched.found:
        run = searched.found["state"]
        number = len(run.steps)
        if model.step is None or model.after is None:
            return Reach(f"its state is reachable in {number} steps: {_steps(run.steps)}")
        whole = SymbolicRun(run.instance, (*run.states, model.after), (*run.steps, model.step))
        return Reach(f"its state is reachable in {number} steps: {_steps(run.steps)}", confirm(whole, prop))
    # The number of reachable states, if all of them were seen and the given one is not among them.
    reached = Search(Interpreter(instance), limit=STATES).run()
    every = len(reached.parents) if reached.complete and model.before not in reached.parents else 0
    if every:
        return Reach(
            f"its state is not reachable within {size} (it is none of the {every} states there): "
            f"a stronger lemma is missing, or larger bounds are needed to reach it"
        )
    if searched.stopped:
        return Reach(f"it is unknown whether its state is reachable ({searched.stopped}; {size})")
    return Reach(
        f"its state is not reachable within {searched.depth} steps ({size}); beyond that it is unknown; "
        f"probably a stronger lemma is missing"
    )


def _steps(steps: Sequence[Step]) -> str:
    return " ".join(map(str, steps)) or "it is an initial state"
