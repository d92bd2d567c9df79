"""Service time and reads: what an answer holds, at each consistency level."""

from tidemark.spec.reads.lemmas import Reads

__all__ = ["Reads"]
