"""Symbolic values: what an action's Python code computes with during tracing."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import reduce
from typing import Any, NoReturn

from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.expr import FALSE, TRUE, Apply, Const, Expr, Local, Operator
from tidemark.spec.language.fold import choice, conjunction, disjunction, equality, fold, negation, select
from tidemark.spec.language.types import (
    BOOL,
    LITERAL,
    LITERAL_INT,
    BoolType,
    EnumType,
    MapType,
    NumberType,
    SortType,
    Type,
)

Liftable = Any  # Term, Untyped, bool, int or str; checked at run time by ``lift``
Write = Callable[[tuple[Expr, ...], Liftable], None]


def _refused(problem: str, remedy: str) -> Callable[..., NoReturn]:
    def method(*_: object, **__: object) -> NoReturn:
        raise SpecError(problem, remedy=remedy)

    return method


class Symbolic:
    """Refuses what Python would decide during tracing; every refusal names the remedy."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    __bool__ = _refused(
        "a symbolic value has no truth value while the protocol is traced",
        "Write with when(condition): or ite(condition, a, b) for if, & | ~ for and, or, not "
        "(with brackets round comparisons), one_of(x, a, b) for in, minimum and maximum for min and max, "
        "and split a chained comparison a < b < c",
    )
    __contains__ = _refused(
        "'in' cannot be asked of a symbolic value", "Write s.members[x], or one_of(x, a, b)"
    )
    __iter__ = _refused("a symbolic value cannot be iterated", "Write forall, exists, count, least or each")
    __len__ = _refused("a symbolic value has no length", "Write count(Domain, lambda x: ...)")
    __call__ = _refused("a symbolic value is called", "Write s.map[key] with square brackets")
    __index__ = _refused(
        "a symbolic value is not a Python number while the protocol is traced",
        "Quantify over its type (forall, exists, each) instead of range or a list index",
    )
    __int__ = __index__
    __float__ = __index__


class Untyped(Symbolic):
    """A value whose type is known only at its assignment or comparison."""

    __slots__ = ()
    __hash__ = None

    def typed(self, kind: Type | None) -> Expr:
        """The expression, as a value of type ``kind``."""
        raise NotImplementedError

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Term):
            return other == self
        raise SpecError(
            "a comparison of two values whose type is not known here",
            remedy="Compare with a state variable or a parameter",
        )

    def __ne__(self, other: object) -> Any:
        return ~(self == other)


def _arithmetic(op: Operator) -> tuple[Callable[[Any, Liftable], Any], Callable[[Any, Liftable], Any]]:
    """The methods of an operator, and of the same with the term on the right."""
    return (lambda self, other: arithmetic(op, self, other)), (
        lambda self, other: arithmetic(op, other, self)
    )


class Term(Symbolic):
    """A symbolic value of known type."""

    __slots__ = ("_write", "expr")
    __hash__ = None

    def __init__(self, expr: Expr, write: Write | None = None) -> None:
        self.expr = expr
        self._write = write

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise SpecError(
            f"a {self.expr.type} has no attribute {name!r}",
            remedy="Write s.map[key] for an entry; several facts about one element are several maps",
        )

    def __getitem__(self, keys: Liftable) -> Term:
        return Term(select(self.expr, self._keys(keys)))

    def __setitem__(self, keys: Liftable, value: Liftable) -> None:
        at = self._keys(keys)
        if self._write is None:
            raise SpecError(
                "an entry of this map cannot be assigned",
                remedy="Assign entries of state variables in actions only: s.variable[key] = value",
            )
        self._write(at, value)

    __delitem__ = _refused("an entry of a map cannot be deleted", "Maps are total: assign another value")

    def _map(self) -> MapType:
        if not isinstance(self.expr.type, MapType):
            raise SpecError(f"a {self.expr.type} is not a map", remedy="Only maps have entries")
        return self.expr.type

    def _keys(self, keys: Liftable) -> tuple[Expr, ...]:
        kind = self._map()
        items = keys if isinstance(keys, tuple) else (keys,)
        if len(items) != len(kind.keys):
            raise SpecError(f"{len(items)} keys for {kind}", remedy=f"Give {len(kind.keys)}")
        return tuple(lift(item, key) for item, key in zip(items, kind.keys, strict=True))

    def __eq__(self, other: Liftable) -> Term:  # type: ignore[override]
        left, right = both(self, other)
        return Term(equality(left, right))

    def __ne__(self, other: Liftable) -> Term:  # type: ignore[override]
        left, right = both(self, other)
        return Term(negation(equality(left, right)))

    def __lt__(self, other: Liftable) -> Term:
        return compare("lt", self, other)

    def __le__(self, other: Liftable) -> Term:
        return compare("le", self, other)

    def __gt__(self, other: Liftable) -> Term:
        return compare("lt", other, self)

    def __ge__(self, other: Liftable) -> Term:
        return compare("le", other, self)

    __add__, __radd__ = _arithmetic("add")
    __sub__, __rsub__ = _arithmetic("sub")
    __mul__, __rmul__ = _arithmetic("mul")
    __floordiv__, __rfloordiv__ = _arithmetic("div")
    __mod__, __rmod__ = _arithmetic("mod")

    def __neg__(self) -> Term:
        return arithmetic("sub", 0, self)

    __truediv__ = __rtruediv__ = _refused("a division with a fraction", "Write // (whole numbers only)")

    def __and__(self, other: Liftable) -> Term:
        return Term(conjunction(boolean(self), boolean(other)))

    def __rand__(self, other: Liftable) -> Term:
        return Term(conjunction(boolean(other), boolean(self)))

    def __or__(self, other: Liftable) -> Term:
        return Term(disjunction(boolean(self), boolean(other)))

    def __ror__(self, other: Liftable) -> Term:
        return Term(disjunction(boolean(other), boolean(self)))

    def __invert__(self) -> Term:
        return Term(negation(boolean(self)))

    def __repr__(self) -> str:
        from tidemark.spec.language.render import render

        return f"<{self.expr.type}: {render(self.expr)}>"


