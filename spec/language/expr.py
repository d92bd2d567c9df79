"""The expression tree that every judge reads: frozen nodes, and the few walks that all judges share."""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

from tidemark.spec.language.types import BOOL, MapType, Type

Value = bool | int | str
Operator = Literal[
    "and", "or", "not", "implies", "eq", "lt", "le", "add", "sub", "mul", "div", "mod", "ite", "min", "max"
]
BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "lt": operator.lt,
    "le": operator.le,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.floordiv,
    "mod": operator.mod,
    "min": min,
    "max": max,
}
"""What the operators on two scalars do to Python values."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared variable of a protocol: state, or a constant that never changes during a run."""

    name: str
    type: Type
    constant: bool = False


class _Hashed:
    __slots__ = ("_hash",)
    _hash: int


_Node = TypeVar("_Node", bound=type)


def _hashed_once(cls: _Node) -> _Node:
    """Keep the hash of a node, which runs over the whole tree. It is no field, so it is never pickled."""
    computed: Callable[[object], int] = vars(cls)["__hash__"]

    def __hash__(self: _Hashed) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", computed(self))
            return self._hash

    setattr(cls, "__hash__", __hash__)  # noqa: B010  a checker of types takes an assignment for a mistake
    return cls


@dataclass(frozen=True, slots=True)
class Expr(_Hashed):
    """Base of all nodes; ``type`` is the type of the node's value."""

    type: Type


@_hashed_once
@dataclass(frozen=True, slots=True)
class Const(Expr):
    """A literal: bool, int, or the name of an enumeration's member."""

    value: Value


@_hashed_once
@dataclass(frozen=True, slots=True)
class Read(Expr):
    """Value of a state variable or constant; ``primed`` in a two-state property means after the step."""

    variable: Variable
    primed: bool = False


@_hashed_once
@dataclass(frozen=True, slots=True)
class Local(Expr):
    """An action's parameter or a variable bound by a quantifier or an ``each``."""

    name: str


@_hashed_once
@dataclass(frozen=True, slots=True)
class Apply(Expr):
    """An operator on scalars. and/or take any number; ite takes condition, then, else (also maps).

    Numbers are unbounded integers. div and mod round towards minus infinity and have a positive literal on
    the right.
    """

    op: Operator
    args: tuple[Expr, ...]


@_hashed_once
@dataclass(frozen=True, slots=True)
class Select(Expr):
    """Value of a map at keys. A key outside the instance's domain gives the map's declared initial value."""

    map: Expr
    keys: tuple[Expr, ...]


@_hashed_once
@dataclass(frozen=True, slots=True)
class Store(Expr):
    """The map with one entry changed."""

    map: Expr
    keys: tuple[Expr, ...]
    value: Expr


@_hashed_once
@dataclass(frozen=True, slots=True)
class MapComprehension(Expr):
    """The map whose value at the binders is ``body``: a whole-map update."""

    binders: tuple[Local, ...]
    body: Expr


@_hashed_once
@dataclass(frozen=True, slots=True)
class Quantified(Expr):
    """forall, exists (Bool) or count (number of satisfying assignments) over the binders' domains."""

    kind: Literal["forall", "exists", "count"]
    binders: tuple[Local, ...]
    body: Expr


@_hashed_once
@dataclass(frozen=True, slots=True)
class Choose(Expr):
    """The least or the greatest number of the binder's domain with the property, else the default."""

    kind: Literal["least", "greatest"]
    binder: Local
    body: Expr
    default: Expr


TRUE = Const(BOOL, True)
FALSE = Const(BOOL, False)


def children(node: Expr) -> tuple[Expr, ...]:
    """Direct subexpressions in reading order (binders are not subexpressions)."""
    match node:
        case Apply(args=args):
            return args
        case Select(map=source, keys=keys):
            return (source, *keys)
        case Store(map=source, keys=keys, value=value):
            return (source, *keys, value)
        case MapComprehension(body=body) | Quantified(body=body):
            return (body,)
        case Choose(body=body, default=default):
            return (body, default)
        case _:
            return ()


