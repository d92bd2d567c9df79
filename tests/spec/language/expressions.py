"""Random typed expressions of every kind over the state of `Stations`, and random states.

Drawn from a `Random` that Hypothesis hands out, which is quicker than a strategy for each node.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Literal

from tests.protocols.stations import Stations
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.spec.language.expr import (
    Apply,
    Choose,
    Const,
    Expr,
    Local,
    MapComprehension,
    Operator,
    Quantified,
    Read,
    Select,
    Store,
)
from tidemark.spec.language.protocol import declared_by
from tidemark.spec.language.types import BOOL, LITERAL, EnumType, MapType, NumberType, SortType, Type

INSTANCE = Instance(
    Stations.reference(),
    {"Station": 2, "Place": 2, "Balance": (-1, 1)},
    {"route": [0, 1, 0], "capacity": 2},
    "random",
)
INTERPRETER = Interpreter(INSTANCE)
STATION, PLACE, BALANCE, MODE = (
    declared_by(Stations).types[name] for name in ("Station", "Place", "Balance", "Mode")
)
SCALARS: tuple[Type, ...] = (BOOL, MODE, PLACE, BALANCE, STATION)
KEYS: tuple[tuple[Type, ...], ...] = ((PLACE,), (STATION,), (STATION, PLACE))
NAMES = ("a", "b", "a'")
"""Few names, so that bound variables shadow and capture each other."""
Scope = dict[str, Type]


def variables(kind: Type) -> list[Expr]:
    """Reads of state and map constants of exactly this type, before and after the step."""
    spec = INSTANCE.spec
    reads = [Read(v.type, v, primed) for v in spec.variables for primed in (False, True) if v.type == kind]
    return [*reads, *(Read(v.type, v) for v in spec.constants if v.type == kind)]


def literal(random: Random, kind: Type) -> Expr:
    if isinstance(kind, EnumType):
        return Const(kind, random.choice(kind.members))
    if isinstance(kind, NumberType):
        return Const(kind, random.randint(-2 if kind.signed else 0, 4))
    return Const(kind, random.randint(0, 1) if isinstance(kind, SortType) else random.random() < 0.5)


def leaf(random: Random, kind: Type, scope: Scope) -> Expr:
    known: list[Expr] = [Local(t, name) for name, t in scope.items() if t == kind]
    known += variables(kind)
    return literal(random, kind) if not known or random.random() < 0.3 else random.choice(known)


def scalar(random: Random, kind: Type, scope: Scope, depth: int) -> Expr:
    """An expression of a scalar type, at most ``depth`` operators deep (maps count too)."""
    if depth == 0 or random.random() < 0.1:
        return leaf(random, kind, scope)
    options: list[Callable[[Random, Type, Scope, int], Expr]] = [choice, selection]
    if kind == BOOL:
        options += [connective, comparison, quantified, quantified]
    if isinstance(kind, NumberType):
        options += [arithmetic, arithmetic]
        if not kind.signed:
            options += [extreme, counted]
    return random.choice(options)(random, kind, scope, depth)


def pair(random: Random, kind: Type, scope: Scope, depth: int) -> tuple[Expr, Expr]:
    """Two expressions; often equal ones or a literal, because simplification looks for these."""
    left = scalar(random, kind, scope, depth - 1)
    if random.random() < 0.2:
        return left, left
    right = literal(random, kind) if random.random() < 0.2 else scalar(random, kind, scope, depth - 1)
    return (left, right) if random.random() < 0.5 else (right, left)


def choice(random: Random, kind: Type, scope: Scope, depth: int) -> Expr:
    condition = scalar(random, BOOL, scope, depth - 1)
    return Apply(kind, "ite", (condition, *pair(random, kind, scope, depth)))


def connective(random: Random, _kind: Type, scope: Scope, depth: int) -> Expr:
    ops: tuple[Operator, ...] = ("and", "or", "not", "implies")
    op = random.choice(ops)
    size = {"not": 1, "implies": 2}.get(op) or random.randint(1, 3)
    return Apply(BOOL, op, tuple(scalar(random, BOOL, scope, depth - 1) for _ in range(size)))


def comparison(random: Random, _kind: Type, scope: Scope, depth: int) -> Expr:
    kind = random.choice(SCALARS)
    ops: tuple[Operator, ...] = ("eq", "lt", "le") if isinstance(kind, NumberType) else ("eq",)
    return Apply(BOOL, random.choice(ops), pair(random, kind, scope, depth))


def arithmetic(random: Random, kind: Type, scope: Scope, depth: int) -> Expr:
    ops: tuple[Operator, ...] = ("add", "sub", "mul", "div", "mod", "min", "max")
    op, (left, right) = random.choice(ops), pair(random, kind, scope, depth)
    if op in ("div", "mod", "mul"):
        return Apply(kind, op, (left, Const(LITERAL, random.randint(1 if op != "mul" else -2, 3))))
    return Apply(kind, op, (left, right))


def _quantified(random: Random, scope: Scope, depth: int, kind: Literal["forall", "exists", "count"]) -> Expr:
    bound = tuple(Local(random.choice(SCALARS), name) for name in random.sample(NAMES, random.randint(1, 2)))
    body = scalar(random, BOOL, scope | {b.name: b.type for b in bound}, depth - 1)
    return Quantified(LITERAL if kind == "count" else BOOL, kind, bound, body)


def quantified(random: Random, _kind: Type, scope: Scope, depth: int) -> Expr:
    return _quantified(random, scope, depth, "forall" if random.random() < 0.5 else "exists")


def counted(random: Random, _kind: Type, scope: Scope, depth: int) -> Expr:
    return _quantified(random, scope, depth, "count")


def extreme(random: Random, kind: Type, scope: Scope, depth: int) -> Expr:
    name = random.choice(NAMES)
    body = scalar(random, BOOL, scope | {name: kind}, depth - 1)
    default = scalar(random, kind, scope, depth - 1)
    return Choose(kind, "least" if random.random() < 0.5 else "greatest", Local(kind, name), body, default)


def selection(random: Random, kind: Type, scope: Scope, depth: int) -> Expr:
    keys = random.choice(KEYS)
    source = table(random, MapType("", keys, kind), scope, depth - 1)
    return Select(kind, source, tuple(scalar(random, key, scope, depth - 1) for key in keys))


def table(random: Random, kind: MapType, scope: Scope, depth: int) -> Expr:
    """An expression of a map type."""
    known = variables(kind)
    if known and (depth <= 0 or random.random() < 0.2):
        return random.choice(known)
    depth = max(depth, 1)
    form = random.choice(["each", "store", "choice"]) if depth > 1 or known else "each"
    if form == "each":
        names = random.sample(NAMES, len(kind.keys))
        bound = tuple(Local(key, name) for key, name in zip(kind.keys, names, strict=True))
        body = scalar(random, kind.value, scope | {b.name: b.type for b in bound}, depth - 1)
        return MapComprehension(kind, bound, body)
    if form == "store":
        keys = tuple(scalar(random, key, scope, depth - 1) for key in kind.keys)
        source = table(random, kind, scope, depth - 1)
        return Store(kind, source, keys, scalar(random, kind.value, scope, depth - 1))
    parts = [table(random, kind, scope, depth - 1) for _ in range(2)]
    return Apply(kind, "ite", (scalar(random, BOOL, scope, depth - 1), *parts))


def value(random: Random, kind: Type) -> Any:
    """A value of a type within the instance; a map as a tuple."""
    if isinstance(kind, MapType):
        return tuple(value(random, kind.value) for _ in INSTANCE.entries(kind))
    return random.choice(INSTANCE.domain(kind).values)


def state(random: Random) -> tuple[Any, ...]:
    """Any state within the bounds, reachable or not."""
    return tuple(value(random, v.type) for v in INSTANCE.spec.variables)


def scope_with_values(random: Random) -> tuple[Scope, dict[str, Any]]:
    """Free variables with types and values."""
    names = random.sample(NAMES, random.randint(0, len(NAMES)))
    scope = {name: random.choice(SCALARS) for name in names}
    return scope, {name: value(random, kind) for name, kind in scope.items()}
