"""What the writes of a cell make of its rows: must one be there, can it be, and how many at most.

An insert and an upsert put a row of a key; a delete takes all rows of the key away, and an upsert those that
were there before: in one step, so that no moment lies between the old row and the new one. An insert does not
look for a row that is there: the key may then have two. Writes whose intervals overlap may take effect in
either order; one that was not acknowledged, at any time after its start, or never.

All questions are asked of whole columns: each is the greatest value among the writes of a cell before a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tidemark.checks.evidence.histories.claims import BOUND
from tidemark.checks.evidence.histories.operations import (
    FOREVER,
    Bools,
    Collection,
    Ints,
    Reads,
    Runs,
    offsets,
    ranges,
)

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


NEVER = -FOREVER
"""Earlier than everything: the greatest value of none."""


class Latest:
    """Things in groups, each with a time and a value: of a group, those with a time below a given one."""

    def __init__(self, group: Ints, time: Ints, value: Ints) -> None:
        order = np.lexsort((time, group))
        self._group = group[order]
        self._times = np.unique(time)
        self._places = self._place(self._group, time[order])
        values, rank = np.unique(value[order], return_inverse=True)
        # The greatest so far of each group: a later group has greater numbers.
        best = np.maximum.accumulate(self._group * len(values) + rank)
        self._best = values[best - self._group * len(values)]

    def _place(self, group: Ints, time: Ints) -> Ints:
        """A number that orders by group and time; times between two known ones count as the later one."""
        place: Ints = group * (len(self._times) + 1) + np.searchsorted(self._times, time)
        return place

    def below(self, group: Ints, time: Ints) -> Ints:
        """Their greatest value; NEVER if there are none."""
        found = np.full(len(group), NEVER, dtype=np.int64)
        place = np.searchsorted(self._places, self._place(group, time)) - 1
        known = np.flatnonzero(place >= 0)
        known = known[self._group[place[known]] == group[known]]
        found[known] = self._best[place[known]]
        return found

    def count(self, group: Ints, time: Ints) -> Ints:
        """How many they are."""
        first = np.searchsorted(self._places, group * (len(self._times) + 1))
        found: Ints = np.searchsorted(self._places, self._place(group, time)) - first
        return found


class Side:
    """The writes of one sort, those that put rows or those that take them away: what a read has to know."""

    def __init__(self, collection: Collection, cells: Cells, which: Bools) -> None:
        self.writes = collection.writes
        self.write, self.cell = cells.write[which], cells.cell[which]
        self.start, self.end = self.writes.start[self.write], self.writes.end[self.write]
        self.begun = Latest(self.cell, self.start, self.end)
        """Below the end of a read: until when one that can be seen may take effect."""
        self.over = Latest(self.cell, self.end, self.start)
        """Below a moment: the start of the last one acknowledged before."""
        self._processes = len(collection.processes)

    @cached_property
    def _own(self) -> Latest:
        own = self.cell * self._processes + self.writes.process[self.write]
        return Latest(own, self.end, self.start)

    @cached_property
    def _named(self) -> Latest:
        ts = self.writes.ts[self.write]
        known = (ts > 0) & (self.end < FOREVER)
        return Latest(self.cell[known], ts[known] - 1, self.start[known])

    def due(self, level: str, cell: Ints, reads: Reads, read: Ints) -> Ints:
        """The start of the last write that the level promises to a read; NEVER if it promises none."""
        start = reads.start[read]
        match level:
            case "Strong":
                return self.over.below(cell, start)
            case "Bounded":
                return self.over.below(cell, start - BOUND)
            case "Session":
                return self._own.below(cell * self._processes + reads.process[read], start)
            case "Customized":
                found = self._named.below(cell, reads.guarantee[read])
                return np.where(found < reads.end[read], found, NEVER)
        return np.full(len(cell), NEVER, dtype=np.int64)


class Rows:
    """The writes of a collection, by what they do."""

    def __init__(self, collection: Collection, cells: Cells) -> None:
        self.cells = cells
        writes = collection.writes
        self._putting: Bools = writes.is_put[cells.write]
        self._upserting: Bools = writes.is_upsert[cells.write]
        self.puts = Side(collection, cells, self._putting)
        self.deletes = Side(collection, cells, ~self._putting)
        self.start, self.end = writes.start[cells.write], writes.end[cells.write]

    def must(self, cell: Ints, since: Ints, end: Ints) -> Bools:
        """Is a row there in every view that has all acknowledged before ``since``, at most what began before
        ``end``: no delete can have come after the last of these inserts and upserts.
        """
        there: Bools = self.puts.over.below(cell, since) > self.deletes.begun.below(cell, end)
        return there

    def most(self, cell: Ints, at: Ints) -> Ints:
        """How many rows a key has at most in the views at a moment: with all that was acknowledged before it,
        and any of what had begun. These are the inserts that can come after the last delete or upsert, and
        one more if that can be an upsert: one that was acknowledged, or the first of those that still run.
        """
        over, begun = self._inserts
        replaced, running = self._upserts
        inserts = begun.count(cell, at + 1)
        cleared = self._clearing.below(cell, at)
        settled = (
            inserts - over.count(cell, cleared) + (replaced.below(cell, at) >= np.maximum(cleared, NEVER + 1))
        )
        first = -running.below(cell, 1 - at)
        with_first = inserts - over.count(cell, np.maximum(cleared, first)) + 1
        most: Ints = np.maximum(settled, np.where(first <= at, with_first, 0))
        return most

    @cached_property
    def sole(self) -> Ints:
        """The only write that puts a row of a cell; -1 if there are several, or none."""
        found = np.full(len(self.cells), -1, dtype=np.int64)
        found[self.puts.cell] = self.puts.write
        found[np.bincount(self.puts.cell, minlength=len(found)) > 1] = -1
        return found

    @cached_property
    def _inserts(self) -> tuple[Latest, Latest]:
        """Plain inserts by their end, and by their start."""
        which = self._putting & ~self._upserting
        cell, start, end = self.cells.cell[which], self.start[which], self.end[which]
        return Latest(cell, end, end), Latest(cell, start, start)

    @cached_property
    def _clearing(self) -> Latest:
        """Deletes and upserts: the start of the last one acknowledged."""
        which = self._upserting | ~self._putting
        return Latest(self.cells.cell[which], self.end[which], self.start[which])

    @cached_property
    def _upserts(self) -> tuple[Latest, Latest]:
        """The end of the last one acknowledged; the first start of those that end at a time or later."""
        which = self._upserting
        cell, start, end = self.cells.cell[which], self.start[which], self.end[which]
        return Latest(cell, end, end), Latest(cell, -end, -start)
