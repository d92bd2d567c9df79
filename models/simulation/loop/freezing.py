"""Values that leave a process: copies, so that no two processes share a mutable object, and their texts."""

import copy
import re
from enum import Enum
from typing import TypeVar

T = TypeVar("T")

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

_ATOMS = (int, str, bytes, bool, float, complex, type(None), Enum)

PLAIN = frozenset({str, int, bool, type(None)})
"""Types of the immutable values that come most often."""
_ATOM, _SEQUENCE, _OTHER = (), ("*",), ("?",)
_shapes: dict[type, tuple[str, ...]] = {}
"""By type: no fields to look at, the elements, nothing known, or the names of the fields."""


def isolate(value: T) -> T:
    """Return the value itself when it is deeply immutable, otherwise a deep copy."""
    return value if immutable(value) else copy.deepcopy(value)


def immutable(value: object) -> bool:
    """Tell whether a value is deeply immutable: numbers, text, and tuples and frozen dataclasses of such."""
    kind = type(value)
    shape = _shapes.get(kind)
    if shape is None:
        shape = _shapes[kind] = _shape(kind)
    if shape is _ATOM:
        return True
    if shape is _OTHER:
        return False
    if shape is _SEQUENCE:
        return all(map(immutable, value))  # type: ignore[call-overload]  # a tuple or a frozenset
    # A list is quicker than a generator, and this is on the hot path of searches that merge states.
    return all([type(part := getattr(value, name)) in PLAIN or immutable(part) for name in shape])  # noqa: C419


def may_be_immutable(kind: type) -> bool:
    """Tell whether some values of a type are deeply immutable."""
    if kind not in _shapes:
        _shapes[kind] = _shape(kind)
    return _shapes[kind] is not _OTHER


def _shape(kind: type) -> tuple[str, ...]:
    if issubclass(kind, _ATOMS):
        return _ATOM
    if issubclass(kind, tuple | frozenset):
        return _SEQUENCE
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        return _OTHER
    names = tuple(str(name) for name in getattr(kind, "__dataclass_fields__", ()))
    return names or _ATOM


def without_addresses(text: str) -> str:
    """A text of ``repr`` without addresses of objects: they differ from run to run."""
    return _ADDRESS.sub("", text)
