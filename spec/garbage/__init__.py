"""Garbage: when object files of a collection may be deleted, and that they are in the end."""

from tidemark.spec.garbage.proof import Garbage as Garbage
