"""The plain interpreter: it *is* the meaning of the language."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.evaluate import Compiler, Env, Evaluate, State
from tidemark.models.interpreted.initial import InitialStates
from tidemark.spec.language.errors import SpecError, place_of
from tidemark.spec.language.expr import Apply, Expr, Local, Read, Select, Value, Variable, free_locals, walk
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Action, Property
from tidemark.spec.language.types import MapType, Type, least_of


@dataclass(frozen=True)
class Step:
    """An action with values for its parameters."""

    action: str
    args: tuple[Value, ...] = ()

    def __str__(self) -> str:
        return f"{self.action}({', '.join(map(str, self.args))})"


@dataclass(frozen=True)
class Below:
    """What a step makes negative. ``what``: a variable or an entry, ``stock[2]``; of a key, the map.
    ``term``: the expression with this value, ``at`` values of what it reads; empty if it has bound variables.
    """

    what: str
    value: int
    kind: str
    is_key: bool = False
    term: str = ""
    at: str = ""

    def __str__(self) -> str:
        if self.is_key:
            return f"writes {self.what}[{self.value}], a negative {self.kind}"
        why = f": {self.term} is {self.value} at {self.at}" if self.term else ""
        return f"makes {self.what} = {self.value}, a negative {self.kind}{why}"


@dataclass(frozen=True)
class Transition:
    """A step and the state after it. ``below``: a value that it makes negative against its type."""

    step: Step
    state: State
    in_bounds: bool
    below: Below | None = None


class BelowZeroError(SpecError):
    """The protocol has a step that makes a natural number, or the key of an entry it writes, negative. A
    larger instance has a step beyond bounds; none has this one, so that every engine reports it.

    ``states`` and ``steps``: a run from an initial state to the state before ``step``, if the engine knows
    one.
    """

    def __init__(
        self,
        protocol: str,
        step: Step,
        below: Below,
        *,
        states: Sequence[State] = (),
        steps: Sequence[Step] = (),
    ) -> None:
        self.protocol, self.step, self.below = protocol, step, below
        self.states, self.steps = tuple(states), tuple(steps)
        lines = [*map(str, steps), f"{step} {below}"]
        numbered = [f"\n  {number:3}. {line}" for number, line in enumerate(lines, start=1)]
        run = "".join([*numbered, "\n"]) if states else ""
        super().__init__(
            f"the step {step} {below}{run}",
            remedy=f"Require in {step.action} that the number is large enough, or assign "
            f"maximum({below.term or '...'}, 0); if {below.kind} may be negative, declare it with Int()",
            place=place_of(getattr(resolve(protocol), step.action, None)),
        )

    def after(self, states: Sequence[State], steps: Sequence[Step]) -> BelowZeroError:
        """The same error, with the run that leads to the step."""
        return BelowZeroError(self.protocol, self.step, self.below, states=states, steps=steps)


@dataclass(frozen=True)
class _Compiled:
    action: Action
    guards: tuple[Evaluate, ...]
    updates: tuple[tuple[int, Evaluate, Callable[[Any], bool]], ...]
    instances: tuple[tuple[Value, ...], ...]


class Interpreter:
    """Runs an instance. A state is a tuple in the order of the variables; a map a tuple in key order."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.spec = instance.spec
        assert instance.map_constants is not None  # every constant has a value, or BadInstance
        self.compiler = Compiler(instance)
        self._actions = {action.name: self._compile(action) for action in self.spec.actions}
        self._conditions: dict[int, tuple[Expr, Evaluate]] = {}
        self._keys = {v.name: self._keys_of(v.type) for v in self.spec.variables}
        self._check_initial()
        self._check_assumptions()

    def _keys_of(self, kind: Type) -> list[Any] | None:
        if not isinstance(kind, MapType):
            return None
        return [at[0] if len(at) == 1 else at for at in self.instance.entries(kind)]

    def _compile(self, action: Action) -> _Compiled:
        slots = self.compiler.slots
        return _Compiled(
            action,
            tuple(self.compiler.scalar(guard.expr) for guard in action.guards),
            tuple((slots[v.name], self._value(v, expr), self._bounds(v)) for v, expr in action.updates),
            tuple(itertools.product(*(self.instance.domain(param.type).values for param in action.params))),
        )

    def _value(self, variable: Variable, expr: Expr) -> Evaluate:
        return self.compiler.table(expr) if isinstance(variable.type, MapType) else self.compiler.scalar(expr)

    def _check_initial(self) -> None:
        for variable in self.spec.variables:
            value, kind = self.spec.initial[variable.name], variable.type
            domain = self.instance.domain(kind.value if isinstance(kind, MapType) else kind)
            if value is not None and domain.index(value) is None:
                raise BadInstance(
                    f"{self.instance.name}: the initial value {value!r} of {variable.name} is outside "
                    f"{domain.type} {domain.values[0]}..{domain.values[-1]}; widen the bound"
                )

    def _check_assumptions(self) -> None:
        for claim in self.spec.assumptions:
            for values in itertools.product(*(self.instance.domain(p.type).values for p in claim.params)):
                local = {p.name: v for p, v in zip(claim.params, values, strict=True)}
                if not self._run(claim.expr, Env((), None, local)):
                    raise BadInstance(
                        f"{self.instance.name}: the constants break the assumption {claim.id} "
                        f"({claim.description}): {render(claim.expr)}; change the constants"
                    )

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every action with every value of its parameters, in declared order."""
        return tuple(Step(name, args) for name, item in self._actions.items() for args in item.instances)

    def initial(self) -> Iterator[State]:
        """The initial states."""
        yield from InitialStates(self.instance, self.compiler)

    def failing_guard(self, state: State, step: Step) -> str | None:
        """Text of the first conjunct of the guard that does not hold, or None if the step is enabled."""
        item = self._actions[step.action]
        env = self._env(item, state, step)
        for guard, check in zip(item.action.guards, item.guards, strict=True):
            if not check(env):
                return guard.text or render(guard.expr)
        return None

    def _env(self, item: _Compiled, state: State, step: Step) -> Env:
        local = {param.name: value for param, value in zip(item.action.params, step.args, strict=True)}
        return Env(state, None, local)

    def apply(self, state: State, step: Step) -> Transition | None:
        """The transition by ``step`` from a reachable state, or None if it is not enabled. Raises
        BelowZeroError.
        """
        found = self.transition(state, step)
        if found is not None and found.below is not None:
            raise BelowZeroError(self.instance.protocol, step, found.below)
        return found

    def transition(self, state: State, step: Step) -> Transition | None:
        """The same from any state, reachable or not: ``below`` names a negative value."""
        item = self._actions[step.action]
        env = self._env(item, state, step)
        for check in item.guards:
            if not check(env):
                return None
        return self._effect(item, env, step)

    def effect(self, state: State, step: Step) -> Transition:
        """The assignments of ``step`` applied to a state, whether or not the guard holds."""
        item = self._actions[step.action]
        return self._effect(item, self._env(item, state, step), step)

    def _effect(self, item: _Compiled, env: Env, step: Step) -> Transition:
        after = list(env.before)
        in_bounds, below = True, None
        for (slot, evaluate, fits), (_, expr) in zip(item.updates, item.action.updates, strict=True):
            value = after[slot] = evaluate(env)
            if env.below is not None and below is None:
                key, kind = env.below
                below = Below(self.spec.variables[slot].name, key, str(kind), is_key=True)
            if not fits(value):
                in_bounds = False
                below = below or self._below(self.spec.variables[slot], value, expr, env)
        return Transition(step, tuple(after), in_bounds and not env.out_of_bounds, below)

    def _below(self, variable: Variable, value: Any, expr: Expr, env: Env) -> Below | None:
        kind = variable.type.value if isinstance(variable.type, MapType) else variable.type
        least = least_of(kind)
        keys = self._keys[variable.name]
        for key, entry in [(None, value)] if keys is None else zip(keys, value, strict=True):
            if least is not None and entry < least:
                shown = ", ".join(map(str, key)) if isinstance(key, tuple) else key
                what = variable.name if key is None else f"{variable.name}[{shown}]"
                term, at = self._term(expr, entry, env)
                return Below(what, entry, str(kind), term=term, at=at)
        return None

    def _term(self, expr: Expr, value: int, env: Env) -> tuple[str, str]:
        """The innermost difference, sum or product with this value, and the values of what it reads."""
        terms = [
            one
            for one in walk(expr)
            if isinstance(one, Apply)
            and one.op in ("add", "sub", "mul")
            and free_locals(one) <= env.locals.keys()
            and self._run(one, env) == value
        ]
        if not terms:
            return "", ""
        read = [one for one in walk(terms[-1]) if isinstance(one, Read | Select | Local)]
        known = {
            render(one): self._run(one, env)
            for one in read
            if not isinstance(one.type, MapType) and free_locals(one) <= env.locals.keys()
        }
        return render(terms[-1]), ", ".join(f"{name} = {found}" for name, found in known.items())

    def _bounds(self, variable: Variable) -> Callable[[Any], bool]:
        kind = variable.type
        if isinstance(kind, MapType):
            return frozenset(self.instance.domain(kind.value).values).issuperset
        return frozenset(self.instance.domain(kind).values).__contains__

    def successors(self, state: State) -> Iterator[Transition]:
        """All transitions from a reachable state, in declared order. Raises BelowZeroError."""
        for step in self.steps:
            found = self.apply(state, step)
            if found is not None:
                yield found

    def evaluate(self, expr: Expr, before: State, after: State | None = None, **local: Value) -> Any:
        """Value of a scalar expression in a state, or in a pair of states."""
        return self._run(expr, Env(before, after, local))

    def _run(self, expr: Expr, env: Env) -> Any:
        known = self._conditions.get(id(expr))  # by identity: hashing a tree costs more than evaluating it
        if known is None:
            known = self._conditions[id(expr)] = (expr, self.compiler.scalar(expr))
        return known[1](env)

    def holds(
        self, prop: Property, before: State, after: State | None = None, step: Step | None = None
    ) -> bool:
        """Does a state (or a step) satisfy the property? A witness holds of steps by its own action only,
        from which it takes its parameters. Raises ValueError for a leads_to: evaluate its ``premise`` and
        ``expr``.
        """
        if prop.kind == "leads_to":
            raise ValueError(f"{prop.id} speaks about runs; evaluate its premise and its conclusion")
        if prop.kind == "reachable" and (step is None or step.action != prop.after):
            return False
        local: dict[str, Value] = {}
        if step is not None and prop.kind == "reachable":
            params = self._actions[step.action].action.params
            local = {param.name: value for param, value in zip(params, step.args, strict=True)}
        return bool(self._run(prop.expr, Env(before, after, local)))

    def decode(self, state: State) -> dict[str, Any]:
        """The state by variable name: scalars as they are, maps as ``{key or (key, ...): value}``."""
        return {
            name: value if keys is None else dict(zip(keys, value, strict=True))
            for (name, keys), value in zip(self._keys.items(), state, strict=True)
        }

    def encode(self, values: dict[str, Any]) -> State:
        """The inverse of ``decode``; missing keys and a missing variable are errors (KeyError)."""
        return tuple(
            [
                values[name] if keys is None else tuple([values[name][key] for key in keys])
                for name, keys in self._keys.items()
            ]
        )


def below_zero(interpreter: Interpreter, states: Sequence[State], steps: Sequence[Step]) -> BelowZeroError:
    """The error of a step from the last of ``states``, to which ``steps`` lead. Raises RuntimeError if the
    interpreter has no such step: then the engine that reports it is wrong.
    """
    try:
        for _ in interpreter.successors(states[-1]):
            pass
    except BelowZeroError as error:
        return error.after(states, steps)
    state = interpreter.decode(states[-1])
    raise RuntimeError(f"no step from {state} makes a number negative for the interpreter")
