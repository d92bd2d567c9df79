"""An expression that a user types, evaluated in a state of an instance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.interpreted.evaluate import Env, State
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.spec import language
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.expr import Const, Expr
from tidemark.spec.language.protocol import declared_by, resolve
from tidemark.spec.language.spec import Property
from tidemark.spec.language.terms import Term
from tidemark.spec.language.tracing import view_of
from tidemark.spec.language.types import MapType, SortType, Type

_REMEDY = "write it as in a property of the protocol, for example  s.saved >= 1  or  s.given[2]"


class _Open(Term):
    """A value beside which an element of a sort may be written as its number: ``s.holder[0]``."""

    __slots__ = ()
    __hash__ = None

    def __getitem__(self, keys: Any) -> Term:
        kind = self.expr.type
        items = keys if isinstance(keys, tuple) else (keys,)
        if isinstance(kind, MapType) and len(kind.keys) == len(items):
            items = tuple(_element(item, key) for item, key in zip(items, kind.keys, strict=True))
        return _Open(super().__getitem__(items).expr)

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return super().__eq__(_element(other, self.expr.type))

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return super().__ne__(_element(other, self.expr.type))


def _element(value: Any, kind: Type) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return Term(Const(kind, value)) if is_number and isinstance(kind, SortType) else value


class _View:
    """The state, with its variables open to numbers for elements."""

    def __init__(self, view: Any) -> None:
        self._view = view

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._view, name)
        return _Open(found.expr) if isinstance(found, Term) else found


def evaluate(interpreter: Interpreter, state: State, text: str) -> str:
    """The value of an expression of the specification language; ``s`` is the state, variables and types may
    also be written without it. Elements of a sort are written as their numbers.

    Raises BadInputError: no such expression, or it has no value here.
    """
    protocol = resolve(interpreter.instance.protocol)
    view = _View(view_of(protocol, declared_by(protocol)))
    names = {name: getattr(language, name) for name in language.__all__}
    names |= {name: getattr(view, name) for name in declared_by(protocol).names()}
    try:
        # The user's own text at the user's own terminal, as in a debugger.
        found: Any = eval(text, names | {"s": view, "self": view})  # noqa: S307
    except SpecError as error:
        raise BadInputError(f"{text}: {error.problem}", remedy=error.remedy) from error
    except Exception as error:
        raise BadInputError(f"{text}: {type(error).__name__}: {error}", remedy=_REMEDY) from error
    if not isinstance(found, Term):
        return str(found)
    return _value(interpreter, state, found.expr)


def _value(interpreter: Interpreter, state: State, expr: Expr) -> str:
    instance = interpreter.instance
    asked = Property("asked", "invariant", expr, "", "")
    raw = replace(instance.traced(), actions=(), assumptions=(), initially=(), properties=(asked,))
    maps = {variable.name for variable in raw.constants if isinstance(variable.type, MapType)}
    given = {name: value for name, value in instance.constants.items() if name not in maps}
    expr = raw.with_options(given).properties[0].expr
    if not isinstance(expr.type, MapType):
        return _shown(interpreter.evaluate(expr, state))
    values = interpreter.compiler.table(expr)(Env(state))
    entries = zip(instance.entries(expr.type), values, strict=True)
    return "\n".join(f"[{', '.join(map(str, at))}] {_shown(value)}" for at, value in entries)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
