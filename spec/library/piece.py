"""What the pieces share: additions to the class body of a protocol, and calls of a piece's methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.types import MapType, Type


class Piece:
    """Base of the pieces. ``name`` is the attribute of the protocol's class.

    ``s.<name>`` in a method is the piece bound to that state: an instance of ``view``.
    """

    view: type[Bound]

    def __init__(self) -> None:
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.declare(owner)

    def __get__(self, state: Any, owner: type) -> Any:
        return self if state is None else self.view(self, state)

    def declare(self, owner: type) -> None:
        """Add types, state, constants and claims to the class body."""
        raise NotImplementedError

    def add(self, owner: type, part: str, kind: Type, value: Any) -> None:
        """Declare ``<name>_<part>: kind = value`` in the class body."""
        full = f"{self.name}_{part}"
        if full in vars(owner) or full in inspect.get_annotations(owner):
            raise SpecError(
                f"{owner.__name__}.{full} is declared, and by the piece {self.name!r} as well",
                remedy="Choose another name for one of the two",
            )
        if "__annotations__" not in vars(owner):
            owner.__annotations__ = {}
        owner.__annotations__[full] = kind
        setattr(owner, full, value)

    def claim(self, owner: type, part: str, method: Callable[[Any], Any], words: str) -> None:
        """Add the decorated method ``<name>_<part>`` to the class body, with its sentence."""
        method.__doc__ = words
        setattr(owner, f"{self.name}_{part}", method)


class Bound:
    """A piece in one state."""

    def __init__(self, piece: Any, state: Any) -> None:
        self.piece = piece
        self.state = state

    def get(self, part: str) -> Any:
        """The value of the part of the state."""
        return getattr(self.state, f"{self.piece.name}_{part}")

    def set(self, part: str, value: Any) -> None:
        """Assign a part of the state as a whole."""
        setattr(self.state, f"{self.piece.name}_{part}", value)


def fields_of(piece: str, fields: tuple[Any, ...]) -> tuple[Type, ...]:
    """The types of a piece's fields. Raises SpecError if there is none, or one is no scalar type."""
    if not fields:
        raise SpecError(
            f"a {piece} of nothing", remedy=f"Name the types of what it holds: {piece}(Kind, Node)"
        )
    for kind in fields:
        if not isinstance(kind, Type) or isinstance(kind, MapType):
            raise SpecError(
                f"a {piece} of {kind!r}", remedy="Name declared types: Bool, Enum, Nat, Int or Sort"
            )
    return fields


def named(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a function with ``*values`` the parameters that a quantifier asks for."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            return body(*values)

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        setattr(call, "__signature__", inspect.Signature([inspect.Parameter(n, kind) for n in names]))  # noqa: B010
        return call

    return decorate


def numbered(name: str, count: int) -> tuple[str, ...]:
    """Names of that many parameters."""
    return tuple(f"{name}{place}" for place in range(count))
