"""What a protocol's class body declares: types, constants, state. Every misuse is an error at the class."""

from __future__ import annotations

import difflib
import inspect
from dataclasses import dataclass, field
from typing import Any

from tidemark.spec.language.declare import Anything, Constant, Option
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.expr import Const, Value, Variable
from tidemark.spec.language.terms import lift
from tidemark.spec.language.types import NAMED, MapType, NumberType, Type

_MISSING = object()
_PYTHON_TYPES = (bool, int, float, list, dict, set, frozenset, tuple)


@dataclass
class Declared:
    """What the class bodies along the inheritance line declare; ``family`` is the line's first protocol."""

    family: str = ""
    types: dict[str, Type] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    constants: dict[str, Variable] = field(default_factory=dict)
    initial: dict[str, Value | None] = field(default_factory=dict)
    options: dict[str, Value] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def copy(self, *, family: str) -> Declared:
        """An independent copy, which a subclass extends."""
        return Declared(
            self.family or family,
            dict(self.types),
            dict(self.variables),
            dict(self.constants),
            dict(self.initial),
            dict(self.options),
            dict(self.environment),
        )

    def names(self) -> list[str]:
        """All that ``s.<name>`` can mean besides methods."""
        return [*self.variables, *self.constants, *self.types]


def read_body(cls: type, base: Declared, reserved: frozenset[str], *, name: str = "") -> Declared:
    """The declarations of ``base`` with those of the class body added.

    Removes values from the class, so that ``s.<name>`` is looked up as state and never as a class attribute.
    Raises SpecError for each misuse.
    """
    declared = base.copy(family=name or cls.__name__.lower())
    _read_types(cls, declared)
    for name, kind in inspect.get_annotations(cls).items():
        _check_annotation(cls, name, kind, reserved)
        if isinstance(kind, Type):
            _declare(cls, declared, name, kind)
    for name in [*declared.variables, *declared.constants]:
        if name in vars(cls):
            _redeclare(cls, declared, name)
    _check_leftovers(cls, declared)
    return declared


def _read_types(cls: type, declared: Declared) -> None:
    for name, kind in vars(cls).items():
        if not isinstance(kind, Type):
            continue
        known = declared.types.get(name)
        if known is not None and known is not kind:
            raise SpecError(
                f"{cls.__name__} redefines the type {name}",
                remedy="The inherited state keeps the old one; declare the type in the base class only",
            )
        declared.types[name] = kind


def _check_annotation(cls: type, name: str, kind: object, reserved: frozenset[str]) -> None:
    where = f"{cls.__name__}.{name}"
    if isinstance(kind, str) and not kind.startswith("ClassVar"):
        raise SpecError(
            f"the annotation of {where} is the text {kind!r}",
            remedy="Types are values here: remove 'from __future__ import annotations' and the quotes",
        )
    if kind in _PYTHON_TYPES:
        raise SpecError(
            f"{where} has the Python type {getattr(kind, '__name__', kind)}",
            remedy="State and constants are Bool, Enum, Nat, Int, Sort, or a Map of these",
        )
    if isinstance(kind, Type) and name in reserved:
        raise SpecError(f"{where} takes a reserved name", remedy="Choose another name")
    parts = (*kind.keys, kind.value) if isinstance(kind, MapType) else (kind,)
    if kind in NAMED or not all(part.name for part in parts if isinstance(part, Type)):
        raise SpecError(
            f"{where} has a type without a name",
            remedy="Declare the type in the class body first: Position = Nat()",
        )


def _declare(cls: type, declared: Declared, name: str, kind: Type) -> None:
    value = vars(cls).get(name, _MISSING)
    if value is _MISSING:
        raise SpecError(
            f"{cls.__name__}.{name} has no initial value",
            remedy="Write = value, = anything, = option(value) or = constant()",
        )
    if isinstance(value, Option | Constant):
        declared.variables.pop(name, None)
        declared.initial.pop(name, None)
        declared.constants[name] = Variable(name, kind, constant=True)
    else:
        declared.constants.pop(name, None)
        declared.options.pop(name, None)
        declared.variables[name] = Variable(name, kind)


def _redeclare(cls: type, declared: Declared, name: str) -> None:
    value = vars(cls)[name]
    delattr(cls, name)
    if name in declared.variables:
        kind = declared.variables[name].type
        declared.initial[name] = None if isinstance(value, Anything) else _literal(value, kind)
        return
    kind = declared.constants[name].type
    if isinstance(value, Constant):
        declared.options.pop(name, None)
    elif isinstance(kind, MapType):
        raise SpecError(
            f"the map {name} as an option", remedy="Write = constant(); the instance gives the entries"
        )
    else:
        declared.options[name] = _literal(value.value if isinstance(value, Option) else value, kind)
        if isinstance(value, Option) and value.assumes:
            declared.environment[name] = value.assumes


def _literal(value: Any, kind: Type) -> Value:
    scalar = kind.value if isinstance(kind, MapType) else kind
    if value is None:
        remedy = f"Give a literal of type {scalar}; for what may be absent declare a Bool beside it, or a Map"
        raise SpecError("None as an initial value", remedy=remedy)
    expr = lift(value, scalar)
    if not isinstance(expr, Const):
        raise SpecError(f"{value!r} as an initial value", remedy=f"Give a literal of type {scalar}")
    if isinstance(scalar, NumberType) and not scalar.signed and int(expr.value) < 0:
        raise SpecError(f"{value!r} as a value of {scalar}", remedy="A Nat begins at 0; declare an Int")
    return expr.value


def _check_leftovers(cls: type, declared: Declared) -> None:
    """Plain attributes are Python's own, unless they look like a declaration that went wrong."""
    inherited = [name for base in cls.__mro__[1:] for name in vars(base)]
    for name, value in vars(cls).items():
        if name.startswith("__"):
            continue
        if value is None and name not in inherited:
            raise SpecError(
                f"{cls.__name__} removes {name!r}, which no base class has", remedy=_near(name, inherited)
            )
        if isinstance(value, Option | Constant | Anything):
            raise SpecError(
                f"{cls.__name__}.{name} has a value but no type", remedy=f"Write {name}: SomeType = ..."
            )
        if not isinstance(value, bool | int | str) or name in inherited:
            continue
        close = difflib.get_close_matches(name, [*declared.variables, *declared.constants], n=1, cutoff=0.8)
        if close:
            raise SpecError(
                f"{cls.__name__}.{name} sets nothing that the protocol declares",
                remedy=f"Did you mean {close[0]!r}? Otherwise choose a name that differs more",
            )


def _near(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else "Name an action or a property of the base class"
