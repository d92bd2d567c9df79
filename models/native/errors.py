"""Errors of the native reading of a protocol."""


class NativeError(ValueError):
    """An instance that the native kernel cannot take; the message names the value and the remedy."""
