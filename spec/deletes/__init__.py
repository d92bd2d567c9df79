"""Deletes: level-zero segments of one virtual channel, their checkpoint, and what a load replays."""

from tidemark.spec.deletes.lemmas import Deletes

__all__ = ["Deletes"]
