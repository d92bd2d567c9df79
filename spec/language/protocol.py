"""``Protocol``: the class that an author subclasses.

Methods are ordinary Python and are run once each over symbolic values. A view of the state *is* an instance
of the class, so that helper methods, inheritance and ``super()`` work as anywhere else in Python.
"""

from __future__ import annotations

import difflib
from dataclasses import replace
from functools import cache
from typing import Any

from tidemark.spec.language.body import Declared, read_body
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.expr import Expr, Read, Store, Value, Variable
from tidemark.spec.language.fold import fold, select
from tidemark.spec.language.quantifiers import under_quantifier
from tidemark.spec.language.references import ReferenceNotFoundError, load_reference
from tidemark.spec.language.spec import Ranking, Spec
from tidemark.spec.language.terms import Liftable, Term, Write, lift
from tidemark.spec.language.tracing import Trace, ranked, require, trace_class, trace_ranking, when
from tidemark.spec.language.types import NAMED, MapType, Type, zero_of

__all__ = ["Protocol", "initial_literal", "require", "resolve", "when"]


def declared_by(cls: type[Protocol]) -> Declared:
    """What the class body of a protocol and those of its bases declare."""
    return cls._declared  # a public name in the class could clash with state


class _Body(dict[str, Any]):
    """The body of a protocol while it is read: ``Token: TypeAlias = Nat`` names a new type."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name in self and not name.startswith("__"):
            raise SpecError(f"the name {name!r} is given twice", remedy="Rename one: the first one is lost")
        super().__setitem__(name, value() if any(value is kind for kind in NAMED) else value)


class _ProtocolType(type):
    """The type of protocols, which are classes with a body of that kind."""

    @classmethod
    def __prepare__(mcs, name: str, bases: tuple[type, ...], /, **options: Any) -> _Body:
        return _Body()


class Protocol(metaclass=_ProtocolType):
    """Base class of protocols: types, constants and state in the body; actions and properties as methods.

    Ids of properties begin with the name of the first subclass in lower case; ``name`` in the class line
    gives another one. Later subclasses keep it.
    """

    _declared = Declared()

    def __init_subclass__(cls, *, name: str = "") -> None:
        bases = [base for base in cls.__bases__ if issubclass(base, Protocol)]
        if len(bases) != 1:
            names = ", ".join(base.__name__ for base in bases)
            raise SpecError(
                f"{cls.__name__} mixes the protocols {names}",
                remedy="A variant has one protocol as its base; derive one from the other",
            )
        reserved = frozenset(name for name in vars(Protocol) if not name.startswith("_"))
        cls._declared = read_body(cls, declared_by(bases[0]), reserved, name=name)

    def __getattr__(self, name: str) -> Any:
        trace: Trace | None = self.__dict__.get("_trace")
        declared = declared_by(type(self))
        if trace is None or name.startswith("__"):
            raise AttributeError(name)
        if name in declared.variables:
            return Term(trace.values[name], self._writer(name, trace))
        if name in declared.constants:
            variable = declared.constants[name]
            called = replace(variable, name=trace.prefix + variable.name)
            return Term(Read(variable.type, called), self._writer(name, trace))
        raise _unknown(type(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        trace, kind = _assignable(self, name)
        new = fold(lift(value, kind))
        trace.assign(name, trace.chosen(new, trace.values[name]))

    def _writer(self, name: str, trace: Trace) -> Write:
        """The assignment to one entry of the map ``name``."""
        seen = trace.values.get(name)

        def write(keys: tuple[Expr, ...], value: Liftable) -> None:
            trace, kind = _assignable(self, name)
            if seen is None or trace.values[name] is not seen:
                raise SpecError(
                    f"an entry of {name} is assigned through an old copy of it",
                    remedy=f"Write s.{name}[...] = ..., so that no earlier assignment is lost",
                )
            assert isinstance(kind, MapType)
            entry = trace.chosen(lift(value, kind.value), select(seen, keys))
            trace.assign(name, fold(Store(kind, seen, keys, entry)))

        return write

    @classmethod
    def trace(cls) -> Spec:
        """The traced protocol. Traced once per class; the result is immutable, the same in every process."""
        return _trace(cls)

    @classmethod
    def reference(cls) -> str:
        """``module:Class``, from which ``resolve`` finds the protocol again in another process."""
        return f"{cls.__module__}:{cls.__qualname__}"


def _assignable(view: Protocol, name: str) -> tuple[Trace, Type]:
    """Where an assignment to ``name`` goes, and its type. Raises SpecError if it may not be assigned here."""
    declared = declared_by(type(view))
    trace: Trace = view.__dict__["_trace"]
    if name in declared.constants:
        raise SpecError(f"an assignment to the constant {name}", remedy="Declare it as state if it changes")
    if name not in declared.variables:
        raise _unknown(type(view), name)
    if not trace.writable:
        raise SpecError(f"an assignment to {name} in a property", remedy="Only actions assign")
    if under_quantifier():
        raise SpecError(
            f"an assignment to {name} inside a quantifier",
            remedy=f"Write s.{name} = each(Key, lambda k: ...) outside",
        )
    return trace, declared.variables[name].type


@cache
def _trace(cls: type[Protocol]) -> Spec:
    return trace_class(cls, declared_by(cls))


def ranking_of(cls: type[Protocol], claim: str) -> Ranking:
    """The author's ``@rank`` and ``@helpful`` cases for a leads_to. Raises SpecError."""
    return trace_ranking(cls, declared_by(cls), cls.trace(), claim)


def ranked_claims(cls: type[Protocol]) -> tuple[str, ...]:
    """Ids of the leads_to that have a ``@rank``."""
    names = ranked(cls)
    return tuple(p.id for p in cls.trace().of_kind("leads_to") if p.id.partition(".")[2] in names)


def resolve(reference: str) -> type[Protocol]:
    """The protocol class of a reference ``module:Class``. Raises ReferenceNotFoundError."""
    found = load_reference(reference, what="protocol")
    if not (isinstance(found, type) and issubclass(found, Protocol)):
        raise ReferenceNotFoundError(f"{reference!r} is not a protocol", remedy="Name a subclass of Protocol")
    return found


def _unknown(cls: type[Protocol], name: str) -> SpecError:
    if name in dir(cls):
        return SpecError(
            f"{cls.__name__}.{name} is not a state variable",
            remedy=f"Declare it in the class body with a type: {name}: SomeType = value",
        )
    names = [*declared_by(cls).names(), *(n for n in dir(cls) if not n.startswith("_"))]
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else f"It has {', '.join(declared_by(cls).names())}"
    return SpecError(f"{cls.__name__} has no variable {name!r}", remedy=hint)


def initial_literal(spec: Spec, variable: Variable) -> Value:
    """What a map holds outside an instance: its declared initial value, or the type's zero if it is open."""
    value = spec.initial.get(variable.name)
    kind = variable.type.value if isinstance(variable.type, MapType) else variable.type
    return zero_of(kind) if value is None else value
