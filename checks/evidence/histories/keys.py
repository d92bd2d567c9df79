"""The keys of a collection cut into runs that every write treats alike, and what each write did to a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidemark.checks.evidence.histories.operations import (
    FOREVER,
    Bools,
    Collection,
    Ints,
    Runs,
    Writes,
    ranges,
)

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

    def sizes(self) -> Ints:
        """How many cells each operation has."""
        sums = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.width)))
        return sums[self.begin[1:]] - sums[self.begin[:-1]]

    def pairs(self, which: Ints) -> tuple[Ints, Ints]:
        """For some operations each one's place in ``which`` with each of its cells."""
        counts = self.begin[which + 1] - self.begin[which]
        runs = ranges(self.begin[which], counts)
        width = self.width[runs]
        owner = np.repeat(np.repeat(np.arange(len(which)), counts), width)
        return owner, ranges(self.first[runs], width)


@dataclass
class Cells:
    """Runs of keys by number, in order. Most have one insert and at most one delete after it: the columns.

    The others (written twice, deleted and written again) stand in ``odd`` with all their writes.
    """

    edges: Ints
    """Where each run begins; the last one is the end of the last run."""
    width: Ints
    insert_start: Ints
    """FOREVER where nothing inserts."""
    insert_end: Ints
    """When it was acknowledged; FOREVER if never."""
    insert_ts: Ints
    insert_by: Ints
    """Number of the write; -1 if there is none."""
    insert_process: Ints
    delete_start: Ints
    delete_end: Ints
    delete_ts: Ints
    delete_by: Ints
    delete_process: Ints
    is_odd: Bools
    odd: dict[int, list[int]]
    """Cell -> numbers of its writes."""

    def __len__(self) -> int:
        return len(self.width)

    def spans(self, runs: Runs) -> Spans:
        """The cells of the runs of all operations."""
        first = np.searchsorted(self.edges, runs.low)
        last = np.searchsorted(self.edges, _ends(runs))
        return Spans(first.astype(np.int64), last.astype(np.int64), runs.first)

    def writes(self, cell: int) -> list[int]:
        """Numbers of the writes of a cell."""
        if cell in self.odd:
            return self.odd[cell]
        return [one for one in (int(self.insert_by[cell]), int(self.delete_by[cell])) if one >= 0]

    def name(self, cell: int) -> str:
        """The keys of a cell."""
        low, high = int(self.edges[cell]), int(self.edges[cell + 1]) - 1
        return f"key {low}" if low == high else f"keys {low} to {high}"


def _ends(runs: Runs) -> Ints:
    """The places after inclusive runs."""
    ends: Ints = np.minimum(runs.high, _LAST_KEY) + 1
    return ends


def cells(collection: Collection) -> Cells:
    """Cut the keys at every place where a run of some operation begins or ends."""
    reads, writes = collection.reads, collection.writes
    many = (writes.keys, reads.keys, reads.seen)
    edges = np.unique(np.concatenate([part for runs in many for part in (runs.low, _ends(runs))]))
    count = max(0, len(edges) - 1)

    def column(value: int) -> Ints:
        return np.full(count, value, dtype=np.int64)

    made = Cells(
        edges=edges,
        width=np.diff(edges) if count else column(0),
        insert_start=column(FOREVER),
        insert_end=column(FOREVER),
        insert_ts=column(0),
        insert_by=column(-1),
        insert_process=column(-1),
        delete_start=column(FOREVER),
        delete_end=column(FOREVER),
        delete_ts=column(0),
        delete_by=column(-1),
        delete_process=column(-1),
        is_odd=np.zeros(count, dtype=np.bool_),
        odd={},
    )
    by, touched = made.spans(writes.keys).pairs(np.arange(len(writes.start)))
    _put(made, writes, by, touched)
    _find_odd(made, writes, by, touched)
    return made


def _put(made: Cells, writes: Writes, by: Ints, touched: Ints) -> None:
    """Fill the columns; where several writes of a sort touch a cell, with the first."""
    inserts = writes.is_insert[by]
    for chosen, columns in (
        (inserts, (made.insert_by, made.insert_start, made.insert_end, made.insert_ts, made.insert_process)),
        (~inserts, (made.delete_by, made.delete_start, made.delete_end, made.delete_ts, made.delete_process)),
    ):
        cell, write = touched[chosen][::-1], by[chosen][::-1]
        values = (write, writes.start[write], writes.end[write], writes.ts[write], writes.process[write])
        for column, value in zip(columns, values, strict=True):
            column[cell] = value


def _find_odd(made: Cells, writes: Writes, by: Ints, touched: Ints) -> None:
    """Cells with two inserts or two deletes, or a delete that begins before its insert was acknowledged."""
    inserts = writes.is_insert[by]
    both = (made.insert_by >= 0) & (made.delete_by >= 0)
    odd = both & (made.delete_start <= made.insert_end)
    for chosen in (inserts, ~inserts):
        odd |= np.bincount(touched[chosen], minlength=len(made)) > 1
    made.is_odd = odd
    theirs = np.flatnonzero(odd[touched])
    theirs = theirs[np.lexsort((by[theirs], touched[theirs]))]
    of, begins = np.unique(touched[theirs], return_index=True)
    parts = np.split(by[theirs], begins[1:])
    made.odd = {cell: part.tolist() for cell, part in zip(of.tolist(), parts, strict=True)} if len(of) else {}
