"""Errors of the native reading of a protocol."""

from models.instance import BadInstance


class NativeError(BadInstance):
    """An instance that the native kernel cannot take; the message names the value and the remedy."""


class SavedSearchError(ValueError):
    """A saved search that cannot be gone on with; the message names the file and the remedy."""
