"""The bounded reading of a protocol as propositional formulas: quantifiers are expanded over an instance. It
finds small counterexamples to induction and short runs, which the interpreter replays.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.symbolic import bits
from tidemark.models.symbolic.bits import Bit, Cases
from tidemark.spec.language.expr import (
    BINARY,
    Apply,
    Choose,
    Const,
    Expr,
    Local,
    MapComprehension,
    Quantified,
    Read,
    Select,
    Store,
    Value,
    Variable,
    free_locals,
    map_type,
)
from tidemark.spec.language.types import MapType, Type, least_of

Cell = tuple[Value, ...]
"""Keys of a map entry; empty for a scalar."""

SymbolicState = Mapping[str, Mapping[Cell, Cases]]
"""Per variable the possible values of each entry."""


@dataclass(frozen=True)
class Frame:
    """The context of an expression: the state before and after, and the locals with known values."""

    before: SymbolicState
    after: SymbolicState
    local: Mapping[str, Value]


class Finite:
    """Evaluates expressions of one instance over symbolic states. Open constants are symbolic too."""

    def __init__(self, instance: Instance, constants: Mapping[str, Mapping[Cell, Cases]]) -> None:
        self.instance = instance
        self.constants = constants
        self._free: dict[int, tuple[str, ...]] = {}
        self._memo: dict[tuple[int, int, int, tuple[Value, ...]], Cases] = {}
        self._alive: list[object] = []

    def bit(self, node: Expr, frame: Frame) -> Bit:
        """The condition that a Boolean expression is true."""
        return bits.truth(self.cases(node, frame))

    def cases(self, node: Expr, frame: Frame) -> Cases:
        """The possible values of a scalar expression."""
        if isinstance(node, Const):
            return bits.known(node.value)
        if isinstance(node, Local):
            return bits.known(frame.local[node.name])
        if id(node) not in self._free:
            self._free[id(node)] = tuple(sorted(free_locals(node)))
            self._alive.append(node)
        local = tuple(frame.local[name] for name in self._free[id(node)])
        key = (id(node), id(frame.before), id(frame.after), local)
        if key not in self._memo:
            self._memo[key] = self._cases(node, frame)
            self._alive += (frame.before, frame.after)
        return self._memo[key]

    def _cases(self, node: Expr, frame: Frame) -> Cases:
        match node:
            case Read():
                return self._stored(node, frame)[()]
            case Apply():
                return self._apply(node, frame)
            case Select(map=source, keys=keys):
                return self._select(source, [self.cases(key, frame) for key in keys], frame)
            case Quantified(kind="count"):
                total = bits.known(0)
                for inner in self._assignments(node.binders, frame):
                    here = bits.boolean(self.bit(node.body, inner))
                    total = bits.combine(lambda n, hit: n + int(hit), total, here)
                return total
            case Quantified(kind=kind, binders=binders, body=body):
                join = bits.every if kind == "forall" else bits.some
                return bits.boolean(
                    join(self.bit(body, inner) for inner in self._assignments(binders, frame))
                )
            case Choose():
                return self._choose(node, frame)
        raise TypeError(f"not a scalar: {node}")

    def _stored(self, node: Read, frame: Frame) -> Mapping[Cell, Cases]:
        if node.variable.constant:
            return self.constants[node.variable.name]
        return (frame.after if node.primed else frame.before)[node.variable.name]

    def _assignments(self, binders: tuple[Local, ...], frame: Frame) -> Iterator[Frame]:
        domains = (self.instance.domain(binder.type).values for binder in binders)
        for values in itertools.product(*domains):
            chosen = {b.name: v for b, v in zip(binders, values, strict=True)}
            yield Frame(frame.before, frame.after, {**frame.local, **chosen})

    def _choose(self, node: Choose, frame: Frame) -> Cases:
        values = self.instance.domain(node.binder.type).values
        result = self.cases(node.default, frame)
        for value in reversed(values) if node.kind == "least" else values:
            hit = self.bit(
                node.body, Frame(frame.before, frame.after, {**frame.local, node.binder.name: value})
            )
            result = bits.choose(hit, bits.known(value), result)
        return result

    def _apply(self, node: Apply, frame: Frame) -> Cases:
        if node.op == "eq" and isinstance(node.args[0].type, MapType):
            cells = self.instance.entries(map_type(node.args[0]))
            left, right = node.args
            return bits.boolean(
                bits.every(bits.same(self.entry(left, c, frame), self.entry(right, c, frame)) for c in cells)
            )
        match node.op:
            case "and":
                return bits.boolean(bits.every(self.bit(arg, frame) for arg in node.args))
            case "or":
                return bits.boolean(bits.some(self.bit(arg, frame) for arg in node.args))
            case "not":
                return bits.boolean(bits.invert(self.bit(node.args[0], frame)))
            case "implies":
                premise = self.bit(node.args[0], frame)
                if premise is False:
                    return bits.known(value=True)
                return bits.boolean(bits.either(bits.invert(premise), self.bit(node.args[1], frame)))
            case "ite":
                condition = self.bit(node.args[0], frame)
                if isinstance(condition, bool):
                    return self.cases(node.args[1 if condition else 2], frame)
                return bits.choose(
                    condition, self.cases(node.args[1], frame), self.cases(node.args[2], frame)
                )
        left_cases, right_cases = (self.cases(arg, frame) for arg in node.args)
        if node.op == "eq":
            return bits.boolean(bits.same(left_cases, right_cases))
        if node.op in ("lt", "le"):
            return bits.boolean(bits.compare(BINARY[node.op], left_cases, right_cases))
        return bits.combine(BINARY[node.op], left_cases, right_cases)

    def _select(self, source: Expr, keys: list[Cases], frame: Frame) -> Cases:
        parts: list[tuple[Bit, Value]] = []
        for chosen in itertools.product(*(key.items() for key in keys)):
            at = bits.every(bit for _, bit in chosen)
            if at is False:
                continue
            entry = self.entry(source, tuple(value for value, _ in chosen), frame)
            parts += [(bits.both(at, bit), value) for value, bit in entry.items()]
        return bits.merge(parts)

    def entry(self, node: Expr, cell: Cell, frame: Frame) -> Cases:
        """Value of a map-valued expression at known keys, which may lie outside the instance."""
        match node:
            case Read(variable=variable):
                stored = self._stored(node, frame)
                return stored.get(cell) or bits.known(self.instance.out_of_bounds_value(variable))
            case Store(map=source, keys=keys, value=value):
                hit = bits.every(
                    self.cases(key, frame).get(part, False) for key, part in zip(keys, cell, strict=True)
                )
                if hit is False:
                    return self.entry(source, cell, frame)
                new = self.cases(value, frame)
                return new if hit is True else bits.choose(hit, new, self.entry(source, cell, frame))
            case MapComprehension(binders=binders, body=body):
                chosen = {b.name: v for b, v in zip(binders, cell, strict=True)}
                return self.cases(body, Frame(frame.before, frame.after, {**frame.local, **chosen}))
            case Apply(op="ite", args=(condition, then, other)):
                test = self.bit(condition, frame)
                if isinstance(test, bool):
                    return self.entry(then if test else other, cell, frame)
                return bits.choose(test, self.entry(then, cell, frame), self.entry(other, cell, frame))
        raise TypeError(f"not a map: {node}")

    def in_bounds(self, kind: MapType, cell: Cell) -> bool:
        """Is it a key of the instance?"""
        domains = self.instance.domains(kind.keys)
        return all(d.index(part) is not None for d, part in zip(domains, cell, strict=True))

    def stores_only_at(self, known: Callable[[MapType, Cell], bool], node: Expr, frame: Frame) -> Bit:
        """No entry at another key gets a new value."""
        match node:
            case Store(map=source, keys=keys, value=value):
                kind = map_type(node)
                cases = [self.cases(key, frame) for key in keys]
                harmless: list[Bit] = [self.stores_only_at(known, source, frame)]
                for chosen in itertools.product(*(case.items() for case in cases)):
                    cell = tuple(part for part, _ in chosen)
                    if known(kind, cell):
                        continue
                    at = bits.every(bit for _, bit in chosen)
                    unchanged = bits.same(self.cases(value, frame), self.entry(source, cell, frame))
                    harmless.append(bits.either(bits.invert(at), unchanged))
                return bits.every(harmless)
            case Apply(op="ite", args=(condition, then, other)):
                test = self.bit(condition, frame)
                one, two = (self.stores_only_at(known, part, frame) for part in (then, other))
                return bits.every([bits.either(bits.invert(test), one), bits.either(test, two)])
        return True


@dataclass(frozen=True)
class Move:
    """A step with its effect on a symbolic state. ``written`` are the variables that it assigns."""

    step: Step
    enabled: Bit
    in_bounds: Bit
    below: Mapping[str, Bit]
    """Per assigned variable: a natural number, or the key of a written entry, would be negative."""
    written: Mapping[str, Mapping[Cell, Cases]]

    def after(self, before: SymbolicState) -> SymbolicState:
        """The whole state after the step."""
        return {**before, **self.written}


class SymbolicInstance:
    """Symbolic states, initial states and moves of an instance. Constants without a value are free."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.spec = instance.spec
        self.conditions: list[Bit] = []
        """Conditions on every symbol so far: exactly one value for each entry."""
        constants = {v.name: self._constant(v) for v in self.spec.constants}
        self.finite = Finite(instance, constants)
        frame = Frame({}, {}, {})
        for claim in self.spec.assumptions:
            for inner in self._bound(claim.params, frame):
                self.conditions.append(self.finite.bit(claim.expr, inner))

    def _constant(self, variable: Variable) -> Mapping[Cell, Cases]:
        if variable.name in self.instance.constants:
            kind = variable.type
            assert isinstance(kind, MapType)  # scalars have been put in by the instance
            flat = self.instance.map_constants[variable.name]
            return {c: bits.known(v) for c, v in zip(self.instance.entries(kind), flat, strict=True)}
        return self._symbols(variable, "")

    def _bound(self, params: tuple[Local, ...], frame: Frame) -> Iterator[Frame]:
        for values in itertools.product(*(self.instance.domain(p.type).values for p in params)):
            yield Frame(frame.before, frame.after, {p.name: v for p, v in zip(params, values, strict=True)})

    def cells(self, kind: Type) -> tuple[Cell, ...]:
        """Keys of all entries in the order in which a state stores them."""
        return tuple(self.instance.entries(kind)) if isinstance(kind, MapType) else ((),)

    def values(self, kind: Type) -> tuple[Value, ...]:
        """Values of one entry."""
        return self.instance.domain(kind.value if isinstance(kind, MapType) else kind).values

    def _symbols(self, variable: Variable, suffix: str) -> Mapping[Cell, Cases]:
        values = self.values(variable.type)
        table: dict[Cell, Cases] = {}
        for cell in self.cells(variable.type):
            at = f"[{','.join(map(str, cell))}]" if cell else ""
            name = f"{variable.name}{at}{suffix}"
            if isinstance(values[0], bool):
                table[cell] = bits.boolean(z3.Bool(name))
                continue
            flags = {value: z3.Bool(f"{name}={value}") for value in values}
            if len(values) == 1:
                table[cell] = bits.known(values[0])
                continue
            self.conditions.append(z3.PbEq([(flag, 1) for flag in flags.values()], 1))
            table[cell] = flags
        return table

    def state(self, suffix: str = "") -> SymbolicState:
        """An arbitrary state of the instance."""
        return {variable.name: self._symbols(variable, suffix) for variable in self.spec.variables}

    def initial(self) -> tuple[SymbolicState, Bit]:
        """The initial state (symbolic where a variable starts with any value) and the condition on it."""
        state: dict[str, Mapping[Cell, Cases]] = {}
        for variable in self.spec.variables:
            value = self.spec.initial[variable.name]
            if value is None:
                state[variable.name] = self._symbols(variable, "@0")
            else:
                state[variable.name] = {cell: bits.known(value) for cell in self.cells(variable.type)}
        frame = Frame(state, state, {})
        return state, bits.every(self.finite.bit(expr, frame) for expr in self.spec.initially)

    def moves(self, before: SymbolicState, actions: tuple[str, ...] | None = None) -> Iterator[Move]:
        """Every step (of the named actions) from a symbolic state; those that cannot happen are left out."""
        for action in self.spec.actions:
            if actions is not None and action.name not in actions:
                continue
            for frame in self._bound(action.params, Frame(before, before, {})):
                enabled = bits.every(self.finite.bit(guard.expr, frame) for guard in action.guards)
                if enabled is False:
                    continue
                step = Step(action.name, tuple(frame.local[p.name] for p in action.params))
                written = {v.name: self._written(v, expr, frame) for v, expr in action.updates}
                finite = self.finite
                in_bounds = [
                    finite.stores_only_at(finite.in_bounds, expr, frame) for _, expr in action.updates
                ]
                in_bounds += [self._in_domain(v, written[v.name]) for v, _ in action.updates]
                trimmed = {v.name: self._trim(v, written[v.name]) for v, _ in action.updates}
                below = {v.name: self._below(v, written[v.name], e, frame) for v, e in action.updates}
                yield Move(step, enabled, bits.every(in_bounds), below, trimmed)

    def _written(self, variable: Variable, expr: Expr, frame: Frame) -> Mapping[Cell, Cases]:
        if isinstance(variable.type, MapType):
            return {cell: self.finite.entry(expr, cell, frame) for cell in self.cells(variable.type)}
        return {(): self.finite.cases(expr, frame)}

    def _in_domain(self, variable: Variable, table: Mapping[Cell, Cases]) -> Bit:
        allowed = frozenset(self.values(variable.type))
        return bits.every(
            bits.invert(bits.some(bit for value, bit in cases.items() if value not in allowed))
            for cases in table.values()
        )

    def _below(self, variable: Variable, table: Mapping[Cell, Cases], expr: Expr, frame: Frame) -> Bit:
        kind = variable.type.value if isinstance(variable.type, MapType) else variable.type
        parts = [bits.invert(self.finite.stores_only_at(_no_key_is_below, expr, frame))]
        if least_of(kind) is not None:
            parts += [bit for cases in table.values() for value, bit in cases.items() if int(value) < 0]
        return bits.some(parts)

    def _trim(self, variable: Variable, table: Mapping[Cell, Cases]) -> Mapping[Cell, Cases]:
        """Drop values outside the instance: ``in_bounds`` says when one of them would be taken."""
        allowed = frozenset(self.values(variable.type))
        return {
            cell: {value: bit for value, bit in cases.items() if value in allowed}
            for cell, cases in table.items()
        }

    def holds(
        self, expr: Expr, before: SymbolicState, after: SymbolicState | None = None, **local: Value
    ) -> Bit:
        """The condition that a Boolean expression holds in a state, or in a pair of states."""
        return self.finite.bit(expr, Frame(before, after if after is not None else before, local))

    def decode(self, model: Any, state: SymbolicState) -> tuple[Any, ...]:
        """The state of a Z3 model, as the interpreter stores it."""
        found: list[Any] = []
        for variable in self.spec.variables:
            values = self._table(model, variable, state[variable.name])
            found.append(values if isinstance(variable.type, MapType) else values[0])
        return tuple(found)

    def decode_constants(self, model: Any) -> dict[str, Any]:
        """Values of the free constants in a Z3 model, as an ``Instance`` wants them."""
        found: dict[str, Any] = {}
        for variable in self.spec.constants:
            values = self._table(model, variable, self.finite.constants[variable.name])
            if not isinstance(variable.type, MapType):
                found[variable.name] = values[0]
                continue
            level: list[Any] = list(values)
            for domain in reversed(self.instance.domains(variable.type.keys)[1:]):
                level = [level[i : i + domain.size] for i in range(0, len(level), domain.size)]
            found[variable.name] = level
        return found

    def _table(self, model: Any, variable: Variable, table: Mapping[Cell, Cases]) -> tuple[Value, ...]:
        return tuple(_value_of(model, table[cell]) for cell in self.cells(variable.type))


def _no_key_is_below(kind: MapType, cell: Cell) -> bool:
    """Is no natural number in the key negative?"""
    return all(least_of(k) is None or int(part) >= 0 for k, part in zip(kind.keys, cell, strict=True))


def _value_of(model: Any, cases: Cases) -> Value:
    for value, bit in cases.items():
        if bit is True or (bit is not False and z3.is_true(model.eval(bit, model_completion=True))):
            return value
    raise ValueError(f"the model gives none of the values {list(cases)}")
