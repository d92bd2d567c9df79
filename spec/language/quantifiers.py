"""Quantifiers, choices and comprehensions over declared domains."""

import inspect
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.expr import Choose, Expr, Local, MapComprehension, Quantified
from tidemark.spec.language.fold import fold
from tidemark.spec.language.terms import Liftable, Symbolic, Term, Untyped, boolean, lift, number
from tidemark.spec.language.types import BOOL, LITERAL, MapType, NumberType, Type


class _Scope:
    """The state of the tracing: the next number of a bound variable, and how deep inside quantifiers."""

    def __init__(self) -> None:
        self.numbers = itertools.count()
        self.depth = 0


_scopes: list[_Scope] = [_Scope()]


@contextmanager
def fresh_names() -> Iterator[None]:
    """Number bound variables from zero on, so that tracing twice gives the same tree."""
    _scopes.append(_Scope())
    try:
        yield
    finally:
        _scopes.pop()


def under_quantifier() -> bool:
    """True while the body of a quantifier, a choice or an ``each`` is being traced."""
    return _scopes[-1].depth > 0


def _binders(domains: tuple[Any, ...], body: Callable[..., Any]) -> tuple[Local, ...]:
    names = [p for p in inspect.signature(body).parameters.values() if p.default is p.empty]
    if len(names) != len(domains):
        raise SpecError(
            f"{len(domains)} domains for a body with {len(names)} arguments",
            remedy="Write forall(Segment, Position, lambda s, p: ...)",
        )
    for domain in domains:
        if not isinstance(domain, Type) or isinstance(domain, MapType):
            raise SpecError(
                f"{domain!r} is not a domain", remedy="Quantify over a declared Sort, Enum, Nat, Int or Bool"
            )
    numbers = _scopes[-1].numbers
    return tuple(Local(d, f"{p.name}_{next(numbers)}") for d, p in zip(domains, names, strict=True))


def _split(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], Callable[..., Any]]:
    if len(arguments) < 2 or not callable(arguments[-1]) or isinstance(arguments[-1], Symbolic):
        raise SpecError("a quantifier without a body", remedy="Write forall(Domain, lambda x: ...)")
    return arguments[:-1], arguments[-1]


def _body(body: Callable[..., Any], binders: tuple[Local, ...]) -> Any:
    """What the body gives for its bound variables. Raises SpecError if it returns nothing."""
    scope = _scopes[-1]
    scope.depth += 1
    try:
        value = body(*map(Term, binders))
    finally:
        scope.depth -= 1
    if value is None:
        raise SpecError("the body of a quantifier returns nothing", remedy="Give the body a return value")
    return value


def _quantified(kind: Literal["forall", "exists", "count"], arguments: tuple[Any, ...]) -> Term:
    domains, body = _split(arguments)
    binders = _binders(domains, body)
    inner = boolean(_body(body, binders))
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
    """The least number with the property, else ``default``. Only for ``Nat``: a least one then exists."""
    if not isinstance(domain, NumberType) or domain.signed:
        raise SpecError(f"least over {domain}", remedy="Take a Nat: only there a least element always exists")
    binders = _binders((domain,), body)
    return _choice("least", binders[0], boolean(_body(body, binders)), default)


def greatest(domain: Type, body: Callable[[Term], Liftable], *, upto: Liftable, default: Liftable) -> Term:
    """The greatest number, at most ``upto``, with the property; else ``default``. Only for ``Nat``."""
    if not isinstance(domain, NumberType) or domain.signed:
        raise SpecError(
            f"greatest over {domain}", remedy="Take a Nat: only there a greatest one below a limit exists"
        )
    limit = Term(number(upto, domain))
    binders = _binders((domain,), body)
    inner = (Term(binders[0]) <= limit) & Term(boolean(_body(body, binders)))
    return _choice("greatest", binders[0], inner.expr, default)


def _choice(kind: Literal["least", "greatest"], binder: Local, body: Expr, default: Liftable) -> Term:
    fallback = number(default, binder.type)
    assert isinstance(fallback.type, NumberType)
    result = NumberType(binder.type.name, signed=fallback.type.signed)
    return Term(fold(Choose(result, kind, binder, body, fallback)))


class Comprehension(Untyped):
    """The result of ``each`` before it is known to which map it is assigned: its literals take that type."""

    __slots__ = ("binders", "value")

    def __init__(self, binders: tuple[Local, ...], value: Liftable) -> None:
        self.binders = binders
        self.value = value

    def typed(self, kind: Type | None) -> Expr:
        """The map-valued expression, checked against the variable's type."""
        domains = tuple(binder.type for binder in self.binders)
        if not isinstance(kind, MapType) or domains != kind.keys:
            names = ", ".join(map(str, domains))
            remedy = (
                f"Write each({', '.join(map(str, kind.keys))}, ...)"
                if isinstance(kind, MapType)
                else ("Assign it to a map, or compare it with one")
            )
            raise SpecError(f"each({names}, ...) where a {kind or 'value'} is expected", remedy=remedy)
        return fold(MapComprehension(kind, self.binders, lift(self.value, kind.value)))


def each(*arguments: Any) -> Comprehension:
    """``each(Domain, ..., lambda k, ...: value)``: a whole-map update.

    In an instance the map changes at the keys of the instance only; outside it keeps its initial value.
    """
    domains, body = _split(arguments)
    binders = _binders(domains, body)
    return Comprehension(binders, _body(body, binders))
