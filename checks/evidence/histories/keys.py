"""The keys of a collection cut into runs that every write treats alike, and what each write did to a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidemark.checks.evidence.histories.operations import FOREVER, Collection, Runs, Write

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


_LAST_KEY = np.iinfo(np.int64).max - 1
"""The place after it is a number too; the greatest key of all is taken for this one."""


def _ends(runs: Ints) -> Ints:
    """The places after inclusive runs."""
    ends: Ints = np.minimum(runs[:, 1], _LAST_KEY) + 1
    return ends


@dataclass
class Cells:
    """Runs of keys by number, in order. Most have one insert and at most one delete after it: the columns.

    The others (written twice, deleted and written again) stand in ``odd`` with all their writes.
    """

    edges: Ints
    """Where each run begins; the last one is the end of the last run."""
    width: Ints
    insert_start: Ints
    """FOREVER where nobody inserts."""
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
    odd: dict[int, list[Write]]
    processes: dict[str, int]

    def __len__(self) -> int:
        return len(self.width)

    def span(self, low: int, high: int) -> tuple[int, int]:
        """Numbers of the cells of an inclusive run of keys: first, and one after the last."""
        first, last = np.searchsorted(self.edges, (low, min(high, _LAST_KEY) + 1))
        return int(first), int(last)

    def spans(self, many: list[Runs]) -> list[list[tuple[int, int]]]:
        """Cells of the runs of many operations: one search for all of them."""
        flat = [run for runs in many for run in runs]
        if not flat:
            return [[] for _ in many]
        table = np.array(flat, dtype=np.int64)
        firsts = np.searchsorted(self.edges, table[:, 0]).tolist()
        lasts = np.searchsorted(self.edges, _ends(table)).tolist()
        pairs = zip(firsts, lasts, strict=True)
        return [[next(pairs) for _ in runs] for runs in many]

    def name(self, cell: int) -> str:
        """The keys of a cell."""
        low, high = int(self.edges[cell]), int(self.edges[cell + 1]) - 1
        return f"key {low}" if low == high else f"keys {low} to {high}"


def cells(collection: Collection) -> Cells:
    """Cut the keys at every place where a run of some operation begins or ends."""
    edges = _edges(collection)
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
        processes={},
    )
    spans = made.spans([write.keys for write in collection.writes])
    for number, of_write in enumerate(spans):
        for span in of_write:
            _put(made, collection, number, span)
    _check_order(made, collection)
    return made


def _edges(collection: Collection) -> Ints:
    parts: list[Runs] = [write.keys for write in collection.writes]
    parts += [runs for read in collection.reads for runs in (read.keys, read.seen) if runs]
    flat = [run for runs in parts for run in runs]
    if not flat:
        return np.zeros(0, dtype=np.int64)
    table = np.array(flat, dtype=np.int64)
    return np.unique(np.concatenate((table[:, 0], _ends(table))))


def _put(made: Cells, collection: Collection, number: int, span: tuple[int, int]) -> None:
    write = collection.writes[number]
    process = made.processes.setdefault(write.process, len(made.processes))
    first, last = span
    if write.is_insert:
        columns = (made.insert_start, made.insert_end, made.insert_ts, made.insert_by, made.insert_process)
    else:
        columns = (made.delete_start, made.delete_end, made.delete_ts, made.delete_by, made.delete_process)
    values = (write.start, write.end, write.ts, number, process)
    by = columns[3]
    if last - first == 1:  # most writes have keys of their own
        if by[first] >= 0 or made.is_odd[first]:
            _make_odd(made, collection, first, write)
            return
        for column, value in zip(columns, values, strict=True):
            column[first] = value
        return
    for cell in np.flatnonzero((by[first:last] >= 0) | made.is_odd[first:last]):
        _make_odd(made, collection, int(cell) + first, write)
    fresh = by[first:last] < 0
    for column, value in zip(columns, values, strict=True):
        column[first:last][fresh] = value


def _make_odd(made: Cells, collection: Collection, cell: int, write: Write | None) -> None:
    if cell not in made.odd:
        made.is_odd[cell] = True
        numbers = (int(made.insert_by[cell]), int(made.delete_by[cell]))
        made.odd[cell] = [collection.writes[one] for one in numbers if one >= 0]
    if write is not None:
        made.odd[cell].append(write)


def _check_order(made: Cells, collection: Collection) -> None:
    """A delete that does not begin after its insert was acknowledged needs a closer look."""
    both = (made.insert_by >= 0) & (made.delete_by >= 0)
    overlap = both & (made.delete_start <= made.insert_end)
    for cell in np.flatnonzero(overlap):
        _make_odd(made, collection, int(cell), None)
