"""What differs between the pins and the protocol as it is, in words: old text, new text."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tidemark.models.manifest import Pin


class Change(StrEnum):
    """How a pin and the protocol differ."""

    CHANGED = "says something else than what is pinned"
    REWORDED = "means what is pinned, but the pinned text is not its text"
    MISSING = "is not pinned"
    SURPLUS = "is pinned, but is not in the protocol"


@dataclass(frozen=True)
class Difference:
    """One pin that is not as the protocol is; ``old`` and ``new`` are the texts, or empty."""

    id: str
    change: Change
    old: str
    new: str

    @property
    def headline(self) -> str:
        """The difference in a line."""
        return f"{self.id} {self.change.value}"

    def lines(self) -> Iterator[str]:
        """Lines of the old text with ``-``, of the new one with ``+``, of both with neither."""
        for line in difflib.ndiff(self.old.splitlines(), self.new.splitlines()):
            if not line.startswith("?"):
                yield line.rstrip()


def differences(pinned: Mapping[str, Pin], found: Mapping[str, Pin]) -> list[Difference]:
    """All differences, in the order in which the protocol is written down; pins of what is gone come last."""
    return [
        difference
        for name in [*found, *(name for name in pinned if name not in found)]
        if (difference := difference_of(name, pinned.get(name), found.get(name))) is not None
    ]


def difference_of(name: str, old: Pin | None, new: Pin | None) -> Difference | None:
    """The difference of one pin, None if there is none. The digest and the text must both be the same."""
    if old == new:
        return None
    before, after = old.text if old else "", new.text if new else ""
    if new is None:
        return Difference(name, Change.SURPLUS, before, after)
    if old is None:
        return Difference(name, Change.MISSING, before, after)
    change = Change.CHANGED if old.digest != new.digest else Change.REWORDED
    return Difference(name, change, before, after)
