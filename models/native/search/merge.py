"""The successors of several chunks, entered by several workers at the same time.

Each chunk puts the rows that it finds new into its own part of the store's front. A row of an earlier chunk
takes the slot over from an equal row of a later one. When all chunks are entered, the remaining rows are
numbered chunk by chunk, in the order of the rows, as one worker would do.
"""

from itertools import pairwise

import numpy as np

from tidemark.models.native.search.hash_table import commit, insert
from tidemark.models.native.search.table import Rows, Visited


class Merge:
    """Enters the rows of some chunks. ``base[c]``: first state that chunk c expanded."""

    def __init__(self, visited: Visited, bases: list[int]) -> None:
        self.visited, self.bases = visited, bases
        self.begins = [chunk * visited.room for chunk in range(len(bases))]
        self.ends = list(self.begins)
        self.lost = np.zeros((len(bases), len(bases)), dtype=np.int64)
        """Rows of a chunk (second index) that another one has taken over."""
        self.firsts: list[int] = []

    def insert(self, chunk: int, rows: Rows, at: int, count: int) -> int:
        """Enter rows ``at`` .. ``count - 1`` of a chunk. Gives where it stopped: the table is then full."""
        seen = self.visited
        at, self.ends[chunk] = insert(
            rows.flat, seen.words, rows.parent, rows.step, seen.step_count, at, count,
            seen.table, seen.filled, seen.full, seen.store, seen.store_links, self.ends[chunk],
            seen.slots, self.lost[chunk], seen.room,
        )  # fmt: skip
        return at

    def grow(self) -> None:
        """Make room in the table, while no worker enters."""
        self.visited.grow(zip(self.begins, self.ends, strict=True))

    def number(self) -> None:
        """Decide the numbers of all new states. All rows are entered."""
        fresh = np.array(self.ends) - self.begins - self.lost.sum(axis=0)
        self.firsts = (self.visited.count + np.concatenate(([0], np.cumsum(fresh)))).tolist()

    def commit(self, chunk: int) -> tuple[int, int]:
        """Put the new states of a chunk into their places. Gives the first number and the end."""
        seen, first = self.visited, self.firsts[chunk]
        commit(
            self.begins[chunk], self.ends[chunk], seen.words, seen.table, seen.store, seen.store_links,
            seen.slots, seen.front + first,
        )  # fmt: skip
        return first, self.firsts[chunk + 1]

    def finish(self) -> None:
        """Count the new states. All chunks are committed."""
        for base, (_, end) in zip(self.bases, pairwise(self.firsts), strict=True):
            self.visited.append(end, base)