def lift(value: Liftable, kind: Type | None = None) -> Expr:
    """The expression of a Term or of a Python literal, as a value of type ``kind`` (any type if None).

    Raises SpecError for an unknown member of an enumeration, a value of another type, a number of another
    name.
    """
    if isinstance(value, Term):
        return _fits(value.expr, kind)
    if isinstance(value, Untyped):
        return value.typed(kind)
    if isinstance(kind, MapType) and isinstance(value, bool | int | str | list | tuple | dict | set):
        raise SpecError(
            f"{value!r} where the map {kind} is expected",
            remedy=f"Write each({', '.join(map(str, kind.keys))}, lambda ...: value) for a whole map, "
            "or s.map[key] = value for one entry",
        )
    if isinstance(value, bool):
        return _fits(TRUE if value else FALSE, kind)
    if isinstance(value, int):
        return _fits(Const(LITERAL_INT if value < 0 else LITERAL, value), kind)
    if isinstance(value, str):
        return _member(value, kind)
    raise SpecError(f"{_shown(value)} is not a value of the language", remedy=_remedy_for(value))


def _shown(value: object) -> str:
    return f"the function {getattr(value, '__name__', '?')}" if callable(value) else repr(value)


def _remedy_for(value: object) -> str:
    if value is None:
        return "A method or lambda returned nothing: give it a return value"
    if callable(value):
        return "Call it, or give its result"
    if isinstance(value, list | tuple | dict | set):
        return "A set is a Map to Bool, a log a Map from a position; write each(Key, lambda k: ...)"
    return "Use a state variable, a parameter, bool, int or str"


