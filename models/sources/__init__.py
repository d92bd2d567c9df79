"""Sources of claims, steps, mutants and findings: labels in texts, and the page that explains them."""

from tidemark.models.sources.catalogue import (
    PAGE,
    Catalogue,
    Entry,
    SourceError,
    entries_of,
    read_catalogue,
    repository_catalogue,
)
from tidemark.models.sources.labels import Family, Label, labels_in, not_labels, segments

__all__ = [
    "PAGE",
    "Catalogue",
    "Entry",
    "Family",
    "Label",
    "SourceError",
    "entries_of",
    "labels_in",
    "not_labels",
    "read_catalogue",
    "repository_catalogue",
    "segments",
]
