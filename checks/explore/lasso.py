"""Does a run that ends in a cycle break a liveness property? The interpreter alone decides.

The search, the replay of a token, a trace in ITF and the reproducer all ask here.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.spec.language.expr import Const, Expr, Value, substitute
from tidemark.spec.language.fold import conjunction, fold, negation
from tidemark.spec.language.spec import Property


@dataclass(frozen=True)
class Case:
    """A leads_to for one value of its parameters: states that begin the wait, and states in which it goes
    on.
    """

    values: tuple[Value, ...]
    begins: Expr
    waits: Expr


def cases(interpreter: Interpreter, prop: Property) -> Iterator[Case]:
    """One case for each value of the parameters."""
    domains = [interpreter.instance.domain(param.type).values for param in prop.params]
    for values in itertools.product(*domains):
        local = {p.name: Const(p.type, value) for p, value in zip(prop.params, values, strict=True)}
        premise, conclusion = (fold(substitute(part, locals_=local)) for part in (prop.premise, prop.expr))
        yield Case(values, conjunction(premise, negation(conclusion)), negation(conclusion))


def excuse(
    interpreter: Interpreter,
    prop: Property,
    case: Case,
    *,
    states: Sequence[State],
    steps: Sequence[Step],
    loop_start: int,
) -> str:
    """Why the run does not break the property for this case; empty if it does.

    The run waits for the conclusion for ever, its cycle is closed, and it is fair: a weakly fair step that is
    possible all the time, or a strongly fair one that is possible again and again, is taken in the cycle.
    """
    holds = interpreter.evaluate
    waits = [bool(holds(case.waits, state)) for state in states]
    begins = [number for number, state in enumerate(states) if holds(case.begins, state)]
    if not any(all(waits[min(number, loop_start) :]) for number in begins):
        return "the lasso does not wait for the conclusion for ever"
    cycle, taken = states[loop_start:], set(steps[loop_start:])
    if cycle[0] != cycle[-1]:
        return "the lasso is not closed"
    fairness = {action.name: action.fairness for action in interpreter.spec.actions}
    for step in interpreter.steps:
        kind = "none" if step.action in prop.without else fairness[step.action]
        if kind == "none" or step in taken:
            continue
        possible = (_changes(interpreter, state, step) for state in cycle)
        if all(possible) if kind == "weak" else any(possible):
            return f"the lasso is not fair to {step}"
    return ""


def broken_case(
    interpreter: Interpreter,
    prop: Property,
    *,
    states: Sequence[State],
    steps: Sequence[Step],
    loop_start: int,
) -> Case | None:
    """The first values of the parameters for which the run breaks the property; None if there are none."""
    for case in cases(interpreter, prop):
        if not excuse(interpreter, prop, case, states=states, steps=steps, loop_start=loop_start):
            return case
    return None


def failing_text(prop: Property, case: Case) -> str:
    """What fails, with the values of the parameters."""
    given = ", ".join(f"{p.name} = {value}" for p, value in zip(prop.params, case.values, strict=True))
    return "the conclusion never holds after the premise" + (f", with {given}" if given else "")


def _changes(interpreter: Interpreter, state: State, step: Step) -> bool:
    """Is the step possible, within the bounds, and does it change the state?"""
    found = interpreter.apply(state, step)
    return found is not None and found.in_bounds and found.state != state
