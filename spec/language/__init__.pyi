# What a type checker and an editor read of the language. A protocol is traced: its methods run once over
# symbolic values. A checker reads the same text as if it ran over plain values: a number is an `int`, and so
# is a `Bool` (see there), a member of an enumeration its text.

from collections.abc import Callable
from typing import Any, Generic, Self, TypeAlias, TypeVar, TypeVarTuple, overload
from typing import Literal as Enum

from tidemark.spec.language.declare import (
    HelpfulCase,
    Measure,
    anything,
    assumption,
    constant,
    everywhere,
    helpful,
    initially,
    invariant,
    leads_to,
    lemma,
    option,
    other_parameters,
    rank,
    reachable,
    removed,
    transition_invariant,
)
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.protocol import Protocol, resolve
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Action, Fairness, Guard, Property, Spec
from tidemark.spec.language.tracing import When

__all__ = [
    "Action",
    "Bool",
    "Enum",
    "Guard",
    "HelpfulCase",
    "Int",
    "Map",
    "Measure",
    "Nat",
    "Property",
    "Protocol",
    "Self",
    "Set",
    "Sort",
    "Spec",
    "SpecError",
    "TypeAlias",
    "action",
    "all_of",
    "any_of",
    "anything",
    "assumption",
    "constant",
    "count",
    "each",
    "everywhere",
    "exists",
    "forall",
    "greatest",
    "helpful",
    "implies",
    "initially",
    "invariant",
    "ite",
    "leads_to",
    "least",
    "lemma",
    "maximum",
    "minimum",
    "one_of",
    "option",
    "other_parameters",
    "plain",
    "rank",
    "reachable",
    "removed",
    "render",
    "require",
    "resolve",
    "transition_invariant",
    "when",
]

Bool: TypeAlias = int  # so that `~` of a condition, an int for a checker, is one
Nat: TypeAlias = int
Int: TypeAlias = int

class Sort: ...

_F = TypeVar("_F", bound=Callable[..., Any])
_A = TypeVar("_A")
_B = TypeVar("_B")
_C = TypeVar("_C")
_D = TypeVar("_D")
_V = TypeVar("_V")
_Keys = TypeVarTuple("_Keys")
_Formula: TypeAlias = int  # a condition: `~` of one is an int for a checker

class Map(Generic[*_Keys, _V]):
    @overload
    def __getitem__(self, key: tuple[*_Keys]) -> _V: ...
    @overload
    def __getitem__(self: Map[_A, _V], key: _A) -> _V: ...
    @overload
    def __setitem__(self, key: tuple[*_Keys], value: _V) -> None: ...
    @overload
    def __setitem__(self: Map[_A, _V], key: _A, value: _V) -> None: ...

Set: TypeAlias = Map[*_Keys, int]

@overload
def action(function: _F) -> _F: ...
@overload
def action(
    *, fairness: Fairness = "none", source: str = "", relies_on: tuple[str, ...] = ()
) -> Callable[[_F], _F]: ...
def require(condition: _Formula) -> None: ...
def when(condition: _Formula) -> When: ...

# The last form of each is for more domains, and for an enumeration: a checker knows no values of these.
@overload
def forall(domain: type[_A], body: Callable[[_A], _Formula], /) -> bool: ...
@overload
def forall(one: type[_A], two: type[_B], body: Callable[[_A, _B], _Formula], /) -> bool: ...
@overload
def forall(
    one: type[_A], two: type[_B], three: type[_C], body: Callable[[_A, _B, _C], _Formula], /
) -> bool: ...
@overload
def forall(
    one: type[_A],
    two: type[_B],
    three: type[_C],
    four: type[_D],
    body: Callable[[_A, _B, _C, _D], _Formula],
    /,
) -> bool: ...
@overload
def forall(*domains_and_body: Any) -> bool: ...
@overload
def exists(domain: type[_A], body: Callable[[_A], _Formula], /) -> bool: ...
@overload
def exists(one: type[_A], two: type[_B], body: Callable[[_A, _B], _Formula], /) -> bool: ...
@overload
def exists(
    one: type[_A], two: type[_B], three: type[_C], body: Callable[[_A, _B, _C], _Formula], /
) -> bool: ...
@overload
def exists(
    one: type[_A],
    two: type[_B],
    three: type[_C],
    four: type[_D],
    body: Callable[[_A, _B, _C, _D], _Formula],
    /,
) -> bool: ...
@overload
def exists(*domains_and_body: Any) -> bool: ...
@overload
def count(domain: type[_A], body: Callable[[_A], _Formula], /) -> int: ...
@overload
def count(one: type[_A], two: type[_B], body: Callable[[_A, _B], _Formula], /) -> int: ...
@overload
def count(
    one: type[_A], two: type[_B], three: type[_C], body: Callable[[_A, _B, _C], _Formula], /
) -> int: ...
@overload
def count(
    one: type[_A],
    two: type[_B],
    three: type[_C],
    four: type[_D],
    body: Callable[[_A, _B, _C, _D], _Formula],
    /,
) -> int: ...
@overload
def count(*domains_and_body: Any) -> int: ...
@overload
def each(domain: type[_A], body: Callable[[_A], _V], /) -> Map[_A, _V]: ...
@overload
def each(one: type[_A], two: type[_B], body: Callable[[_A, _B], _V], /) -> Map[_A, _B, _V]: ...
@overload
def each(
    one: type[_A], two: type[_B], three: type[_C], body: Callable[[_A, _B, _C], _V], /
) -> Map[_A, _B, _C, _V]: ...
@overload
def each(*domains_and_body: Any) -> Any: ...
def least(domain: type[int], body: Callable[[int], _Formula], *, default: int) -> int: ...
def greatest(domain: type[int], body: Callable[[int], _Formula], *, upto: int, default: int) -> int: ...
def implies(premise: _Formula, conclusion: _Formula) -> bool: ...
def all_of(*parts: _Formula) -> bool: ...
def any_of(*parts: _Formula) -> bool: ...
def one_of(value: _V, *choices: _V) -> bool: ...
def ite(condition: _Formula, then: _V, other: _V) -> _V: ...
def minimum(left: int, right: int, *more: int) -> int: ...
def maximum(left: int, right: int, *more: int) -> int: ...
def plain(value: int) -> int: ...
