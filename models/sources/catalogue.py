"""``docs/sources.md`` as data: the meaning of each label."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from tidemark.models.rooms import PACKAGE, ROOT
from tidemark.models.sources.labels import Family, Label, labels_in, not_labels

PAGE = "docs/sources.md"
"""The path of the page, from the root of the repository."""

_ENTRY = re.compile(r'^- <a id="([^"]*)"></a>\*\*([^*]+)\*\* (.*(?:\n  .*)*)', re.MULTILINE)
_BEGINS = re.compile(r"^- <a ", re.MULTILINE)


class SourceError(ValueError):
    """The page, or a text that refers to it, does not have the form described there."""


@dataclass(frozen=True)
class Entry:
    """One label and its text on the page, in Markdown on one line."""

    label: Label
    words: str

    @property
    def plain(self) -> str:
        """The words without Markdown: links by their text, no signs for code and emphasis."""
        return re.sub(r"[`*]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", self.words))

    @property
    def link(self) -> str:
        """``docs/sources.md#hazard-22``."""
        return f"{PAGE}#{self.label.anchor}"


@dataclass(frozen=True)
class Catalogue:
    """The entries of the page, by the text of their label."""

    entries: Mapping[str, Entry]

    @cached_property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The parts of seeds that have an entry, by seed."""
        found: dict[str, tuple[str, ...]] = {}
        for entry in self.entries.values():
            if entry.label.part:
                found[entry.label.name] = (*found.get(entry.label.name, ()), entry.label.part)
        return found

    def known(self, source: str) -> tuple[Entry, ...]:
        """The entries of those labels of a ``source`` text that the page has."""
        labels = labels_in(source, parts=self.parts)
        return tuple(self.entries[label.text] for label in labels if label.text in self.entries)

    def resolve(self, source: str) -> tuple[Entry, ...]:
        """The entries of a ``source`` text, at least one. Raises SourceError if it names no label, an unknown
        one, or has text that is neither a label nor a hint.
        """
        labels = labels_in(source, parts=self.parts)
        unknown = [label.text for label in labels if label.text not in self.entries]
        if unknown:
            raise SourceError(f"{source!r} names {', '.join(unknown)}, which {PAGE} does not have")
        if not labels:
            raise SourceError(f"{source!r} names no label of {PAGE}")
        if rest := not_labels(source, parts=self.parts):
            raise SourceError(
                f"{source!r}: {rest!r} is not a label of {PAGE}; write a hint after a colon or in parentheses"
            )
        return self.known(source)


def read_catalogue(text: str) -> Catalogue:
    """The page as data. Raises SourceError for an unknown form, a wrong anchor or a double label."""
    found: dict[str, Entry] = {}
    entries = list(_ENTRY.finditer(text))
    if len(entries) != len(_BEGINS.findall(text)):
        raise SourceError('an entry begins with - <a id="ANCHOR"></a>**LABEL** and continues indented by two')
    for anchor, name, words in (match.groups() for match in entries):
        label = _label(name)
        if label.text != name or label.anchor != anchor:
            raise SourceError(f"{name!r} with the anchor {anchor!r}: write {label.text!r}, {label.anchor!r}")
        if label.text in found:
            raise SourceError(f"{name!r} has two entries")
        found[label.text] = Entry(label, " ".join(words.split()))
    return Catalogue(found)


def _label(name: str) -> Label:
    head, _, part = name.partition(", ")
    labels = labels_in(head)
    if len(labels) != 1 or (part and labels[0].family is not Family.SEED) or not_labels(head):
        raise SourceError(f"{name!r} is not a label")
    return Label(labels[0].family, labels[0].name, part)


def entries_of(source: str, *, protocol: str) -> tuple[Entry, ...]:
    """The entries of the repository's page that a ``source`` text names; none for others' protocols."""
    return repository_catalogue().known(source) if protocol.startswith(f"{PACKAGE}.") else ()


@cache
def repository_catalogue() -> Catalogue:
    """The page of this repository; empty where only the packages are installed, without the documents."""
    page = ROOT / PAGE
    return read_catalogue(page.read_text(encoding="utf-8")) if page.exists() else Catalogue({})
