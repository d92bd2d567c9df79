"""Reads of several channels: the rows of one answer, and of its further pages."""

from tidemark.spec.parts.proof import Parts as Parts