def _member(value: str, kind: Type | None) -> Expr:
    if not isinstance(kind, EnumType):
        raise SpecError(
            f"the name {value!r} where a {kind or 'value'} is expected", remedy="Names are members of an Enum"
        )
    if value not in kind.members:
        close = difflib.get_close_matches(value, kind.members, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise SpecError(
            f"{kind} has no member {value!r}", remedy=f"{hint}Its members are {', '.join(kind.members)}"
        )
    return Const(kind, value)


def _fits(expr: Expr, kind: Type | None) -> Expr:
    if kind is None or compatible(expr.type, kind):
        return expr
    if isinstance(expr.type, NumberType) and isinstance(kind, NumberType):
        remedy = "Numbers of different names do not mix; give both the same type, or compare like with like"
    elif isinstance(kind, MapType) and not isinstance(expr.type, MapType):
        remedy = "Write each(Key, lambda k: value) for a whole map, or s.map[key] = value for one entry"
    elif isinstance(expr.type, MapType):
        remedy = "Take one entry: s.map[key]"
    elif isinstance(kind, SortType):
        remedy = "Elements of a sort have no literals; take a parameter, a variable, or start with anything"
    else:
        remedy = f"Give a value of type {kind}"
    raise SpecError(f"a {expr.type} where a {kind} is expected", remedy=remedy)


def compatible(one: Type, two: Type) -> bool:
    """Same type; or numbers of the same name, a bare literal having every name."""
    if isinstance(one, NumberType) and isinstance(two, NumberType):
        return one.name == two.name or not one.name or not two.name
    if isinstance(one, MapType) and isinstance(two, MapType):
        return len(one.keys) == len(two.keys) and all(
            compatible(a, b) for a, b in zip((*one.keys, one.value), (*two.keys, two.value), strict=True)
        )
    return one == two


def both(left: Liftable, right: Liftable) -> tuple[Expr, Expr]:
    """Both sides of a comparison, brought to one type."""
    if isinstance(left, Term):
        return left.expr, lift(right, left.expr.type)
    if isinstance(right, Term):
        return lift(left, right.expr.type), right.expr
    return lift(left), lift(right)


def boolean(value: Liftable) -> Expr:
    """A Bool; the usual cause of an error here is a comparison without brackets next to ``&``."""
    expr = lift(value)
    if not isinstance(expr.type, BoolType):
        raise SpecError(
            f"a {expr.type} where a condition is expected",
            remedy="Compare it; & | ~ bind tighter than comparisons: put brackets round each comparison",
        )
    return expr


def number(value: Liftable, kind: Type | None = None) -> Expr:
    """A number."""
    expr = lift(value, kind)
    if not isinstance(expr.type, NumberType):
        raise SpecError(
            f"a {expr.type} where a number is expected", remedy="Only Nat and Int can be added or ordered"
        )
    return expr


def compare(op: Operator, left: Liftable, right: Liftable) -> Term:
    """An order between numbers of one name."""
    one, two = both(left, right)
    if isinstance(one.type, SortType):
        raise SpecError(
            f"elements of the opaque sort {one.type} have no order", remedy="Compare them with == only"
        )
    number(Term(one)), number(Term(two))
    return Term(fold(Apply(BOOL, op, (one, two))))


def result_type(op: Operator, one: Type, two: Type) -> NumberType:
    """Name of either side; differences are signed."""
    assert isinstance(one, NumberType)
    assert isinstance(two, NumberType)
    return NumberType(one.name or two.name, signed=one.signed or two.signed or op == "sub")


def arithmetic(op: Operator, left: Liftable, right: Liftable) -> Term:
    """A sum, difference, product, quotient, remainder, minimum or maximum of numbers of one name."""
    one, two = both(left, right)
    number(Term(one)), number(Term(two))
    if op in ("div", "mod") and not (isinstance(two, Const) and int(two.value) > 0):
        raise SpecError(
            "a division by something else than a positive literal", remedy="Divide by a literal above zero"
        )
    if op == "mul" and not (isinstance(one, Const) or isinstance(two, Const)):
        raise SpecError("a product of two variables", remedy="Multiply by a literal: proofs stay linear")
    return Term(fold(Apply(result_type(op, one.type, two.type), op, (one, two))))


class PendingChoice(Untyped):
    """A choice whose type is known only at its assignment or comparison: between names, or whole maps."""

    __slots__ = ("condition", "other", "then")

    def __init__(self, condition: Expr, then: Liftable, other: Liftable) -> None:
        self.condition = condition
        self.then = then
        self.other = other

    def typed(self, kind: Type | None) -> Expr:
        """The choice as a value of type ``kind``."""
        return choice(self.condition, lift(self.then, kind), lift(self.other, kind))


def ite(condition: Liftable, then: Liftable, other: Liftable) -> Any:
    """``then`` where the condition holds, else ``other``; both of one type."""
    test = boolean(condition)
    if isinstance(then, str | Untyped) and isinstance(other, str | Untyped):
        return PendingChoice(test, then, other)
    one, two = both(then, other)
    return Term(choice(test, one, two))


def implies(premise: Liftable, conclusion: Liftable) -> Term:
    """The conclusion holds wherever the premise does."""
    return Term(fold(Apply(BOOL, "implies", (boolean(premise), boolean(conclusion)))))


def all_of(*parts: Liftable) -> Term:
    """Conjunction; true for none."""
    return Term(conjunction(*(boolean(part) for part in parts)))


def any_of(*parts: Liftable) -> Term:
    """Disjunction; false for none."""
    return Term(disjunction(*(boolean(part) for part in parts)))


def one_of(value: Liftable, *choices: Liftable) -> Term:
    """The value equals one of the choices; false for none."""
    return any_of(*(value == choice for choice in choices))


def minimum(left: Liftable, right: Liftable, *more: Liftable) -> Term:
    """The smallest number."""
    return reduce(lambda one, two: arithmetic("min", one, two), more, arithmetic("min", left, right))


def maximum(left: Liftable, right: Liftable, *more: Liftable) -> Term:
    """The largest number."""
    return reduce(lambda one, two: arithmetic("max", one, two), more, arithmetic("max", left, right))


def plain(value: Liftable) -> Term:
    """A number without the name of its type, which mixes with every number."""
    expr = number(value)
    assert isinstance(expr.type, NumberType)
    return Term(Apply(NumberType("", signed=expr.type.signed), "add", (expr, Const(LITERAL, 0))))


def parameter(name: str, kind: Type) -> Term:
    """A named free variable: an action's parameter."""
    return Term(Local(kind, name))
