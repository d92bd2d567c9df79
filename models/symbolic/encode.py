"""Expressions as first-order formulas of Z3, for any number of elements and any numbers.

Sorts are uninterpreted, maps are uninterpreted functions, numbers are integers whose range is a condition on
binders. With an instance (see ``Scope``) the same code gives the bounded reading, which is compared with the
interpreter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import z3

from tidemark.models.digest import content_digest
from tidemark.models.instance import Instance
from tidemark.models.symbolic.errors import UnprovableError
from tidemark.models.symbolic.normal import canonical, expand_count
from tidemark.models.symbolic.scope import Scope
from tidemark.spec.language.expr import (
    BINARY,
    Apply,
    Choose,
    Const,
    Expr,
    Local,
    Quantified,
    Read,
    Select,
    Value,
    Variable,
    free_locals,
    substitute,
    walk,
)
from tidemark.spec.language.fold import fold, select
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Spec
from tidemark.spec.language.types import BOOL, BoolType, EnumType, MapType, NumberType, Type

Z3 = Any  # z3 has no type information
Env = Mapping[str, Z3]


class Vocabulary:
    """Z3 sorts and symbols of a protocol, in a context of their own: equal for equal protocols."""

    def __init__(self, spec: Spec, *, instance: Instance | None = None) -> None:
        self.spec = spec
        self.scope = Scope(spec, instance)
        self.context: Z3 = z3.Context()
        self._sorts: dict[Type, tuple[Z3, tuple[Z3, ...]]] = {}
        self._symbols: dict[tuple[str, str], Z3] = {}
        self._fresh = itertools.count()

    def sort(self, kind: Type) -> Z3:
        """The Z3 sort of a scalar type."""
        if isinstance(kind, BoolType):
            return z3.BoolSort(self.context)
        if isinstance(kind, NumberType):
            return z3.IntSort(self.context)
        return self._declared(kind)[0]

    def _declared(self, kind: Type) -> tuple[Z3, tuple[Z3, ...]]:
        if kind not in self._sorts:
            if isinstance(kind, EnumType):
                names = [f"{kind.name}.{member}" for member in kind.members]
                self._sorts[kind] = _enumeration(kind.name, names, self.context)
            elif self.scope.instance is not None:
                size = self.scope.instance.domain(kind).size
                self._sorts[kind] = _enumeration(
                    kind.name, [f"{kind.name}!{i}" for i in range(size)], self.context
                )
            else:
                sort = z3.DeclareSort(kind.name, self.context)
                self._sorts[kind] = (sort, (z3.Const(f"{kind.name}!0", sort),))
        return self._sorts[kind]

    def literal(self, kind: Type, value: Value) -> Z3:
        """A value of a scalar type. An element of an opaque sort has a name only in an instance, except 0."""
        if isinstance(kind, BoolType):
            return z3.BoolVal(bool(value), self.context)
        if isinstance(kind, NumberType):
            return z3.IntVal(int(value), self.context)
        place = kind.index(str(value)) if isinstance(kind, EnumType) else int(value)
        return self._declared(kind)[1][place]

    def values(self, kind: Type) -> tuple[Z3, ...] | None:
        """All values of a type if there are finitely many in this scope, else None."""
        if isinstance(kind, BoolType):
            return (self.literal(kind, value=False), self.literal(kind, value=True))
        if isinstance(kind, EnumType):
            return self._declared(kind)[1]
        if self.scope.instance is None:
            return None
        return tuple(self.literal(kind, value) for value in self.scope.instance.domain(kind).values)

    def symbol(self, variable: Variable, suffix: str = "") -> Z3:
        """A constant for a scalar, a function for a map. ``suffix`` distinguishes copies of the state."""
        key = (variable.name, "" if variable.constant else suffix)
        if key not in self._symbols:
            name, kind = variable.name + key[1], variable.type
            if isinstance(kind, MapType):
                signature = [*(self.sort(item) for item in kind.keys), self.sort(kind.value)]
                self._symbols[key] = z3.Function(name, *signature)
            else:
                self._symbols[key] = z3.Const(name, self.sort(kind))
        return self._symbols[key]

    def fresh(self, name: str, kind: Type) -> Z3:
        """A new constant."""
        return z3.Const(f"{name}#{next(self._fresh)}", self.sort(kind))

    def function(self, name: str, kinds: Sequence[Z3], result: Type) -> Z3:
        """A function of the given argument sorts."""
        return z3.Function(name, *kinds, self.sort(result))

    def in_range(self, term: Z3, kind: Type) -> list[Z3]:
        """Conditions that a number lies in the range of its type."""
        low, high = self.scope.range_of(kind)
        return [*([term >= low] if low is not None else []), *([term <= high] if high is not None else [])]

    def typing(self, variable: Variable, suffix: str = "") -> list[Z3]:
        """The type of a variable as an axiom on every state."""
        kind, symbol = variable.type, self.symbol(variable, suffix)
        if not isinstance(kind, MapType):
            return self.in_range(symbol, kind)
        keys = [z3.Const(f"key{place}", self.sort(item)) for place, item in enumerate(kind.keys)]
        body = self.in_range(symbol(*keys), kind.value)
        ranges = [
            part for key, item in zip(keys, kind.keys, strict=True) for part in self.in_range(key, item)
        ]
        if self.scope.instance is None:
            # Reads out of range never reach the function, so the axiom may hold there too.
            ranges = []
        return (
            [z3.ForAll(keys, z3.Implies(_and(ranges, self.context), _and(body, self.context)))]
            if body
            else []
        )


def _enumeration(name: str, members: list[str], context: Z3) -> tuple[Z3, tuple[Z3, ...]]:
    sort, values = z3.EnumSort(name, members, ctx=context)
    return sort, tuple(values)


def _and(parts: Sequence[Z3], context: Z3) -> Z3:
    return z3.And(*parts, context) if len(parts) != 1 else parts[0]


@dataclass(frozen=True)
class Copies:
    """The copies of the state that plain and primed reads mean."""

    before: str = ""
    after: str = "'"


@dataclass(frozen=True)
class Choice:
    """A function for least or greatest elements, its definition, and the choices that this needs."""

    function: Z3
    definition: Z3
    needs: tuple[Choice, ...]


ChoiceKey = tuple[Expr, tuple[tuple[str, str], ...], Copies]


class Encoder:
    """Turns expressions into Z3 terms; ``axioms`` collects the definitions of least and greatest elements. A
    term depends on its expression alone: bound variables are numbered within it, and a choice is named by its
    definition.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.context = vocabulary.context
        self.axioms: list[Z3] = []
        self._choices: dict[ChoiceKey, Choice] = {}
        self._used: dict[int, Choice] = {}
        self._bound = itertools.count()
        self._copies = Copies()

    def encode(self, node: Expr, env: Env | None = None, *, copies: Copies = Copies()) -> Z3:
        """The Z3 term of a scalar expression; ``env`` gives its free locals. Raises UnprovableError."""
        return self.encode_all(node, env, copies=copies)[0]

    def encode_all(
        self, node: Expr, env: Env | None = None, *, copies: Copies = Copies()
    ) -> tuple[Z3, tuple[Choice, ...]]:
        """The term, and all choices that it needs, each after those that it needs itself."""
        saved, self._copies = self._copies, copies
        try:
            with self._apart() as used:
                term = self._term(self.vocabulary.scope.total(node), dict(env or {}))
            return term, tuple(used.values())
        finally:
            self._copies = saved

    @contextmanager
    def _apart(self) -> Iterator[dict[int, Choice]]:
        """A formula of its own: its bound variables and the choices that it needs, by identity."""
        saved = self._used, self._bound
        self._used, self._bound = {}, itertools.count()
        try:
            yield self._used
        finally:
            self._used, self._bound = saved

    def _term(self, node: Expr, env: dict[str, Z3]) -> Z3:
        match node:
            case Const(type=kind, value=value):
                return self.vocabulary.literal(kind, value)
            case Local(name=name):
                return env[name]
            case Read(variable=variable):
                return self._symbol(node, variable)
            case Select(map=Read(variable=variable) as source, keys=keys):
                return self._symbol(source, variable)(*(self._term(key, env) for key in keys))
            case Select(map=source, keys=keys):
                return self._term(select(source, keys), env)
            case Apply():
                return self._apply(node, env)
            case Quantified(kind="count"):
                return self._count(node, env)
            case Quantified():
                return self._quantified(node, env)
            case Choose():
                return self._choose(node, env)
        raise TypeError(f"not a scalar: {render(node)}")

    def _symbol(self, read: Read, variable: Variable) -> Z3:
        return self.vocabulary.symbol(variable, self._copies.after if read.primed else self._copies.before)

    def _apply(self, node: Apply, env: dict[str, Z3]) -> Z3:
        if node.op == "eq" and isinstance(node.args[0].type, MapType):
            return self._term(_same_maps(node.args[0], node.args[1]), env)
        if node.op in ("eq", "lt", "le"):
            rewritten = expand_count(node)
            if rewritten != node:
                return self._term(rewritten, env)
        args = [self._term(arg, env) for arg in node.args]
        match node.op:
            case "and":
                return z3.And(*args, self.context)
            case "or":
                return z3.Or(*args, self.context)
            case "not":
                return z3.Not(args[0])
            case "implies":
                return z3.Implies(args[0], args[1])
            case "ite":
                return z3.If(args[0], args[1], args[2])
        return _arithmetic(node.op, args[0], args[1])

    def _quantified(self, node: Quantified, env: dict[str, Z3]) -> Z3:
        finite = [b for b in node.binders if isinstance(b.type, BoolType | EnumType)]
        kept = [b for b in node.binders if b not in finite]
        choices = [self.vocabulary.values(b.type) or () for b in finite]
        join = z3.And if node.kind == "forall" else z3.Or
        parts = []
        for chosen in itertools.product(*choices):
            inner = {**env, **{b.name: term for b, term in zip(finite, chosen, strict=True)}}
            parts.append(self._over(node.kind, kept, node.body, inner))
        return parts[0] if len(parts) == 1 else join(*parts, self.context)

    def _over(self, kind: str, binders: list[Local], body: Expr, env: dict[str, Z3]) -> Z3:
        if not binders:
            return self._term(body, env)
        terms = [self._binder(binder.name, binder.type) for binder in binders]
        named = {binder.name: term for binder, term in zip(binders, terms, strict=True)}
        ranges = [
            part for b, t in zip(binders, terms, strict=True) for part in self.vocabulary.in_range(t, b.type)
        ]
        inner = self._term(body, {**env, **named})
        if kind == "forall":
            return z3.ForAll(terms, z3.Implies(_and(ranges, self.context), inner) if ranges else inner)
        return z3.Exists(terms, z3.And(*ranges, inner))

    def _count(self, node: Quantified, env: dict[str, Z3]) -> Z3:
        choices = [self.vocabulary.values(binder.type) for binder in node.binders]
        if any(choice is None for choice in choices):
            unlimited = next(b.type for b, c in zip(node.binders, choices, strict=True) if c is None)
            raise UnprovableError(
                f"{render(node)} counts over {unlimited}, which has no limit in a proof",
                remedy="Compare the count with a literal up to 3, keep a counter as state, or skip its proof",
            )
        parts = []
        for chosen in itertools.product(*(choice or () for choice in choices)):
            inner = {**env, **{b.name: t for b, t in zip(node.binders, chosen, strict=True)}}
            parts.append(z3.If(self._term(node.body, inner), self._int(1), self._int(0)))
        return z3.Sum(parts)

    def _int(self, value: int) -> Z3:
        return z3.IntVal(value, self.context)

    def _choose(self, node: Choose, env: dict[str, Z3]) -> Z3:
        """A function of the bound variables around it; some function always satisfies its axiom."""
        free = sorted(free_locals(node))
        arguments = [name for name in free if not _is_parameter(env[name])]
        renamed = {name: Local(_type_of_local(node, name), f"arg{i}") for i, name in enumerate(arguments)}
        fixed = tuple((name, env[name].sexpr()) for name in free if name not in arguments)
        key = (canonical(substitute(node, locals_=renamed)), fixed, self._copies)
        if key not in self._choices:
            sorts = [env[name].sort() for name in arguments]
            function = self.vocabulary.function(f"{node.kind}#{content_digest(key)}", sorts, node.type)
            with self._apart() as needs:
                definition = self._definition(node, function, arguments, env)
            self._choices[key] = Choice(function, definition, tuple(needs.values()))
            self.axioms.append(definition)
        choice = self._choices[key]
        for one in (*choice.needs, choice):
            self._used[id(one)] = one
        return choice.function(*(env[name] for name in arguments))

    def _binder(self, name: str, kind: Type) -> Z3:
        """The constant that a quantifier is about to bind."""
        return z3.Const(f"{name}#b{next(self._bound)}", self.vocabulary.sort(kind))

    def _definition(self, node: Choose, function: Z3, arguments: list[str], env: dict[str, Z3]) -> Z3:
        generic = {name: z3.Const(f"arg_{name}", env[name].sort()) for name in arguments}
        outer = {**env, **generic}
        value = function(*(generic[name] for name in arguments))
        kind, name = node.binder.type, node.binder.name
        other = self._binder(name, kind)
        here = self._term(node.body, {**outer, name: value})
        default = self._term(node.default, outer)
        ranged = self.vocabulary.in_range
        before = other < value if node.kind == "least" else other > value
        inside = {**outer, name: other}
        none_before = self._nowhere(node.body, inside, other, [*ranged(other, kind), before])
        none = self._nowhere(node.body, inside, other, list(ranged(other, kind)))
        found = z3.And(*ranged(value, kind), here, none_before)
        definition = z3.Or(found, z3.And(none, value == default))
        return z3.ForAll(list(generic.values()), definition, patterns=[value]) if generic else definition

    def _nowhere(self, body: Expr, env: dict[str, Z3], value: Z3, given: list[Z3]) -> Z3:
        """No value that satisfies ``given`` has the property. If it says that an element exists, one
        quantifier ranges over both, so that the solver can use an equality.
        """
        bound = [value]
        if isinstance(body, Quantified) and body.kind == "exists" and not _finite(body.binders):
            for binder in body.binders:
                term = self._binder(binder.name, binder.type)
                env, bound = {**env, binder.name: term}, [*bound, term]
                given = [*given, *self.vocabulary.in_range(term, binder.type)]
            body = body.body
        there = self._term(body, env)
        return z3.ForAll(bound, z3.Implies(_and(given, self.context), z3.Not(there)))


