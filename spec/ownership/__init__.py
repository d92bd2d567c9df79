"""Ownership of a virtual channel: whose saves the coordinator takes, and how a channel ends."""

from tidemark.spec.ownership.lemmas import Ownership

__all__ = ["Ownership"]
