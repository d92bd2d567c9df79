"""Errors of the native reading of a protocol."""

from tidemark.models.instance import BadInstance


class NativeError(BadInstance):
    """An instance that the native kernel cannot take; the message names the value and the remedy."""


class SymmetryError(BadInstance):
    """Sorts whose elements are not alike in an instance; the message says what distinguishes them."""


class SavedSearchError(ValueError):
    """A saved search that cannot continue; the message names the file and the remedy."""
