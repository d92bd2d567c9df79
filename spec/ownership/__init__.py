"""Ownership of a virtual channel: from whom the coordinator takes saves, and how a channel ends."""

from tidemark.spec.ownership.lemmas import Ownership

__all__ = ["Ownership"]
