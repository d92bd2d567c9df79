"""The meaning of expressions, as Python closures over a pair of states and the local variables."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from tidemark.models.instance import Instance
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
    map_type,
)
from tidemark.spec.language.types import MapType, Type, least_of

State = tuple[Any, ...]


class Env:
    """The context of an expression: the state before, the one after (for primed reads), the locals."""

    __slots__ = ("after", "before", "below", "locals", "out_of_bounds")

    def __init__(
        self, before: State, after: State | None = None, local: Mapping[str, Value] | None = None
    ) -> None:
        self.before = before
        self.after = after if after is not None else before
        self.locals: dict[str, Value] = dict(local or {})
        self.out_of_bounds = False
        self.below: tuple[int, Type] | None = None
        """A negative key of type ``Nat`` at which a new value is written."""


Evaluate = Callable[[Env], Any]
Lookup = Callable[[Env, tuple[Value, ...]], Value]


class Compiler:
    """Turns expressions of one instance into closures."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.slots = {variable.name: i for i, variable in enumerate(instance.spec.variables)}

    def scalar(self, node: Expr) -> Evaluate:
        """A closure for a Bool, Enum, number or element."""
        match node:
            case Const(value=value):
                return lambda _: value
            case Local(name=name):
                return lambda env: env.locals[name]
            case Read(variable=variable, primed=primed):
                slot = self.slots[variable.name]
                return (lambda env: env.after[slot]) if primed else (lambda env: env.before[slot])
            case Apply():
                return self._apply(node)
            case Select(map=source, keys=keys):
                lookup, places = self.lookup(source), [self.scalar(key) for key in keys]
                if len(places) == 1:
                    place = places[0]
                    return lambda env: lookup(env, (place(env),))
                return lambda env: lookup(env, tuple([place(env) for place in places]))
            case Quantified():
                return self._quantified(node)
            case Choose():
                return self._choose(node)
        raise TypeError(f"not a scalar: {node}")

    def _apply(self, node: Apply) -> Evaluate:
        if isinstance(node.type, MapType):
            raise TypeError("a choice between maps is not a scalar")
        if node.op == "eq" and isinstance(node.args[0].type, MapType):
            return self._same_maps(self.table(node.args[0]), self.table(node.args[1]))
        args = [self.scalar(arg) for arg in node.args]
        match node.op:
            case "and":
                return _junction(args, stops=False)
            case "or":
                return _junction(args, stops=True)
            case "not":
                one = args[0]
                return lambda env: not one(env)
            case "implies":
                one, two = args
                return lambda env: not one(env) or two(env)
            case "ite":
                test, one, two = args
                return lambda env: one(env) if test(env) else two(env)
        function, one, two = BINARY[node.op], args[0], args[1]
        return lambda env: function(one(env), two(env))

    def _same_maps(self, left: Evaluate, right: Evaluate) -> Evaluate:
        """Equal at all keys of the instance; a comparison is no write and leaves no mark."""

        def evaluate(env: Env) -> bool:
            saved = env.out_of_bounds, env.below
            same = left(env) == right(env)
            env.out_of_bounds, env.below = saved
            return bool(same)

        return evaluate

    def _quantified(self, node: Quantified) -> Evaluate:
        body = self.scalar(node.body)
        names = [binder.name for binder in node.binders]
        values = [
            dict(zip(names, item, strict=True))
            for item in itertools.product(
                *(self.instance.domain(binder.type).values for binder in node.binders)
            )
        ]
        counts = node.kind == "count"
        stops = {"forall": False, "exists": True, "count": None}[node.kind]

        def evaluate(env: Env) -> Any:
            saved = env.locals
            inner = env.locals = dict(saved)
            count = 0
            try:
                for item in values:
                    inner.update(item)
                    found = body(env)
                    if found == stops:
                        return found
                    count += found
            finally:
                env.locals = saved
            return count if counts else not stops

        return evaluate

    def _choose(self, node: Choose) -> Evaluate:
        body, default, name = self.scalar(node.body), self.scalar(node.default), node.binder.name
        values = self.instance.domain(node.binder.type).values
        order = values if node.kind == "least" else tuple(reversed(values))

        def evaluate(env: Env) -> Any:
            saved = env.locals
            inner = env.locals = dict(saved)
            try:
                for value in order:
                    inner[name] = value
                    if body(env):
                        return value
            finally:
                env.locals = saved
            return default(env)

        return evaluate

    def offset(self, kind: MapType) -> Callable[[tuple[Value, ...]], int | None]:
        """Place of a key in a stored map, or None outside the instance."""
        return {at: place for place, at in enumerate(self.instance.entries(kind))}.get

    def lookup(self, node: Expr) -> Lookup:
        """A closure for the value of a map at given keys, which may lie outside the instance."""
        match node:
            case Read():
                return self._stored(node)
            case Store(map=source, keys=keys, value=value):
                inner, places, new = (
                    self.lookup(source),
                    [self.scalar(key) for key in keys],
                    self.scalar(value),
                )
                return lambda env, at: new(env) if tuple(p(env) for p in places) == at else inner(env, at)
            case MapComprehension(binders=binders, body=body):
                evaluate, names = self.scalar(body), [binder.name for binder in binders]
                return lambda env, at: _scoped(env, names, at, evaluate)
            case Apply(op="ite", args=(condition, then, other)):
                test, one, two = self.scalar(condition), self.lookup(then), self.lookup(other)
                return lambda env, at: one(env, at) if test(env) else two(env, at)
        raise TypeError(f"not a map: {node}")

    def _stored(self, node: Read) -> Lookup:
        variable, place = node.variable, self.offset(map_type(node))
        out_of_bounds = self.instance.out_of_bounds_value(variable)
        table = self.table(node)

        def find(env: Env, at: tuple[Value, ...]) -> Value:
            index = place(at)
            return out_of_bounds if index is None else table(env)[index]

        return find

    def table(self, node: Expr) -> Evaluate:
        """A closure for a whole map as a tuple. It sets ``env.out_of_bounds``, and ``env.below`` for an
        impossible key.
        """
        kind = map_type(node)
        match node:
            case Read(variable=variable) if variable.constant:
                fixed = self.instance.map_constants[variable.name]
                return lambda _: fixed
            case Read(variable=variable, primed=primed):
                slot = self.slots[variable.name]
                return (lambda env: env.after[slot]) if primed else (lambda env: env.before[slot])
            case MapComprehension():
                find, entries = self.lookup(node), list(self.instance.entries(kind))
                return lambda env: tuple([find(env, at) for at in entries])
            case Apply(op="ite", args=(condition, then, other)):
                test, one, two = self.scalar(condition), self.table(then), self.table(other)
                return lambda env: one(env) if test(env) else two(env)
            case Store(map=source, keys=keys, value=value):
                return self._changed(source, [self.scalar(key) for key in keys], self.scalar(value))
        raise TypeError(f"not a map: {node}")

    def _changed(self, source: Expr, keys: list[Evaluate], value: Evaluate) -> Evaluate:
        base, find, place = self.table(source), self.lookup(source), self.offset(map_type(source))
        kinds = map_type(source).keys

        def evaluate(env: Env) -> tuple[Value, ...]:
            at = tuple([key(env) for key in keys])
            index, new, old = place(at), value(env), base(env)
            if index is None:
                if new != find(env, at):
                    env.out_of_bounds = True
                    env.below = env.below or _negative(at, kinds)
                return tuple(old)
            return (*old[:index], new, *old[index + 1 :])

        return evaluate


def _negative(values: tuple[Value, ...], kinds: tuple[Type, ...]) -> tuple[int, Type] | None:
    for value, kind in zip(values, kinds, strict=True):
        least = least_of(kind)
        if least is not None and int(value) < least:
            return int(value), kind
    return None


def _junction(args: list[Evaluate], *, stops: bool) -> Evaluate:
    """All of them, or with ``stops`` any; parts after the deciding one are not evaluated."""

    def evaluate(env: Env) -> bool:
        for arg in args:
            if arg(env) == stops:
                return stops
        return not stops

    return evaluate


def _scoped(env: Env, names: list[str], values: tuple[Value, ...], body: Evaluate) -> Any:
    saved = env.locals
    env.locals = {**saved, **dict(zip(names, values, strict=True))}
    try:
        return body(env)
    finally:
        env.locals = saved
