"""The states of a small instance, found by Z3 from the formulas of the proofs with the ranges of the
instance: a second opinion on the interpreter, slow by design.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import z3

from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.symbolic.encode import Encoder, Vocabulary
from tidemark.models.symbolic.obligations import Obligations
from tidemark.models.symbolic.scope import Scope
from tidemark.spec.language.expr import Expr, Local, Value, Variable, walk
from tidemark.spec.language.fold import select
from tidemark.spec.language.spec import Action
from tidemark.spec.language.types import BoolType, EnumType, MapType, NumberType, Type


class Enumerator:
    """Initial states, successors and values of an instance with all its constants, by Z3."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.spec = instance.spec
        self.vocabulary = Vocabulary(self.spec, instance=instance)
        self.encoder = Encoder(self.vocabulary)
        self.obligations = Obligations(self.spec, scope=Scope(self.spec, instance))
        self._fixed = self._constants()

    def _constants(self) -> list[Any]:
        """The map constants have the values that the instance gives."""
        parts = []
        for variable in self.spec.constants:
            flat = self.instance.map_constants[variable.name]
            parts += self._is(variable, "", flat)
        return parts

    def _cells(self, kind: Type) -> list[tuple[Value, ...]]:
        return list(self.instance.entries(kind)) if isinstance(kind, MapType) else [()]

    def _scalar(self, kind: Type) -> Type:
        return kind.value if isinstance(kind, MapType) else kind

    def _term(self, variable: Variable, suffix: str, cell: tuple[Value, ...]) -> Any:
        symbol, kind = self.vocabulary.symbol(variable, suffix), variable.type
        if not isinstance(kind, MapType):
            return symbol
        return symbol(*(self.vocabulary.literal(k, v) for k, v in zip(kind.keys, cell, strict=True)))

    def _is(self, variable: Variable, suffix: str, value: Any) -> list[Any]:
        kind = self._scalar(variable.type)
        values = value if isinstance(variable.type, MapType) else (value,)
        return [
            self._term(variable, suffix, cell) == self.vocabulary.literal(kind, item)
            for cell, item in zip(self._cells(variable.type), values, strict=True)
        ]

    def _state_is(self, state: State, suffix: str) -> list[Any]:
        parts = []
        for variable, value in zip(self.spec.variables, state, strict=True):
            parts += self._is(variable, suffix, value)
        return parts

    def _solver(self, *parts: Any) -> Any:
        # Without preprocessing, which would eliminate symbols and leave quantifiers in a model.
        solver = z3.SimpleSolver(ctx=self.vocabulary.context)
        solver.set("random_seed", 0)
        solver.add(*self._fixed, *parts)
        return solver

    def _models(self, solver: Any, suffix: str) -> Iterator[State]:
        """All states that the formulas allow, one model after the other."""
        while (result := solver.check(*self.encoder.axioms)) == z3.sat:
            state = self._read(solver.model(), suffix)
            yield state
            solver.add(z3.Not(z3.And(*self._state_is(state, suffix), self.vocabulary.context)))
        if result != z3.unsat:
            raise RuntimeError(f"Z3 cannot enumerate {self.instance.name}: {solver.reason_unknown()}")

    def _read(self, model: Any, suffix: str) -> State:
        found: list[Any] = []
        for variable in self.spec.variables:
            kind = self._scalar(variable.type)
            values = tuple(
                self._value(kind, model.eval(self._term(variable, suffix, cell), model_completion=True))
                for cell in self._cells(variable.type)
            )
            found.append(values if isinstance(variable.type, MapType) else values[0])
        return tuple(found)

    def _value(self, kind: Type, term: Any) -> Value:
        if isinstance(kind, BoolType):
            return z3.is_true(term)  # type: ignore[no-any-return]
        if isinstance(kind, NumberType):
            return int(term.as_long())
        names = [str(item) for item in self.vocabulary.values(kind) or ()]
        place = names.index(str(term))
        return kind.members[place] if isinstance(kind, EnumType) else place

    def _typing(self, suffix: str) -> list[Any]:
        """Every entry lies in its domain."""
        parts = []
        for variable in self.spec.variables:
            kind = self._scalar(variable.type)
            for cell in self._cells(variable.type):
                parts += self.vocabulary.in_range(self._term(variable, suffix, cell), kind)
        return parts

    def initial(self) -> frozenset[State]:
        """The initial states."""
        parts = self._typing("")
        for variable in self.spec.variables:
            value = self.spec.initial[variable.name]
            if value is not None:
                size = len(self._cells(variable.type))
                parts += self._is(
                    variable, "", (value,) * size if isinstance(variable.type, MapType) else value
                )
        parts += [self.encoder.encode(condition) for condition in self.spec.initially]
        return frozenset(self._models(self._solver(*parts), ""))

    def successors(self, state: State) -> dict[Step, State]:
        """The state after each enabled step that stays within the instance."""
        return {step: after for action in self.spec.actions for step, after in self._by(action, state)}

    def _by(self, action: Action, state: State) -> Iterator[tuple[Step, State]]:
        env = {p.name: z3.Const(p.name, self.vocabulary.sort(p.type)) for p in action.params}
        ranges = [part for p in action.params for part in self.vocabulary.in_range(env[p.name], p.type)]
        guards = [self.encoder.encode(guard.expr, env) for guard in action.guards]
        in_bounds = [
            self.encoder.encode(self.obligations.scope.well_typed(v, e), env)
            for v, e in self.obligations.updates(action).items()
        ]
        effect = [part for variable in self.spec.variables for part in self._effect(action, variable, env)]
        solver = self._solver(*self._state_is(state, ""), *ranges, *guards, *in_bounds, *effect)
        while (result := solver.check(*self.encoder.axioms)) == z3.sat:
            model = solver.model()
            args = {p.name: model.eval(env[p.name], model_completion=True) for p in action.params}
            after = self._read(model, "'")
            yield Step(action.name, tuple(self._value(p.type, args[p.name]) for p in action.params)), after
            solver.add(z3.Or(*(env[name] != value for name, value in args.items()), self.vocabulary.context))
        if result != z3.unsat:
            raise RuntimeError(
                f"Z3 cannot take {action.name} in {self.instance.name}: {solver.reason_unknown()}"
            )

    def _effect(self, action: Action, variable: Variable, env: Mapping[str, Any]) -> Iterator[Any]:
        update = self.obligations.updates(action).get(variable)
        for cell in self._cells(variable.type):
            after = self._term(variable, "'", cell)
            if update is None:
                yield after == self._term(variable, "", cell)
                continue
            yield after == self.encoder.encode(*self._cell_of(update, variable, cell, env))

    def _cell_of(
        self, update: Expr, variable: Variable, cell: tuple[Value, ...], env: Mapping[str, Any]
    ) -> tuple[Expr, dict[str, Any]]:
        kind = variable.type
        if not isinstance(kind, MapType):
            return update, dict(env)
        keys = tuple(Local(key, f"cell_{place}") for place, key in enumerate(kind.keys))
        values = {k.name: self.vocabulary.literal(k.type, v) for k, v in zip(keys, cell, strict=True)}
        return select(update, keys), {**env, **values}

    def reachable(self, *, limit: int = 10_000) -> frozenset[State]:
        """All states within the bounds. RuntimeError beyond ``limit`` states."""
        known = set(self.initial())
        frontier = list(known)
        while frontier:
            fresh = {after for state in frontier for after in self.successors(state).values()} - known
            known |= fresh
            frontier = sorted(fresh)
            if len(known) > limit:
                raise RuntimeError(f"more than {limit} states in {self.instance.name}; take smaller bounds")
        return frozenset(known)

    def evaluate(self, expr: Expr, before: State, after: State | None = None, **local: Value) -> Value:
        """Value of a scalar expression in a state, or in a pair of states: the one that Z3 allows."""
        kinds = {item.name: item.type for item in walk(expr) if isinstance(item, Local)}
        env = {
            name: self.vocabulary.literal(kinds[name], value)
            for name, value in local.items()
            if name in kinds
        }
        result = self.encoder.encode(expr, env)
        copies = self._state_is(after if after is not None else before, "'")
        solver = self._solver(*self._state_is(before, ""), *copies)
        name = z3.Const("value#", result.sort())
        solver.add(name == result)
        if solver.check(*self.encoder.axioms) != z3.sat:
            raise RuntimeError(f"Z3 gives no value: {solver.reason_unknown()}")
        value = solver.model().eval(name, model_completion=True)
        solver.add(name != value)
        if solver.check(*self.encoder.axioms) != z3.unsat:
            raise RuntimeError("Z3 allows a second value: the encoding does not determine the expression")
        return self._value(expr.type, value)
