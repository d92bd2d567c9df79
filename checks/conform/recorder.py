"""Which fields of the implementation a mapping reads: noted while it is evaluated."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from inspect import isawaitable
from typing import Any

from tidemark.models.rooms import PACKAGE

Evaluate = Callable[[], Mapping[str, Any]]
"""The mapping applied to the present state: the values of the variables."""

Field = tuple[str, str]
"""A class of the implementation, and one of its fields, properties or methods."""

_IMPL = f"{PACKAGE}.impl."
_CONTAINERS = (dict, list, set, tuple)


class Recorder:
    """Notes what is read of objects of the implementation by code that is not its own.

    Attributes:
        fields: what was read so far.
    """

    def __init__(self) -> None:
        self.fields: set[Field] = set()
        self._first: dict[Field, Any] = {}
        self._active = False
        self._masked: Field | None = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Hear of all reads of classes that are loaded."""
        classes = _classes()
        for owner in classes:
            original: Any = owner.__getattribute__
            setattr(owner, "__getattribute__", self._reading(original))  # noqa: B010
        try:
            yield
        finally:
            for owner in classes:
                del owner.__getattribute__

    def read(self, evaluate: Evaluate, masked: Field | None = None) -> dict[str, Any]:
        """Evaluate a mapping. ``masked``: the field that gives what was read there first."""
        self._active, self._masked = True, masked
        try:
            return dict(evaluate())
        finally:
            self._active, self._masked = False, None

    def _reading(self, original: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
        def reading(one: Any, name: str) -> Any:
            value = original(one, name)
            if not self._active or name.startswith("_") or _from_implementation():
                return value
            return self._note((_name_of(type(one)), name), value)

        return reading

    def _note(self, where: Field, value: Any) -> Any:
        self.fields.add(where)
        if callable(value):
            return lambda *given, **named: self._note_value(where, value(*given, **named))
        return self._note_value(where, value)

    def _note_value(self, where: Field, value: Any) -> Any:
        if isawaitable(value):
            return value
        first = self._first.setdefault(where, copy.copy(value) if isinstance(value, _CONTAINERS) else value)
        return value if where != self._masked else _other(value, first)


def _other(value: Any, first: Any) -> Any:
    """What the mapping is given in place of a value: another one, if there is one."""
    if isinstance(value, bool):
        return not value
    if first != value:
        return first
    if isinstance(value, int):
        return type(value)(value + 1)
    return type(value)() if isinstance(value, _CONTAINERS) else value


def _classes() -> set[type]:
    """The classes of the implementation that are loaded, without those that inherit from another of them."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(_IMPL)]
    values = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    found = {one for one in values if _is_ours(one) and not issubclass(one, Enum | BaseException)}
    return {one for one in found if found.isdisjoint(one.__mro__[1:])}


def _is_ours(owner: type) -> bool:
    return owner.__module__.startswith(_IMPL)


def _from_implementation() -> bool:
    caller = sys._getframe(2)  # noqa: SLF001
    while caller.f_globals["__name__"] == __name__:
        assert caller.f_back is not None
        caller = caller.f_back
    return str(caller.f_globals["__name__"]).startswith(_IMPL)


def _name_of(kind: type) -> str:
    return next(one.__name__ for one in kind.__mro__ if _is_ours(one))
