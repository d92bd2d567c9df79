"""From a run of an instance (as every engine has it: state tuples and steps) to a counterexample."""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tidemark.checks.verdicts.counterexample import Counterexample, Model, Scalar, Shape, show
from tidemark.checks.verdicts.counterexample import Step as ShownStep
from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.interpreter import Step as RunStep
from tidemark.spec.language.expr import Apply, Expr, Local, Quantified, children
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Property, Spec
from tidemark.spec.language.types import MapType, SortType


class BrokenRunError(RuntimeError):
    """The interpreter cannot follow a run that an engine reported: the engine is wrong, not the protocol."""


def run_again(interpreter: Interpreter, initial: State, steps: Sequence[RunStep]) -> list[State]:
    """All states of the run, found by the interpreter; the first is ``initial``.

    Raises BrokenRunError at the first step that is not enabled or that leaves the bounds.
    """
    states = [initial]
    for number, step in enumerate(steps, start=1):
        transition = interpreter.apply(states[-1], step)
        if transition is None:
            guard = interpreter.failing_guard(states[-1], step)
            raise BrokenRunError(f"step {number}, {step}, is not enabled: {guard}")
        if not transition.in_bounds:
            raise BrokenRunError(f"step {number}, {step}, leaves the bounds of {interpreter.instance.name}")
        states.append(transition.state)
    return states


def counterexample(
    instance: Instance,
    *,
    states: Sequence[State],
    steps: Sequence[RunStep],
    failing: str,
    shape: Shape = Shape.RUN,
    loop_start: int | None = None,
    replayable: bool = True,
) -> Counterexample:
    """Decode a run: ``states`` has one more element than ``steps``.

    ``failing`` is the failing conjunct as text (see ``failing_conjunct``). ``replayable`` is False when
    the protocol cannot be named by a reference (a generated mutant).
    """
    spec = instance.spec
    names = [variable.name for variable in spec.variables]
    parameters = {action.name: action.params for action in spec.actions}
    nodes = node_sorts(spec)
    shown = tuple(
        ShownStep(
            action=step.action,
            args={p.name: value for p, value in zip(parameters[step.action], step.args, strict=True)},
            after=dict(zip(names, after, strict=True)),
            lanes=_lanes(parameters[step.action], step.args, nodes),
        )
        for step, after in zip(steps, states[1:], strict=True)
    )
    model = Model(
        protocol=instance.protocol, bounds=dict(instance.bounds), constants=dict(instance.constants)
    )
    return Counterexample(
        shape=shape,
        initial=dict(zip(names, states[0], strict=True)),
        steps=shown,
        failing=failing,
        axes=axes_of(instance),
        loop_start=loop_start,
        model=model if replayable else None,
    )


_NODES = re.compile(
    r"(node|server|replica|process|proxy|client|worker|broker|peer|site|member|participant|acceptor|proposer"
    r"|coordinator|leader|follower|machine|host|source|part)s?",
    re.IGNORECASE,
)
"""Names of sorts whose elements act and get messages."""


def node_sorts(spec: Spec) -> frozenset[str]:
    """The sorts whose elements are lanes of a diagram: those that are called like nodes, else the one that
    the most actions take as a parameter.
    """
    found = Counter(
        name
        for action in spec.actions
        for name in {param.type.name for param in action.params if isinstance(param.type, SortType)}
    )
    named = frozenset(name for name in found if _NODES.fullmatch(name))
    return named or frozenset(name for name, _ in found.most_common(1))


def _lanes(params: Sequence[Local], args: Sequence[Any], nodes: frozenset[str]) -> tuple[str, ...]:
    """The first two different nodes among the arguments of a step."""
    pairs = zip(params, args, strict=True)
    return tuple(
        dict.fromkeys(f"{param.type.name} {value}" for param, value in pairs if param.type.name in nodes)
    )[:2]


def axes_of(instance: Instance) -> dict[str, tuple[tuple[Scalar, ...], ...]]:
    """For each map variable the values of its keys, in order."""
    return {
        variable.name: tuple(domain.values for domain in instance.domains(variable.type.keys))
        for variable in instance.spec.variables
        if isinstance(variable.type, MapType)
    }


def failing_conjunct(
    interpreter: Interpreter, prop: Property, before: State, after: State | None = None
) -> str:
    """The first false part of an invariant, with the values of the quantified variables for which it fails.

    For example ``stored >= p => copies[p] >= 1, with p = 2``. Empty if the property is true there.
    """
    return _failing(interpreter, prop.expr, before, after, {})


def failing_at_end(interpreter: Interpreter, prop: Property, states: Sequence[State]) -> str:
    """The failing conjunct at the end of an engine's run. Raises BrokenRunError if there is none."""
    pair = states[-2:] if prop.kind == "transition_invariant" else states[-1:]
    failing = failing_conjunct(interpreter, prop, *pair)
    if not failing:
        raise BrokenRunError(
            f"the engine says that {prop.id} fails after {len(states) - 1} steps, the interpreter does not"
        )
    return failing


def failing_part(interpreter: Interpreter, expr: Expr, state: State, **local: Any) -> str:
    """The same for a condition about one state, for example a conjunct of a guard with its parameters."""
    values = dict(local)
    part = _descend(interpreter, expr, state, None, values)
    if part is None:
        return ""
    return _with_values(part, {name: value for name, value in values.items() if name in _locals(part)})


def _failing(
    interpreter: Interpreter, expr: Expr, before: State, after: State | None, local: dict[str, Any]
) -> str:
    part = _descend(interpreter, expr, before, after, local)
    return "" if part is None else _with_values(part, local)


def _with_values(part: Expr, local: dict[str, Any]) -> str:
    given = ", ".join(f"{name} = {show(value)}" for name, value in local.items())
    return f"{render(part)}, with {given}" if given else render(part)


def _locals(expr: Expr) -> set[str]:
    """Names of parameters and quantified variables that an expression mentions."""
    own = {expr.name} if isinstance(expr, Local) else set[str]()
    return own.union(*(_locals(part) for part in children(expr)))


def _descend(
    interpreter: Interpreter, expr: Expr, before: State, after: State | None, local: dict[str, Any]
) -> Expr | None:
    if interpreter.evaluate(expr, before, after, **local):
        return None
    if isinstance(expr, Apply) and expr.op == "and":
        found = (_descend(interpreter, arg, before, after, local) for arg in expr.args)
        return next((part for part in found if part is not None), expr)
    if isinstance(expr, Quantified) and expr.kind == "forall":
        domains = [interpreter.instance.domain(binder.type).values for binder in expr.binders]
        for values in itertools.product(*domains):
            tried = local | {b.name: value for b, value in zip(expr.binders, values, strict=True)}
            part = _descend(interpreter, expr.body, before, after, tried)
            if part is not None:
                local |= tried
                return part
    return expr
