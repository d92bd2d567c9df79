"""Sources beside a counterexample and on the page of a run, with the words of ``docs/sources.md``."""

from collections.abc import Iterable, Iterator

from tidemark.checks.verdicts.result import SourceNote, source_note
from tidemark.models.sources import Entry, repository_catalogue, segments
from tidemark.spec.language.protocol import resolve


def claim_sources(claim: str, *, protocol: str) -> list[str]:
    """Where a property of ``protocol`` (``module:Class``) comes from, as a line; none if it does not say so,
    or if ``claim`` is no property. Errors: SpecError.
    """
    found = (prop.source for prop in resolve(protocol).trace().properties if prop.id == claim)
    return [source_note(source, protocol=protocol).line(claim) for source in found if source]


def pieces(note: SourceNote) -> Iterator[tuple[str, str]]:
    """The text of a note cut into pieces, each with the anchor of the label that it names, or nothing."""
    catalogue = repository_catalogue()
    for piece, label in segments(note.text, parts=catalogue.parts):
        entry = catalogue.entries.get(label.text) if label else None
        yield piece, entry.label.anchor if entry and entry.link in note.links else ""


def entries(notes: Iterable[SourceNote]) -> list[Entry]:
    """What the links of these notes lead to, in the order of an index, each once."""
    wanted = {link for note in notes for link in note.links}
    catalogue = repository_catalogue().entries if wanted else {}
    found = [entry for entry in catalogue.values() if entry.link in wanted]
    return sorted(found, key=lambda entry: entry.label.key)
