"""A part of the search tree as plain data: what Spark moves and what a stopped search leaves behind."""

from typing import NamedTuple

from tidemark.models.simulation import NamedFootprint


class WorkItem(NamedTuple):
    """A node of the search tree, and which of its children are covered elsewhere.

    Attributes:
        picks: the choices that lead to the node.
        sleep: events that need not be tried from here, each with its footprint. Sorted by label.
    """

    picks: tuple[int, ...]
    sleep: tuple[tuple[str, NamedFootprint], ...]


WHOLE = WorkItem((), ())
"""The root: the whole tree."""
