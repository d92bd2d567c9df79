"""Quantifiers, extremes and comprehensions over declared domains."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from spec.language.errors import SpecError
from spec.language.expr import Each, Expr, Extreme, Local, Quantified
from spec.language.fold import fold
from spec.language.terms import Liftable, Term, boolean, lift, number
from spec.language.types import BOOL, LITERAL, LITERAL_INT, MapType, NumberType, Type

_counter = itertools.count()


@contextmanager
def fresh_names() -> Iterator[None]:
    """Number bound variables from zero on, so that tracing twice gives the same tree."""
    global _counter
    saved, _counter = _counter, itertools.count()
    try:
        yield
    finally:
        _counter = saved


def _binders(domains: tuple[Any, ...], body: Callable[..., Any]) -> tuple[Local, ...]:
    names = [p for p in inspect.signature(body).parameters.values() if p.default is p.empty]
    if len(names) != len(domains):
        raise SpecError(
            f"{len(domains)} domains for a body with {len(names)} arguments",
            remedy="Write forall(Segment, Position, lambda s, p: ...)",
        )
    for domain in domains:
        if not isinstance(domain, Type) or isinstance(domain, MapType):
            raise SpecError(f"{domain!r} is no domain", remedy="Quantify over a declared Sort, Enum, Nat, Int or Bool")
    return tuple(Local(d, f"{p.name}_{next(_counter)}") for d, p in zip(domains, names, strict=True))


def _split(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], Callable[..., Any]]:
    if len(arguments) < 2 or not callable(arguments[-1]):
        raise SpecError("a quantifier without a body", remedy="Write forall(Domain, lambda x: ...)")
    return arguments[:-1], arguments[-1]


def _quantified(kind: Literal["forall", "exists", "count"], arguments: tuple[Any, ...]) -> Term:
    domains, body = _split(arguments)
    binders = _binders(domains, body)
    inner = boolean(body(*map(Term, binders)))
    return Term(fold(Quantified(LITERAL if kind == "count" else BOOL, kind, binders, inner)))


def forall(*arguments: Any) -> Term:
    """``forall(Domain, ..., lambda x, ...: condition)``: the condition holds for every value."""
    return _quantified("forall", arguments)


def exists(*arguments: Any) -> Term:
    """``exists(Domain, ..., lambda x, ...: condition)``: it holds for at least one."""
    return _quantified("exists", arguments)


def count(*arguments: Any) -> Term:
    """How many values satisfy the condition. Bounded instances only: no proof for any size can count."""
    return _quantified("count", arguments)


def least(domain: Type, body: Callable[[Term], Liftable], *, default: Liftable) -> Term:
    """The least number with the property, ``default`` if there is none. Only for ``Nat``: a least one then exists."""
    if not isinstance(domain, NumberType) or domain.signed:
        raise SpecError(f"least over {domain}", remedy="Take a Nat: only there a least element always exists")
    return _extreme("least", domain, body, default)


def greatest(domain: Type, body: Callable[[Term], Liftable], *, upto: Liftable, default: Liftable) -> Term:
    """The greatest number, at most ``upto``, with the property; ``default`` if there is none. Only for ``Nat``."""
    if not isinstance(domain, NumberType) or domain.signed:
        raise SpecError(f"greatest over {domain}", remedy="Take a Nat")
    limit = Term(number(upto, domain))
    return _extreme("greatest", domain, lambda x: (x <= limit) & Term(boolean(body(x))), default)


def _extreme(
    kind: Literal["least", "greatest"], domain: NumberType, body: Callable[[Term], Liftable], default: Liftable
) -> Term:
    name = next(iter(inspect.signature(body).parameters))
    binder = Local(domain, f"{name}_{next(_counter)}")
    fallback = number(default, domain)
    assert isinstance(fallback.type, NumberType)
    result = NumberType(domain.name, signed=fallback.type.signed)
    return Term(Extreme(result, kind, binder, boolean(body(Term(binder))), fallback))


class Comprehension:
    """The result of ``each`` before it is known which map it is assigned to: its literals take that map's type."""

    def __init__(self, binders: tuple[Local, ...], value: Liftable) -> None:
        self.binders = binders
        self.value = value

    def typed(self, kind: Type) -> Expr:
        """The map-valued expression, checked against the variable's type."""
        domains = tuple(binder.type for binder in self.binders)
        if not isinstance(kind, MapType) or domains != kind.keys:
            names = ", ".join(map(str, domains))
            raise SpecError(f"each({names}, ...) where a {kind} is wanted", remedy="Use the keys of the map")
        return Each(kind, self.binders, lift(self.value, kind.value))


def each(*arguments: Any) -> Comprehension:
    """``each(Domain, ..., lambda k, ...: value)``: a whole-map update."""
    domains, body = _split(arguments)
    binders = _binders(domains, body)
    return Comprehension(binders, body(*map(Term, binders)))


__all__ = [
    "LITERAL_INT",
    "Comprehension",
    "count",
    "each",
    "exists",
    "forall",
    "fresh_names",
    "greatest",
    "least",
]
