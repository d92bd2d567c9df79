"""Copies of what crosses a process boundary, so that no two processes share a mutable Python object."""

import copy
import dataclasses
from enum import Enum
from typing import TypeVar

T = TypeVar("T")

_ATOMS = (int, str, bytes, bool, float, complex, type(None), Enum)


def isolate(value: T) -> T:
    """Return the value itself when it is deeply immutable, otherwise a deep copy."""
    return value if immutable(value) else copy.deepcopy(value)


def immutable(value: object) -> bool:
    """Tell whether a value is deeply immutable: numbers, text, and tuples and frozen dataclasses of such."""
    if isinstance(value, _ATOMS):
        return True
    if isinstance(value, tuple | frozenset):
        return all(immutable(item) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parameters = getattr(type(value), "__dataclass_params__", None)
        if parameters is None or not parameters.frozen:
            return False
        return all(immutable(getattr(value, field.name)) for field in dataclasses.fields(value))
    return False
