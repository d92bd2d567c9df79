"""Every read of a collection against what had to be there, what may be there, and what cannot be.

A write is *due* for a read if the read's level promises it: acknowledged before the read began (Strong), by
the same process (Session), five seconds before (Bounded), at or below its guarantee (Customized).
A row must be there if an insert of it is due and no delete can have come after; it must not be there if a
delete is due that came after every insert, or if nobody had begun to insert it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tidemark.checks.evidence.histories.claims import BOUND, OF_LEVEL
from tidemark.checks.evidence.histories.keys import Bools, Cells
from tidemark.checks.evidence.histories.operations import FOREVER, Collection, Read, Write
from tidemark.checks.evidence.monitors.base import Answer, Place

_FEW = 12
"""Cells up to which plain Python is quicker than numpy."""


class Wrong(NamedTuple):
    """Cells of a read that are wrong, by what is wrong."""

    missing: list[int]
    ghost: list[int]
    unwritten: list[int]
    gone: list[int]
    """Seen by an earlier read."""
    late: list[int]
    """A Strong read would have had to show them, or not to: allowed at the read's own level."""


class Sweep:
    """The reads of one collection in the order of their starts."""

    def __init__(self, collection: Collection, cells: Cells, answers: Callable[[str], Answer]) -> None:
        self.collection, self.cells, self.answers = collection, cells, answers
        self.before = np.zeros(len(cells), dtype=np.bool_)
        """Cells that a read saw which has ended before the present one starts."""
        self.saw: dict[int, Read] = {}
        self.ended: list[tuple[int, int]] = []
        self.asked = cells.spans([read.keys for read in collection.reads])
        self.seen = cells.spans([read.seen for read in collection.reads])
        self.order = sorted(range(len(collection.reads)), key=lambda n: collection.reads[n].start)

    def run(self) -> None:
        """Judge all reads."""
        reads = self.collection.reads
        for number in self.order:
            read = reads[number]
            while self.ended and self.ended[0][0] < read.start:
                self._remember(heapq.heappop(self.ended)[1])
            if read.end > self.collection.whole_until:
                continue
            self._judge(read, self.asked[number], self.seen[number])
            heapq.heappush(self.ended, (read.end, number))

    def _remember(self, number: int) -> None:
        read = self.collection.reads[number]
        for first, last in self.seen[number]:
            if last - first == 1:
                if not self.before[first]:
                    self.before[first] = True
                    self.saw[first] = read
                continue
            fresh = np.flatnonzero(~self.before[first:last])
            if len(fresh):
                for cell in fresh[:64]:  # whom to name if it is gone later; more names are of no use
                    self.saw.setdefault(int(cell) + first, read)
                self.before[first:last] = True

    def _judge(self, read: Read, asked: list[tuple[int, int]], seen: list[tuple[int, int]]) -> None:
        found = Wrong([], [], [], [], [])
        for first, last in asked if read.keys else [(0, len(self.cells))]:
            if last - first <= _FEW:
                self._few(read, first, last, seen, found)
            else:
                self._many(read, first, last, seen, found)
        self._say(read, found)

    # ---- few cells ----

    def _few(self, read: Read, first: int, last: int, seen: list[tuple[int, int]], found: Wrong) -> None:
        for cell in range(first, last):
            there = any(low <= cell < high for low, high in seen)
            self._cell(read, cell, there=there, found=found)

    def _cell(self, read: Read, cell: int, *, there: bool, found: Wrong) -> None:
        writes = self.cells.odd.get(cell)
        if writes is None:
            by, out = int(self.cells.insert_by[cell]), int(self.cells.delete_by[cell])
            writes = [self.collection.writes[n] for n in (by, out) if n >= 0]
        inserts = [one for one in writes if one.is_insert and one.start < read.end]
        deletes = [one for one in writes if not one.is_insert and one.start < read.end]
        if not there:
            if any(_due(one, read) and not _later(one, deletes) for one in inserts):
                found.missing.append(cell)
            elif any(one.end < read.start and not _later(one, deletes) for one in inserts):
                found.late.append(cell)
            if self.before[cell] and read.level == "Strong" and not deletes:
                found.gone.append(cell)
        elif not inserts:
            found.unwritten.append(cell)
        elif any(_due(one, read) and not _later_or_open(one, inserts) for one in deletes):
            found.ghost.append(cell)
        elif any(one.end < read.start and not _later_or_open(one, inserts) for one in deletes):
            found.late.append(cell)

    # ---- many cells ----

    def _many(self, read: Read, first: int, last: int, seen: list[tuple[int, int]], found: Wrong) -> None:
        cells, place = self.cells, slice(first, last)
        there = np.zeros(last - first, dtype=bool)
        for low, high in seen:
            if high > first and low < last:
                there[max(low - first, 0) : high - first] = True
        simple = ~cells.is_odd[place]
        for cell in np.flatnonzero(cells.is_odd[place]):
            self._cell(read, int(cell) + first, there=bool(there[cell]), found=found)
        begun = cells.insert_start[place] < read.end
        kept = cells.delete_start[place] >= read.end
        absent = simple & ~there
        acknowledged = cells.insert_end[place] < read.start
        deleted = (cells.delete_end[place] < read.start) & (cells.insert_end[place] < FOREVER)
        due_in, due_out = self._due(read, place, is_insert=True), self._due(read, place, is_insert=False)
        missing = absent & begun & kept & due_in
        shown = simple & there
        ghost = shown & begun & due_out & (cells.insert_end[place] < FOREVER)
        _extend(found.missing, missing, first)
        _extend(found.ghost, ghost, first)
        _extend(found.unwritten, shown & ~begun, first)
        if read.level == "Strong":
            _extend(found.gone, absent & self.before[place] & kept, first)
        else:
            late = (absent & acknowledged & kept & ~missing) | (shown & begun & deleted & ~ghost)
            _extend(found.late, late, first)

    def _due(self, read: Read, place: slice, *, is_insert: bool) -> Bools:
        cells = self.cells
        end = (cells.insert_end if is_insert else cells.delete_end)[place]
        if read.level in ("Strong", "Bounded"):
            early: Bools = end < read.start - (BOUND if read.level == "Bounded" else 0)
            return early
        if read.level == "Session":
            process = (cells.insert_process if is_insert else cells.delete_process)[place]
            mine: Bools = process == cells.processes.get(read.process, -2)
            return mine & (end < read.start)
        if read.level == "Customized":
            ts = (cells.insert_ts if is_insert else cells.delete_ts)[place]
            covered: Bools = (ts > 0) & (ts <= read.guarantee)
            return covered & (end < FOREVER)
        nothing: Bools = np.zeros(len(end), dtype=np.bool_)
        return nothing

    # ---- in words ----

    def _say(self, read: Read, found: Wrong) -> None:
        level = OF_LEVEL.get(read.level)
        if level is not None:
            answer = self.answers(level)
            answer.events += 1
            if found.missing:
                self._breach(answer, read, found.missing, "missing")
            if found.ghost:
                self._breach(answer, read, found.ghost, "there although deleted")
        written = self.answers("history.written")
        written.events += 1
        if found.unwritten:
            self._breach(written, read, found.unwritten, "there although nobody had written")
        if read.level == "Strong":
            kept = self.answers("history.kept")
            kept.events += 1
            if found.gone:
                self._breach(kept, read, found.gone, "gone that were read before")
        if found.late:
            (self.answers(level) if level else written).report(
                f"A {read.level} read is behind what is acknowledged: allowed at this level; a Strong read "
                "would have to show it."
            )

    def _breach(self, answer: Answer, read: Read, wrong: list[int], what: str) -> None:
        keys = int(self.cells.width[wrong].sum())
        cell = wrong[0]
        places = [self._write(write, read) for write in self._writes(cell)]
        if what.startswith("gone") and cell in self.saw:
            earlier = self.saw[cell]
            places.append(
                Place(earlier.source, earlier.line, f"{earlier.level} read sees {self.cells.name(cell)}")
            )
        answer.breach(
            f"{read.level} read: {keys} {'row is' if keys == 1 else 'rows are'} {what}, for example "
            f"{self.cells.name(cell)}.",
            *places,
            Place(read.source, read.line, f"{read.level} read of {read.process}"),
            key=self.collection.name,
        )

    def _writes(self, cell: int) -> list[Write]:
        if cell in self.cells.odd:
            return self.cells.odd[cell]
        numbers = (int(self.cells.insert_by[cell]), int(self.cells.delete_by[cell]))
        return [self.collection.writes[one] for one in numbers if one >= 0]

    def _write(self, write: Write, read: Read) -> Place:
        what = "insert" if write.is_insert else "delete"
        if write.end >= FOREVER:
            return Place(write.source, write.line, f"{what}, not acknowledged")
        lead = (read.start - write.end) / 1e6
        when = f"{lead:.0f} ms before the read began" if lead >= 0 else "after the read had begun"
        return Place(write.source, write.line, f"{what} with timestamp {write.ts}, acknowledged {when}")


def _extend(found: list[int], wrong: Bools, first: int) -> None:
    places = np.flatnonzero(wrong)
    if len(places):
        found.extend((places + first).tolist())


def _due(write: Write, read: Read) -> bool:
    if write.end >= FOREVER:
        return False
    if read.level == "Strong":
        return write.end < read.start
    if read.level == "Bounded":
        return write.end < read.start - BOUND
    if read.level == "Session":
        return write.end < read.start and write.process == read.process
    return read.level == "Customized" and 0 < write.ts <= read.guarantee


def _later(insert: Write, deletes: list[Write]) -> bool:
    """Can some delete have come after the insert?"""
    return any(not one.end < insert.start for one in deletes)


def _later_or_open(delete: Write, inserts: list[Write]) -> bool:
    """Can some insert have come after the delete?"""
    return any(not one.end < delete.start for one in inserts)
