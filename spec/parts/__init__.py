"""Reads of several channels: what one answer shows, and what its further pages show."""

from tidemark.spec.parts.lemmas import Parts

__all__ = ["Parts"]
