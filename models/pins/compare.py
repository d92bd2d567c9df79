"""The differences between pins and the protocol, in words."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tidemark.models.manifest import Pin
from tidemark.models.pins.items import Said


class Change(StrEnum):
    """The kind of difference between a pin and the protocol."""

    CHANGED = "says something else than what is pinned"
    REWORDED = "means what is pinned, in other words"
    MISSING = "is not pinned"
    SURPLUS = "is pinned, but is not in the protocol"


@dataclass(frozen=True)
class Difference:
    """One difference between a pin and the protocol: the reviewed text, if known (a lock has digests only),
    and the text now.
    """

    id: str
    change: Change
    new: str
    old: str | None = None

    @property
    def headline(self) -> str:
        """The difference in a line."""
        return f"{self.id} {self.change.value}"

    def lines(self) -> Iterator[str]:
        """Lines of the old text with ``-``, of the new one with ``+``, of both with neither; or the new text
        alone.
        """
        if self.old is None:
            yield from self.new.splitlines()
            return
        for line in difflib.ndiff(self.old.splitlines(), self.new.splitlines()):
            if not line.startswith("?"):
                yield line.rstrip()


def differences(
    pinned: Mapping[str, Pin], found: Mapping[str, Said], *, texts: Mapping[str, str] | None = None
) -> list[Difference]:
    """All differences, in the order of the protocol; removed parts come last. ``texts`` are the pinned ones,
    if known.
    """
    names = [*found, *(name for name in pinned if name not in found)]
    changes = ((name, change_of(pinned.get(name), found.get(name))) for name in names)
    return [
        Difference(
            name,
            change,
            found[name].text if name in found else "",
            None if texts is None else texts.get(name, ""),
        )
        for name, change in changes
        if change is not None
    ]


def change_of(old: Pin | None, new: Said | None) -> Change | None:
    """How a pin and the present text differ, None if they do not. Known digests must be equal."""
    if new is None:
        return None if old is None else Change.SURPLUS
    if old is None:
        return Change.MISSING
    if (old.digest, old.adds) != (new.pin.digest, new.pin.adds):
        return Change.CHANGED
    return Change.REWORDED if old.wording and old.wording != new.pin.wording else None
