"""The labels in a ``source`` text: ``facts 7.3; hazards 5, 6; B59`` names four of them.

One spelling for each (``H5`` is ``hazard 5``, ``bug B59`` is ``B59``), so that ``docs/sources.md`` and the
index of ``FINDINGS.md`` can be looked up by it.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

Parts = Mapping[str, Collection[str]]
"""Seed number -> the names of its parts, for example ``{"004": ("6.6.1", "6.6.3")}``."""


class Family(StrEnum):
    """The kinds of labels, in the order of an index."""

    SEED = "seed"
    HAZARD = "hazard"
    BUG = "bug"
    FACTS = "facts"
    PROPERTY = "property"
    REPORT = "milvus-lite"


@dataclass(frozen=True)
class Label:
    """One label: ``hazard 22`` is family ``hazard``, name ``22``; ``part`` is a part of a seed, or empty."""

    family: Family
    name: str
    part: str = ""

    @property
    def text(self) -> str:
        """The label in its one spelling."""
        match self.family:
            case Family.BUG:
                return f"B{self.name}"
            case Family.REPORT:
                return f"{self.family} #{self.name}"
            case _:
                return f"{self.family} {self.name}" + (f", {self.part}" if self.part else "")

    @property
    def anchor(self) -> str:
        """Its anchor in a Markdown page: lower case, other characters than letters and digits a hyphen."""
        return re.sub(r"[^a-z0-9]+", "-", self.text.lower()).strip("-")

    @property
    def key(self) -> tuple[int, tuple[int, ...], str]:
        """Order in an index: by family, number, part."""
        numbers = tuple(int(number) for number in re.findall(r"\d+", self.name))
        return list(Family).index(self.family), numbers, f"{self.name} {self.part}"


_LISTED = {
    Family.SEED: ("seeds?", r"\d{3}"),
    Family.HAZARD: ("hazards?", r"\d+"),
    Family.BUG: ("bugs?", r"B\d+"),
    Family.FACTS: ("facts", r"\d+(?:\.\d+)?"),
    Family.PROPERTY: ("property", r"(?:[A-Z]{1,2}|1)"),
}
"""The beginning of a family's words, and the form of its names; a list of names may follow."""

_JOINT = r"\s*,\s*|\s+and\s+|\s+to\s+"
_ITEM = re.compile(rf"({_JOINT}|^)([\w.]+)")
_LISTS = {
    family: re.compile(rf"(?<!-)\b(?i:{word})\s+({name}(?:(?:{_JOINT}){name})*)(?![\w.]*\w)")
    for family, (word, name) in _LISTED.items()
}
_SHORT = re.compile(r"\b([HB])(\d+)(?:\s+to\s+\1(\d+))?\b")
_REPORT = re.compile(rf"\b{Family.REPORT} #(\d+)\b")
_PART = re.compile(r",\s+([^:;,()]+?)\s*(?=[:;,()]|$)")
_HINT = re.compile(r"\([^)]*\)|:[^;]*")
_BETWEEN = re.compile(r"[\s,;]|\b(?:and|to)\b")


def labels_in(text: str, *, parts: Parts | None = None) -> tuple[Label, ...]:
    """All labels of a text, each once, in order. ``parts``: names of parts of seeds, labels too (``seed 002,
    tick``).
    """
    return tuple(sorted({found.label for found in _scan(text, parts or {})}, key=lambda label: label.key))


def segments(text: str, *, parts: Parts | None = None) -> Iterator[tuple[str, Label | None]]:
    """The text cut into pieces; a piece that names a label comes with it."""
    end = 0
    for found in sorted(_scan(text, parts or {}), key=lambda found: (found.start, -found.end)):
        if found.start >= end:
            if text[end : found.start]:
                yield text[end : found.start], None
            yield text[found.start : found.end], found.label
            end = found.end
    if text[end:]:
        yield text[end:], None


def not_labels(text: str, *, parts: Parts | None = None) -> str:
    """The text besides labels and hints (in parentheses, or from a colon on); empty if all is known."""
    bare = "".join(" " if label else piece for piece, label in segments(_HINT.sub(" ", text), parts=parts))
    return " ".join(_BETWEEN.sub(" ", bare).split())


class _Found(NamedTuple):
    label: Label
    start: int
    end: int


def _scan(text: str, parts: Parts) -> Iterator[_Found]:
    """Every label with the place of the words that name it."""
    for family, pattern in _LISTS.items():
        for found in pattern.finditer(text):
            yield from _listed(family, found, parts)
    for found in _SHORT.finditer(text):
        family = Family.HAZARD if found[1] == "H" else Family.BUG
        for number in range(int(found[2]), int(found[3] or found[2]) + 1):
            yield _Found(Label(family, str(number)), *found.span())
    for found in _REPORT.finditer(text):
        yield _Found(Label(Family.REPORT, found[1]), *found.span())


def _listed(family: Family, found: re.Match[str], parts: Parts) -> Iterator[_Found]:
    """The labels of one list: ``24 to 28`` names five, ``3, 5 and 7`` three, ``2.1 to 2.3`` three."""
    before = ""
    for item in _ITEM.finditer(found[1]):
        start = found.start(1) + item.start(2) if before else found.start()
        name, end = item[2].removeprefix("B"), found.start(1) + item.end()
        head, _, last = name.rpartition(".")
        after = _PART.match(found.string, end) if family is Family.SEED and end == found.end() else None
        if after and after[1] in parts.get(name, ()):
            yield _Found(Label(family, name, after[1]), start, after.end())
        else:
            yield _Found(Label(family, name), start, end)
        if item[1].strip() == "to":
            for number in range(int(before.rpartition(".")[2]) + 1, int(last)):
                yield _Found(Label(family, f"{head}.{number}" if head else str(number)), start, end)
        before = name