def _finite(binders: tuple[Local, ...]) -> bool:
    """Some binder ranges over few values, for each of which the body is written out."""
    return any(isinstance(binder.type, BoolType | EnumType) for binder in binders)


def _is_parameter(term: Z3) -> bool:
    """Parameters are named by the caller; all other locals are fresh constants or definition arguments."""
    return (
        bool(z3.is_const(term))
        and "#" not in term.decl().name()
        and not term.decl().name().startswith("arg_")
    )


def _type_of_local(node: Expr, name: str) -> Type:
    return next(part.type for part in walk(node) if isinstance(part, Local) and part.name == name)


def _same_maps(left: Expr, right: Expr) -> Expr:
    kind = left.type
    assert isinstance(kind, MapType)
    taken = free_locals(left) | free_locals(right)
    binders = []
    for place, key in enumerate(kind.keys):
        name = f"same_{place}"
        while name in taken:
            name += "'"
        binders.append(Local(key, name))
    keys = tuple(binders)
    body = fold(Apply(BOOL, "eq", (select(left, keys), select(right, keys))))
    return Quantified(BOOL, "forall", keys, body)


def _arithmetic(op: str, left: Z3, right: Z3) -> Z3:
    match op:
        case "div":
            return left / right  # of integers, with a positive divisor: rounds down, as the language wants
        case "min":
            return z3.If(left <= right, left, right)
        case "max":
            return z3.If(left >= right, left, right)
    return BINARY[op](left, right)
