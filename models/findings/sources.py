"""The sources that a text names, in one spelling: so that an index can say what became of each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

_LIST = r"\d+(?:(?:\s*,\s*|\s+and\s+|\s+to\s+)\d+)*"
_HAZARDS = re.compile(rf"\bhazards?\s+({_LIST})", re.IGNORECASE)
_SEEDS = re.compile(r"\bseeds?\s+(\d{3}(?:(?:\s*,\s*|\s+and\s+)\d{3})*)", re.IGNORECASE)
_SHORT = re.compile(r"\b([HB])(\d+)(?:\s+to\s+\1(\d+))?")
_NAMES = {"H": "hazard", "B": "bug"}
_ORDER = ("seed", "hazard", "bug")


def sources_in(text: str) -> tuple[str, ...]:
    """The seeds, hazards and bugs named in a text, each once: ``seed 001``, ``hazard 15``, ``bug B13``."""
    return tuple(sorted(set(_all(text)), key=source_key))


def source_key(source: str) -> tuple[int, int]:
    """Seeds, hazards, bugs; each by number."""
    kind, _, number = source.partition(" ")
    return _ORDER.index(kind), int(number.removeprefix("B"))


def _all(text: str) -> Iterator[str]:
    for found in _SEEDS.finditer(text):
        yield from (f"seed {number}" for number in re.findall(r"\d+", found[1]))
    for found in _HAZARDS.finditer(text):
        yield from (f"hazard {number}" for number in _numbers(found[1]))
    for found in _SHORT.finditer(text):
        kind, first, last = _NAMES[found[1]], int(found[2]), int(found[3] or found[2])
        prefix = "B" if kind == "bug" else ""
        yield from (f"{kind} {prefix}{number}" for number in range(first, last + 1))


def _numbers(text: str) -> Iterator[int]:
    """``24 to 28`` is five numbers, ``3, 5 and 7`` three."""
    parts = re.split(r"(\s+to\s+)", text)
    plain = [[int(number) for number in re.findall(r"\d+", part)] for part in parts[::2]]
    yield from (number for numbers in plain for number in numbers)
    for before, after in itertools.pairwise(plain):
        yield from range(before[-1] + 1, after[0])
