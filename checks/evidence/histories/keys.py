"""The keys of a collection cut into runs that every operation treats alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tidemark.checks.evidence.histories.operations import Collection, Ints, Runs, offsets, ranges

TOGETHER = 1 << 18
"""Pairs that are judged at once. An operation with more is judged by itself."""

_LAST_KEY = np.iinfo(np.int64).max - 1
"""The place after it is a number too; the greatest key of all is taken for this one."""


@dataclass(frozen=True)
class Spans:
    """Runs of keys as runs of cells: numbers of the first cell and of the one after the last."""

    first: Ints
    last: Ints
    begin: Ints
    """Where the runs of each operation begin, and where those of the last one end."""

    @property
    def width(self) -> Ints:
        """How many cells each run has."""
        return self.last - self.first

    def of(self, number: int) -> list[tuple[int, int]]:
        """The runs of one operation."""
        part = slice(self.begin[number], self.begin[number + 1])
        return list(zip(self.first[part].tolist(), self.last[part].tolist(), strict=True))

    def sums(self, of_runs: Ints) -> Ints:
        """For each operation the sum of a number of its runs."""
        sums = offsets(of_runs)
        return sums[self.begin[1:]] - sums[self.begin[:-1]]

    def sizes(self) -> Ints:
        """How many cells each operation has."""
        return self.sums(self.width)

    def pairs(self, which: Ints) -> tuple[Ints, Ints]:
        """For some operations each one's place in ``which`` with each of its cells."""
        counts = self.begin[which + 1] - self.begin[which]
        runs = ranges(self.begin[which], counts)
        width = self.width[runs]
        owner = np.repeat(np.repeat(np.arange(len(which)), counts), width)
        return owner, ranges(self.first[runs], width)


@dataclass(frozen=True)
class Cells:
    """Runs of keys by number, in order, and which writes touched them."""

    edges: Ints
    """Where each run begins; the last one is the end of the last run."""
    width: Ints
    """How many keys each run has."""
    write: Ints
    """Each touch of a cell by a write, in order of the cells: the number of the write ..."""
    cell: Ints
    """... and that of the cell."""

    def __len__(self) -> int:
        return len(self.width)

    def spans(self, runs: Runs) -> Spans:
        """The cells of the runs of all operations."""
        return _spans(self.edges, runs)

    def writes(self, cell: int) -> list[int]:
        """Numbers of the writes of a cell."""
        first, last = np.searchsorted(self.cell, [cell, cell + 1])
        found: list[int] = self.write[first:last].tolist()
        return found

    def name(self, cell: int) -> str:
        """The keys of a cell."""
        low, high = int(self.edges[cell]), int(self.edges[cell + 1]) - 1
        return f"key {low}" if low == high else f"keys {low} to {high}"


def _ends(runs: Runs) -> Ints:
    """The places after inclusive runs."""
    ends: Ints = np.minimum(runs.high, _LAST_KEY) + 1
    return ends


def _spans(edges: Ints, runs: Runs) -> Spans:
    first, last = np.searchsorted(edges, runs.low), np.searchsorted(edges, _ends(runs))
    return Spans(first.astype(np.int64), last.astype(np.int64), runs.first)


def cells(collection: Collection) -> Cells:
    """Cut the keys at every place where a run of some operation begins or ends."""
    reads, writes = collection.reads, collection.writes
    many = (writes.keys, reads.keys, reads.seen)
    edges = np.unique(np.concatenate([part for runs in many for part in (runs.low, _ends(runs))]))
    by, touched = _spans(edges, writes.keys).pairs(np.arange(len(writes.start)))
    order = np.argsort(touched, kind="stable")
    return Cells(edges=edges, width=np.diff(edges), write=by[order], cell=touched[order])


def groups(which: Ints, sizes: Ints) -> Iterator[Ints]:
    """Cut a list of operations where their sizes come to ``TOGETHER``; a larger one is alone."""
    if not len(which):
        return
    large = sizes > TOGETHER // 4
    sums = np.cumsum(np.where(large, 0, sizes)) // TOGETHER
    cut = np.flatnonzero((np.diff(sums) > 0) | large[1:] | large[:-1]) + 1
    yield from np.split(which, cut)
