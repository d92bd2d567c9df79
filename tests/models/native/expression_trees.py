"""Generated expression trees over the state of ``tests.protocols.lab``, for comparison of two readings."""

import itertools
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tidemark.models.instance import Instance
from tidemark.spec.language.expr import (
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
    Variable,
)
from tidemark.spec.language.fold import fold
from tidemark.spec.language.spec import Action, Guard
from tidemark.spec.language.types import BOOL, BoolType, EnumType, MapType, NumberType, SortType, Type

Scope = tuple[Local, ...]


class Generator:
    """Draws well-typed expressions; all randomness comes from ``random``."""

    def __init__(self, instance: Instance, choices: random.Random) -> None:
        self.instance, self.random = instance, choices
        spec = instance.spec
        self.types = {kind.name: kind for kind in spec.types}
        self.variables = (*spec.variables, *spec.constants)
        self._names = itertools.count()

    def any_of(self, *makers: Callable[[], Expr]) -> Expr:
        return self.random.choice(makers)()

    def scalar(self, kind: Type, depth: int, scope: Scope) -> Expr:
        """An expression of a scalar type."""
        if depth <= 0 or self.random.random() < 0.15:
            return self.leaf(kind, scope)
        if isinstance(kind, BoolType):
            return self.truth(depth - 1, scope)
        if isinstance(kind, NumberType):
            return self.number(kind, depth - 1, scope)
        return self.any_of(
            lambda: self.leaf(kind, scope),
            lambda: self.choice(kind, depth - 1, scope),
            lambda: self.selected(kind, depth - 1, scope),
        )

    def leaf(self, kind: Type, scope: Scope) -> Expr:
        usable: list[Expr] = [local for local in scope if local.type == kind]
        usable += [Read(v.type, v) for v in self.variables if v.type == kind]
        if isinstance(kind, SortType) or (usable and self.random.random() < 0.6):
            return self.random.choice(usable)
        if isinstance(kind, BoolType):
            return Const(kind, self.random.random() < 0.5)
        if isinstance(kind, EnumType):
            return Const(kind, self.random.choice(kind.members))
        return Const(kind, self.random.randint(-3, 5))

    def choice(self, kind: Type, depth: int, scope: Scope) -> Expr:
        return Apply(
            kind, "ite", (self.scalar(BOOL, depth, scope), *(self.scalar(kind, depth, scope) for _ in "ab"))
        )

    def selected(self, kind: Type, depth: int, scope: Scope) -> Expr:
        maps = [v for v in self.variables if isinstance(v.type, MapType) and v.type.value == kind]
        if not maps:
            return self.leaf(kind, scope)
        variable = self.random.choice(maps)
        table = self.table(variable, depth - 1, scope, stores=True)
        return Select(kind, table, self.keys(variable, depth, scope))

    def keys(self, variable: Variable, depth: int, scope: Scope) -> tuple[Expr, ...]:
        assert isinstance(variable.type, MapType)
        return tuple(self.scalar(key, depth - 1, scope) for key in variable.type.keys)

    def number(self, kind: NumberType, depth: int, scope: Scope) -> Expr:
        def pair(op: Any) -> Expr:
            return Apply(kind, op, (self.scalar(kind, depth, scope), self.scalar(kind, depth, scope)))

        def scaled(op: Any) -> Expr:
            return Apply(kind, op, (self.scalar(kind, depth, scope), Const(kind, self.random.randint(1, 4))))

        return self.any_of(
            lambda: self.leaf(kind, scope),
            lambda: self.choice(kind, depth, scope),
            lambda: self.selected(kind, depth, scope),
            lambda: pair(self.random.choice(("add", "sub", "min", "max"))),
            lambda: scaled(self.random.choice(("mul", "div", "mod"))),
            lambda: self.quantified("count", depth, scope, kind),
            lambda: self.extreme(kind, depth, scope),
        )

    def truth(self, depth: int, scope: Scope) -> Expr:
        kinds = list(self.types.values())
        kind = self.random.choice(kinds)
        numbers = [k for k in kinds if isinstance(k, NumberType)]
        number = self.random.choice(numbers)

        def apply(op: Any, of: Type, count: int = 2) -> Expr:
            return Apply(BOOL, op, tuple(self.scalar(of, depth, scope) for _ in range(count)))

        return self.any_of(
            lambda: self.leaf(BOOL, scope),
            lambda: self.choice(BOOL, depth, scope),
            lambda: self.selected(BOOL, depth, scope),
            lambda: apply("not", BOOL, 1),
            lambda: apply(self.random.choice(("and", "or")), BOOL, self.random.randint(2, 4)),
            lambda: apply("implies", BOOL),
            lambda: apply("eq", kind),
            lambda: apply(self.random.choice(("lt", "le")), number),
            lambda: self.quantified(self.random.choice(("forall", "exists")), depth, scope, BOOL),
            lambda: self.same_map(depth, scope),
        )

    def binder(self, *kinds: Type) -> Local:
        kind = self.random.choice(kinds or tuple(k for k in self.types.values() if k.name != "Wide"))
        return Local(kind, f"x_{next(self._names)}")

    def quantified(self, word: Any, depth: int, scope: Scope, kind: Type) -> Expr:
        binders = tuple(self.binder() for _ in range(self.random.randint(1, 2)))
        return Quantified(kind, word, binders, self.scalar(BOOL, depth, (*scope, *binders)))

    def extreme(self, kind: NumberType, depth: int, scope: Scope) -> Expr:
        binder = self.binder(self.types["Place"])
        body = self.scalar(BOOL, depth, (*scope, binder))
        word: Any = self.random.choice(("least", "greatest"))
        return Choose(kind, word, binder, body, self.scalar(kind, depth, scope))

    def same_map(self, depth: int, scope: Scope) -> Expr:
        variable = self.random.choice([v for v in self.variables if isinstance(v.type, MapType)])
        sides = (self.table(variable, depth, scope, stores=False) for _ in "ab")
        return Apply(BOOL, "eq", tuple(sides))

    def table(self, variable: Variable, depth: int, scope: Scope, *, stores: bool) -> Expr:
        """A map of the variable's type."""
        kind = variable.type
        assert isinstance(kind, MapType)
        like = [v for v in self.variables if v.type == kind]
        if depth <= 0 or self.random.random() < 0.3:
            chosen = self.random.choice(like)
            return Read(kind, chosen)

        def each() -> Expr:
            binders = tuple(self.binder(key) for key in kind.keys)
            return MapComprehension(kind, binders, self.scalar(kind.value, depth - 1, (*scope, *binders)))

        def store() -> Expr:
            inner = self.table(variable, depth - 1, scope, stores=True)
            return Store(
                kind, inner, self.keys(variable, depth, scope), self.scalar(kind.value, depth - 1, scope)
            )

        def either() -> Expr:
            sides = (self.table(variable, depth - 1, scope, stores=stores) for _ in "ab")
            return Apply(kind, "ite", (self.scalar(BOOL, depth - 1, scope), *sides))

        return self.any_of(each, either, *((store, store) if stores else ()))

    def action(self, name: str, depth: int) -> Action:
        """An action with up to two parameters, two guards and three updates."""
        params = tuple(self.binder() for _ in range(self.random.randint(0, 2)))
        params = tuple(replace(param, name=f"p_{i}") for i, param in enumerate(params))
        simplify = fold if self.random.random() < 0.5 else (lambda node: node)
        guards = tuple(
            Guard(simplify(self.scalar(BOOL, depth - 1, params)), "", "")
            for _ in range(self.random.randint(0, 2))
        )
        state = self.instance.spec.variables
        chosen = self.random.sample(state, self.random.randint(1, 3))
        updates = tuple(
            (variable, simplify(self.update(variable, depth, params)))
            for variable in state
            if variable in chosen
        )
        return Action(name, params, guards, updates, "none", "Generated.", "")

    def update(self, variable: Variable, depth: int, scope: Scope) -> Expr:
        if isinstance(variable.type, MapType):
            return self.table(variable, depth, scope, stores=True)
        if variable.name == "wide":
            return replace_type(self.number(self.types["Level"], depth, scope), variable.type)  # type: ignore[arg-type]
        return self.scalar(variable.type, depth, scope)

    def state(self) -> tuple[Any, ...]:
        """A state within the bounds, reachable or not."""

        def value(kind: Type) -> Any:
            if isinstance(kind, MapType):
                return tuple(value(kind.value) for _ in self.instance.entries(kind))
            return self.random.choice(self.instance.domain(kind).values)

        return tuple(value(variable.type) for variable in self.instance.spec.variables)


def generated(
    seed: int, bounds: Mapping[str, Any], constants: Mapping[str, Any], *, actions: int
) -> tuple[Instance, Generator]:
    """An instance whose actions are generated."""
    instance = Instance("tests.protocols.lab:Lab", bounds, constants, f"lab-{seed}")
    draw = Generator(instance, random.Random(seed))
    drawn = tuple(draw.action(f"action_{number}", depth=4) for number in range(actions))
    instance.__dict__["spec"] = replace(instance.spec, actions=drawn, properties=())
    return instance, draw


def replace_type(node: Expr, kind: Type) -> Expr:
    """The same number under another name: names matter to authors, not to the meaning."""
    return replace(node, type=kind)