def rebuild(node: Expr, parts: tuple[Expr, ...]) -> Expr:
    """``node`` with its direct subexpressions replaced, in the order of ``children``.

    Returns the node itself if no part differs, so that trees share unchanged parts.
    """
    if all(new is old for new, old in zip(parts, children(node), strict=True)):
        return node
    match node:
        case Apply():
            return Apply(node.type, node.op, parts)
        case Select():
            return Select(node.type, parts[0], parts[1:])
        case Store():
            return Store(node.type, parts[0], parts[1:-1], parts[-1])
        case MapComprehension() | Quantified():
            return replace(node, body=parts[0])
        case Choose():
            return replace(node, body=parts[0], default=parts[1])
        case _:
            return node


def binders_of(node: Expr) -> tuple[Local, ...]:
    """Variables that ``node`` binds in its body."""
    if isinstance(node, MapComprehension | Quantified):
        return node.binders
    return (node.binder,) if isinstance(node, Choose) else ()


def rebind(node: Expr, binders: tuple[Local, ...]) -> Expr:
    """``node`` with other variables bound, in the order of ``binders_of``; itself if it binds none."""
    if isinstance(node, MapComprehension | Quantified):
        return replace(node, binders=binders)
    return replace(node, binder=binders[0]) if isinstance(node, Choose) else node


def walk(node: Expr) -> Iterator[Expr]:
    """All nodes of the tree, parents first."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(children(top)))


@lru_cache(maxsize=1 << 16)
def variables_read(node: Expr) -> frozenset[Variable]:
    """State variables and constants that occur."""
    return frozenset(part.variable for part in walk(node) if isinstance(part, Read))


@lru_cache(maxsize=1 << 16)
def _reads(node: Expr) -> frozenset[Read]:
    if isinstance(node, Read):
        return frozenset((node,))
    return frozenset[Read]().union(*map(_reads, children(node)))


@lru_cache(maxsize=1 << 16)
def free_locals(node: Expr) -> frozenset[str]:
    """Names of parameters and bound variables that occur free."""
    if isinstance(node, Local):
        return frozenset((node.name,))
    bound = frozenset(binder.name for binder in binders_of(node))
    if isinstance(node, Choose):
        return (free_locals(node.body) - bound) | free_locals(node.default)
    return frozenset[str]().union(*(free_locals(part) for part in children(node))) - bound


Reader = Callable[[Read], Expr]


def substitute(node: Expr, *, locals_: Mapping[str, Expr] | None = None, reads: Reader | None = None) -> Expr:
    """Replace free locals by name, and every ``Read`` by what ``reads`` gives for it, without capture."""
    env = dict(locals_ or {})
    if isinstance(node, Local):
        return env.get(node.name, node)
    if isinstance(node, Read):
        return reads(node) if reads is not None else node
    bound = binders_of(node)
    if not bound:
        return rebuild(node, tuple(substitute(part, locals_=env, reads=reads) for part in children(node)))
    return _substitute_binder(node, bound, env, reads)


def _substitute_binder(
    node: Expr, bound: tuple[Local, ...], env: dict[str, Expr], reads: Reader | None
) -> Expr:
    body = children(node)[0]
    names = {binder.name for binder in bound}
    free = free_locals(body)
    inner = {name: value for name, value in env.items() if name not in names and name in free}
    incoming = frozenset[str]().union(*(free_locals(value) for value in inner.values()))
    if reads is not None:
        incoming |= frozenset[str]().union(*(free_locals(reads(part)) for part in _reads(body)))
    # Rename a binder only if it would capture a replacement; its new name must differ from all that is
    # visible in the body.
    avoid = set(incoming | free | names)
    fresh = []
    for binder in bound:
        name = binder.name
        if name in incoming:
            while name in avoid:
                name += "'"
            avoid.add(name)
            inner[binder.name] = replace(binder, name=name)
        fresh.append(replace(binder, name=name))
    parts = [substitute(body, locals_=inner, reads=reads)]
    if isinstance(node, Choose):
        parts.append(substitute(node.default, locals_=env, reads=reads))
        return replace(node, binder=fresh[0], body=parts[0], default=parts[1])
    assert isinstance(node, MapComprehension | Quantified)
    return replace(node, binders=tuple(fresh), body=parts[0])


def map_type(node: Expr) -> MapType:
    """The type of a map-valued node; a wrong node here is an error of the caller, not of a protocol."""
    if not isinstance(node.type, MapType):
        raise TypeError(f"not a map: {node}")
    return node.type
