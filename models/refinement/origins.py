"""Where a refinement mapping has each variable of the specification from: objects of the implementation, or
what surrounds them. One table beside each mapping, ``ORIGINS``; ``tidemark show origins`` prints them.

What is read from the implementation is wrong only if the implementation is. What an adapter notes is taken on
trust: it is to be environment, or a history that nobody keeps.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidemark.models.rooms import PACKAGE

Field = tuple[type, str]
"""A class of the implementation, and one of its fields, properties or methods."""


@dataclass(frozen=True)
class Origin:
    """Where some variables come from.

    Attributes:
        variables: their names in the specification.
        fields: what is read. Empty for what is environment.
        why: why it is not read from the implementation, or what beside the fields is not.
    """

    variables: tuple[str, ...]
    fields: tuple[Field, ...]
    why: str

    @property
    def kind(self) -> str:
        """Whether it is read, read in part, or environment."""
        if not self.fields:
            return "environment"
        return "in part" if self.why else "read"

    def missing(self) -> Iterator[str]:
        """Fields that their classes do not have."""
        for owner, name in self.fields:
            if not has_field(owner, name):
                yield f"{owner.__name__}.{name}"


@dataclass(frozen=True)
class Origins:
    """The table of one mapping.

    Attributes:
        specification: as "room/name:Class", or as "module:Class". By path where it can be: a module that is
            named as a text counts as loaded, and who uses parts of a mapping does not load its protocol.
        rows: where its variables come from.
    """

    specification: str
    rows: tuple[Origin, ...]

    @property
    def protocol(self) -> str:
        """The specification as "module:Class"."""
        path, separator, name = self.specification.rpartition(":")
        parts = path.split("/")
        return separator.join((".".join([PACKAGE, *parts]) if len(parts) > 1 else path, name))

    def variables(self) -> list[str]:
        """All variables in the order of the table, as often as they are in it."""
        return [name for row in self.rows for name in row.variables]


def read(*variables: str, of: Sequence[Field], why: str = "") -> Origin:
    """Return a row for what is read from the implementation. ``why``: what of it is not."""
    return Origin(variables, tuple(of), why)


def environment(*variables: str, why: str) -> Origin:
    """Return a row for what is not read from the implementation, with the reason."""
    return Origin(variables, (), why)


def has_field(owner: type, name: str) -> bool:
    """Whether a class has a field, a property or a method of this name."""
    if hasattr(owner, name):
        return True
    for each in inspect.getmro(owner)[:-1]:
        if name in inspect.get_annotations(each):
            return True
        if each.__module__.startswith(PACKAGE) and f"self.{name}" in inspect.getsource(each):
            return True
    return False
