"""``Protocol``: the class that an author subclasses, and its tracing to a ``Spec``.

Methods are ordinary Python and are run once each over symbolic values. A view of the state *is* an instance of the class, so
that helper methods, inheritance and ``super()`` work as anywhere else in Python.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from spec.language.declare import MARK, Anything, Constant, Mark, Option
from spec.language.errors import SpecError, caller_place, caller_text
from spec.language.expr import Const, Expr, Local, Read, Value, Variable
from spec.language.fold import fold
from spec.language.quantifiers import Comprehension, fresh_names
from spec.language.spec import Action, Guard, Property, Spec
from spec.language.terms import Liftable, Term, boolean, lift
from spec.language.types import MapType, Type, zero_of
from spec.language.vacuity import check_action, check_property

_MISSING = object()


@dataclass
class Declared:
    """What the class bodies along the inheritance line declare."""

    types: dict[str, Type] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    constants: dict[str, Variable] = field(default_factory=dict)
    initial: dict[str, Value | None] = field(default_factory=dict)
    options: dict[str, Value] = field(default_factory=dict)

    def copy(self) -> Declared:
        """Independent copy, for a subclass to extend."""
        return Declared(*(dict(part) for part in vars(self).values()))

    def names(self) -> list[str]:
        """All that ``s.<name>`` can mean besides methods."""
        return [*self.variables, *self.constants, *self.types]


@dataclass
class _Trace:
    """The symbolic state of one view."""

    values: dict[str, Expr]
    writable: bool
    guards: list[Guard] = field(default_factory=list)
    written: dict[str, None] = field(default_factory=dict)


_tracing: list[_Trace] = []


def require(condition: Liftable) -> None:
    """A conjunct of the guard of the action being traced: the step is possible only where it holds."""
    if not _tracing:
        raise SpecError("require outside an action", remedy="Use it in methods marked @action only")
    _tracing[-1].guards.append(Guard(fold(boolean(condition)), caller_text(), caller_place()))


class Protocol:
    """Base class of protocols: declare types, constants and state in the body, actions and properties as methods."""

    _declared = Declared()
    relies_on: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        declared = cls._declared = cls.__mro__[1]._declared.copy()  # type: ignore[attr-defined]
        declared.types.update({name: item for name, item in vars(cls).items() if isinstance(item, Type)})
        for name, kind in inspect.get_annotations(cls).items():
            if isinstance(kind, Type):
                _declare(cls, declared, name, kind)
        for name in [*declared.variables, *declared.constants]:
            if name in vars(cls):
                _redeclare(cls, declared, name)

    def __getattr__(self, name: str) -> Any:
        trace: _Trace | None = self.__dict__.get("_trace")
        declared = type(self)._declared
        if trace is None or name.startswith("__"):
            raise AttributeError(name)
        if name in declared.variables:
            return Term(trace.values[name], lambda expr: setattr(self, name, Term(expr)))
        if name in declared.constants:
            variable = declared.constants[name]
            return Term(Read(variable.type, variable))
        raise _unknown(type(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        declared, trace = type(self)._declared, self.__dict__["_trace"]
        if name in declared.constants:
            raise SpecError(
                f"an assignment to the constant {name}", remedy="Declare it as state if it changes"
            )
        if name not in declared.variables:
            raise _unknown(type(self), name)
        if not trace.writable:
            raise SpecError(f"an assignment to {name} in a property", remedy="Only actions assign")
        kind = declared.variables[name].type
        expr = value.typed(kind) if isinstance(value, Comprehension) else lift(value, kind)
        trace.values[name] = fold(expr)
        trace.written[name] = None

    @classmethod
    def trace(cls) -> Spec:
        """The traced protocol. Traced once per class; the result is immutable and the same in every process."""
        return _trace_class(cls)

    @classmethod
    def reference(cls) -> str:
        """``module:Class``, from which ``resolve`` finds the protocol again in another process."""
        return f"{cls.__module__}:{cls.__qualname__}"


def resolve(reference: str) -> type[Protocol]:
    """The protocol class of a reference ``module:Class``. Errors: SpecError that names what is missing."""
    module_name, _, path = reference.partition(":")
    try:
        found: Any = import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise SpecError(
            f"no protocol {reference!r} ({error})", remedy="Write module:Class", place="reference"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Protocol)):
        raise SpecError(
            f"{reference!r} is no protocol", remedy="Name a subclass of Protocol", place="reference"
        )
    return found


def _unknown(cls: type[Protocol], name: str) -> SpecError:
    names = [*cls._declared.names(), *(n for n in dir(cls) if not n.startswith("_"))]
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else f"It has {', '.join(cls._declared.names())}"
    return SpecError(f"{cls.__name__} has no variable {name!r}", remedy=hint)


def _declare(cls: type[Protocol], declared: Declared, name: str, kind: Type) -> None:
    value = vars(cls).get(name, _MISSING)
    if value is _MISSING:
        raise SpecError(
            f"{cls.__name__}.{name} has no initial value",
            remedy="Write = value, = anything, = option(value) or = constant()",
            place=cls.__module__,
        )
    if isinstance(value, Option | Constant):
        declared.constants[name] = Variable(name, kind, constant=True)
    else:
        declared.variables[name] = Variable(name, kind)


def _redeclare(cls: type[Protocol], declared: Declared, name: str) -> None:
    """Take the value out of the class body, so that ``s.<name>`` is looked up as state and never as a class attribute."""
    value = vars(cls)[name]
    delattr(cls, name)
    if name in declared.variables:
        kind = declared.variables[name].type
        declared.initial[name] = None if isinstance(value, Anything) else _literal(value, kind)
    elif isinstance(value, Constant):
        declared.options.pop(name, None)
    else:
        kind = declared.constants[name].type
        declared.options[name] = _literal(value.value if isinstance(value, Option) else value, kind)


def _literal(value: Any, kind: Type) -> Value:
    scalar = kind.value if isinstance(kind, MapType) else kind
    expr = lift(value, scalar)
    if not isinstance(expr, Const):
        raise SpecError(f"{value!r} as an initial value", remedy=f"Give a literal of type {scalar}")
    return expr.value


def _view(cls: type[Protocol], *, primed: bool = False, writable: bool = False) -> Any:
    view = object.__new__(cls)
    values: dict[str, Expr] = {n: Read(v.type, v, primed) for n, v in cls._declared.variables.items()}
    view.__dict__["_trace"] = _Trace(values, writable)
    return view


def _methods(cls: type[Protocol]) -> list[tuple[str, Callable[..., Any], Mark]]:
    """Marked methods in order of first declaration, base classes first; an override without a mark keeps the old one."""
    found: dict[str, Mark] = {}
    for base in reversed(cls.__mro__):
        for name, item in vars(base).items():
            mark = getattr(item, MARK, None)
            if mark is not None:
                found[name] = mark
    return [
        (name, getattr(cls, name), mark) for name, mark in found.items() if getattr(cls, name) is not None
    ]


def _sentence(cls: type[Protocol], name: str) -> str:
    for base in cls.__mro__:
        doc = getattr(vars(base).get(name), "__doc__", None)
        if doc:
            return " ".join(inspect.cleandoc(doc).split("\n\n")[0].split())
    raise SpecError(
        f"{cls.__name__}.{name} has no docstring", remedy="Say in one sentence what it means", place=name
    )


def _parameters(cls: type[Protocol], name: str, skip: int) -> tuple[Local, ...]:
    """Parameters after the views; an override may leave annotations out and inherits them by name."""
    known: dict[str, Type] = {}
    for base in reversed(cls.__mro__):
        function = vars(base).get(name)
        if inspect.isfunction(function):
            known.update({k: t for k, t in inspect.get_annotations(function).items() if isinstance(t, Type)})
    names = list(inspect.signature(getattr(cls, name)).parameters)[skip:]
    missing = [n for n in names if n not in known]
    if missing:
        raise SpecError(
            f"{cls.__name__}.{name} has the parameter {missing[0]!r} without a type",
            remedy="Annotate it with a declared Sort, Enum, Nat, Int or Bool",
            place=name,
        )
    return tuple(Local(known[n], n) for n in names)


def _family(cls: type[Protocol]) -> str:
    """Property ids carry the name of the protocol that variants descend from, so that a variant keeps the ids."""
    return cls.__mro__[cls.__mro__.index(Protocol) - 1].__name__.lower()


@cache
def _trace_class(cls: type[Protocol]) -> Spec:
    declared = cls._declared
    methods = _methods(cls)
    prefix = _family(cls)
    actions = tuple(_trace_action(cls, n, m) for n, _, m in methods if m.role == "action")
    claims = [
        (n, m, _trace_property(cls, n, m, prefix))
        for n, _, m in methods
        if m.role not in ("action", "initially")
    ]
    properties = tuple(prop for _, m, prop in claims if m.role != "assumption")
    for prop in properties:
        check_property(prop, actions)
    return Spec(
        name=cls.__name__,
        doc=inspect.cleandoc(cls.__doc__ or ""),
        types=tuple(declared.types.values()),
        constants=tuple(declared.constants.values()),
        options=dict(declared.options),
        variables=tuple(declared.variables.values()),
        initial=dict(declared.initial),
        actions=actions,
        properties=properties,
        assumptions=tuple(prop for _, m, prop in claims if m.role == "assumption"),
        initially=tuple(_trace_condition(cls, n) for n, _, m in methods if m.role == "initially"),
        relies_on=tuple(cls.relies_on),
    )


def _trace_action(cls: type[Protocol], name: str, mark: Mark) -> Action:
    params = _parameters(cls, name, 1)
    view = _view(cls, writable=True)
    trace: _Trace = view.__dict__["_trace"]
    _tracing.append(trace)
    try:
        with fresh_names():
            getattr(cls, name)(view, *map(Term, params))
    finally:
        _tracing.pop()
    variables = cls._declared.variables
    updates = tuple(
        (variables[n], trace.values[n])
        for n in variables
        if n in trace.written and trace.values[n] != Read(variables[n].type, variables[n])
    )
    traced = Action(
        name, params, tuple(trace.guards), updates, mark.fairness, _sentence(cls, name), mark.source
    )
    check_action(cls.__name__, traced)
    return traced


def _trace_condition(cls: type[Protocol], name: str) -> Expr:
    with fresh_names():
        return fold(boolean(getattr(cls, name)(_view(cls))))


def _trace_property(cls: type[Protocol], name: str, mark: Mark, prefix: str) -> Property:
    two_states = mark.role == "transition_invariant" or (
        mark.role == "reachable"
        and list(inspect.signature(getattr(cls, name)).parameters)[:2] == ["before", "after"]
    )
    views = (
        [_view(cls), _view(cls, primed=True)] if two_states else [_view(cls, primed=mark.role == "reachable")]
    )
    params = (
        _parameters(cls, name, len(views))
        if mark.role != "reachable"
        else _witness_params(cls, name, mark, len(views))
    )
    with fresh_names():
        result = getattr(cls, name)(*views, *map(Term, params))
    premise: Expr = lift(True)
    if mark.role == "leads_to":
        if not isinstance(result, tuple) or len(result) != 2:
            raise SpecError(
                f"{name} returns no pair", remedy="A leads_to returns (premise, conclusion)", place=name
            )
        premise, result = fold(boolean(result[0])), result[1]
    role: Any = mark.role
    return Property(
        id=f"{prefix}.{name}",
        kind=role,
        expr=fold(boolean(result)),
        sentence=_sentence(cls, name),
        source=mark.source,
        params=params,
        premise=premise,
        after=mark.after,
        without=mark.without,
    )


def _witness_params(cls: type[Protocol], name: str, mark: Mark, skip: int) -> tuple[Local, ...]:
    """A witness may name parameters of the action whose firing it speaks about."""
    if getattr(cls, mark.after, None) is None:
        raise SpecError(
            f"{name} speaks about the action {mark.after!r}, which does not exist",
            remedy="Name an action",
            place=name,
        )
    known = {param.name: param for param in _parameters(cls, mark.after, 1)}
    names = list(inspect.signature(getattr(cls, name)).parameters)[skip:]
    unknown = [n for n in names if n not in known]
    if unknown:
        raise SpecError(
            f"{mark.after} has no parameter {unknown[0]!r}", remedy=f"It has {', '.join(known)}", place=name
        )
    return tuple(known[n] for n in names)


def initial_literal(spec: Spec, variable: Variable) -> Value:
    """What a map holds outside an instance's domain: its declared initial value, or the type's zero if it is open."""
    value = spec.initial.get(variable.name)
    kind = variable.type.value if isinstance(variable.type, MapType) else variable.type
    return zero_of(kind) if value is None else value
