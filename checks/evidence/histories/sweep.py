"""Every read of a collection against what had to be there, what may be there, and what cannot be.

A write is *due* for a read if the read's level promises it: acknowledged before the read began (Strong), by
the same process (Session), five seconds before (Bounded), at or below its guarantee (Customized).
A row must be there if an insert or upsert of it is due and no delete can have come after; it must not be
there if a delete is due that came after every insert and upsert, or if none of these had begun.

The reads of a level are judged many at a time: each pair of a read and a cell is an element of a few columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tidemark.checks.evidence.histories.claims import OF_LEVEL
from tidemark.checks.evidence.histories.operations import FOREVER, Bools, Collection, Ints
from tidemark.checks.evidence.histories.rows import NEVER, Rows, groups
from tidemark.checks.evidence.monitors.base import Answer, Place
from tidemark.checks.evidence.readers.client import LEVELS

_SHOWN = 5
"""Writes of a key that are shown, if there are more: the last ones."""

_WORDS = {
    "missing": "missing",
    "ghost": "there although deleted",
    "unwritten": "there although it was not written",
    "gone": "gone that were read before",
}
"""What is wrong, in words, in the order in which it is said."""

_LATE = "late"
"""A Strong read would have had to show it, or not to: allowed at the read's own level."""


class Wrong(NamedTuple):
    """What is wrong with a read: how many rows, and the first cell of them."""

    rows: int
    cell: int


@dataclass(frozen=True)
class Pairs:
    """Some reads of one level, and the cells that they asked for."""

    read: Ints
    """For each pair the number of the read."""
    cell: Ints
    there: Bools
    """Whether the read shows it."""


class Sweep:
    """The reads of one collection."""

    def __init__(self, collection: Collection, rows: Rows, answers: Callable[[str], Answer]) -> None:
        self.collection, self.rows, self.answers = collection, rows, answers
        cells = self.cells = rows.cells
        reads = collection.reads
        self.asked, self.seen = cells.spans(reads.keys), cells.spans(reads.seen)
        self.judged = np.flatnonzero(reads.end <= collection.whole_until)
        self.first_seen = np.full(len(cells), FOREVER, dtype=np.int64)
        """When the first read that saw a cell had ended."""
        self.seen_by = np.full(len(cells), -1, dtype=np.int64)
        self.wrong: dict[int, dict[str, Wrong]] = {}
        self.stamp = np.zeros(len(cells), dtype=np.int64)
        """The timestamp of a cell's rows, if one acknowledged write put them and nothing deletes them."""
        known = np.flatnonzero(rows.sole >= 0)
        self.stamp[known] = collection.writes.ts[rows.sole[known]] * (
            collection.writes.end[rows.sole[known]] < FOREVER
        )
        self.stamp[rows.deletes.cell] = 0
        self.latest, self.earliest = np.zeros(len(reads), dtype=np.int64), np.full(len(reads), FOREVER)
        """Of each read the latest timestamp that it shows, and the earliest that it does not show."""

    def run(self) -> None:
        """Judge all reads."""
        self._look_back()
        reads = self.collection.reads
        whole = self.asked.begin[1:] == self.asked.begin[:-1]
        sizes = np.where(whole, len(self.cells), self.asked.sizes())
        for level in range(len(LEVELS)):
            mine = self.judged[reads.level[self.judged] == level]
            mine = mine[sizes[mine] > 0]
            for group in groups(mine, sizes[mine]):
                self._judge(level, self._pairs(group, whole))
            if len(mine):
                self._count(level, len(mine))
        for number in sorted(self.wrong, key=lambda n: (int(reads.start[n]), n)):
            self._say(number, self.wrong[number])
        torn = np.flatnonzero(self.latest > self.earliest)
        if len(torn):
            shown, other = self.latest[torn[0]], self.earliest[torn[0]]
            self.answers("history.written").report(
                f"A read of {self.collection.name} shows what has timestamp {shown}, not what has {other}: "
                "it is of no one moment (allowed: shards answer by themselves).",
                times=len(torn),
            )

    def _look_back(self) -> None:
        """Which read saw a cell first. The latest are written down first, so that the first one stays."""
        ends = self.collection.reads.end[self.judged]
        latest_first = self.judged[np.lexsort((self.judged, ends))[::-1]]
        for group in groups(latest_first, self.seen.sizes()[latest_first]):
            owner, cell = self.seen.pairs(group)
            self.first_seen[cell] = self.collection.reads.end[group[owner]]
            self.seen_by[cell] = group[owner]

    def _pairs(self, group: Ints, whole: Bools) -> Pairs:
        """What these reads asked for, and whether it was there."""
        if len(group) == 1:
            (number,) = group
            every = [(0, len(self.cells))]
            spans = every if whole[number] else self.asked.of(number)
            cell = np.concatenate([np.arange(first, last) for first, last in spans])
            shown = np.zeros(len(self.cells) + 1, dtype=np.bool_)
            for first, last in self.seen.of(number):
                shown[first:last] = True
            return Pairs(np.full(len(cell), number), cell, shown[cell])
        count = len(self.cells)
        some = group[~whole[group]]
        owner, cell = self.asked.pairs(some)
        every_owner = np.repeat(group[whole[group]], count)
        read = np.concatenate((some[owner], every_owner))
        cell = np.concatenate((cell, np.tile(np.arange(count), len(group) - len(some))))
        owner, seen = self.seen.pairs(group)
        there = np.isin(read * count + cell, group[owner] * count + seen)
        return Pairs(read, cell, there)

    def _judge(self, level: int, pairs: Pairs) -> None:
        """The rules, column by column."""
        cell, read, reads = pairs.cell, pairs.read, self.collection.reads
        puts, deletes, name = self.rows.puts, self.rows.deletes, LEVELS[level]
        start, end = reads.start[read], reads.end[read]
        put_until, deleted_until = puts.begun.below(cell, end), deletes.begun.below(cell, end)
        written = put_until > NEVER
        absent, shown = ~pairs.there, pairs.there & written
        stamp = self.stamp[cell]
        np.maximum.at(self.latest, read[shown], stamp[shown])
        np.minimum.at(self.earliest, read[absent & (stamp > 0)], stamp[absent & (stamp > 0)])
        missing = absent & (puts.due(name, cell, reads, read) > deleted_until)
        ghost = shown & (deletes.due(name, cell, reads, read) > put_until)
        found = {"missing": missing, "ghost": ghost, "unwritten": pairs.there & ~written}
        if name == "Strong":
            found["gone"] = absent & (deleted_until == NEVER) & (self.first_seen[cell] < start)
        else:
            late = absent & (puts.over.below(cell, start) > deleted_until)
            late |= shown & (deletes.over.below(cell, start) > put_until)
            found[_LATE] = late & ~missing & ~ghost
        for what, wrong in found.items():
            self._note(what, read[wrong], cell[wrong])

    def _note(self, what: str, read: Ints, cell: Ints) -> None:
        """Keep of each read how many rows are wrong, and the first of them."""
        if not len(read):
            return
        numbers, first, of = np.unique(read, return_index=True, return_inverse=True)
        rows = np.bincount(of, weights=self.cells.width[cell].astype(np.float64)).astype(np.int64)
        for number, place, count in zip(numbers.tolist(), first.tolist(), rows.tolist(), strict=True):
            self.wrong.setdefault(number, {})[what] = Wrong(count, int(cell[place]))

    # ---- in words ----

    def _count(self, level: int, reads: int) -> None:
        claims = [OF_LEVEL.get(LEVELS[level]), "history.written"]
        if LEVELS[level] == "Strong":
            claims.append("history.kept")
        for claim in claims:
            if claim is not None:
                self.answers(claim).events += reads

    def _say(self, read: int, found: dict[str, Wrong]) -> None:
        level = LEVELS[self.collection.reads.level[read]]
        of_level = OF_LEVEL.get(level)
        claims = {
            "unwritten": "history.written",
            "gone": "history.kept",
            "missing": of_level,
            "ghost": of_level,
        }
        for what in _WORDS:
            claim = claims[what]
            if what in found and claim is not None:
                self._breach(self.answers(claim), read, level, what, found[what])
        if _LATE in found:
            self.answers(of_level or "history.written").report(
                f"A {level} read is behind what is acknowledged: allowed at this level; a Strong read "
                "would have to show it."
            )

    def _breach(self, answer: Answer, read: int, level: str, what: str, wrong: Wrong) -> None:
        collection, cells = self.collection, self.cells
        reads, cell = collection.reads, wrong.cell
        places = [self._write(write, read) for write in self._telling(cell, read)]
        if what == "gone":
            earlier = int(self.seen_by[cell])
            shown = f"{LEVELS[reads.level[earlier]]} read sees {cells.name(cell)}"
            places.append(Place(*collection.log.place(reads.row[earlier]), shown))
        process = collection.processes[reads.process[read]]
        answer.breach(
            f"{level} read: {wrong.rows} {'row is' if wrong.rows == 1 else 'rows are'} {_WORDS[what]}, for "
            f"example {cells.name(cell)}.",
            *places,
            Place(*collection.log.place(reads.row[read]), f"{level} read of {process}"),
            key=collection.name,
        )

    def _telling(self, cell: int, read: int) -> list[int]:
        """The last writes of a cell that a read can have seen; if there are none, the first ones after it."""
        start = self.collection.writes.start
        writes = sorted(self.cells.writes(cell), key=lambda one: (int(start[one]), one))
        begun = [one for one in writes if start[one] < self.collection.reads.end[read]]
        return begun[-_SHOWN:] or writes[:_SHOWN]

    def _write(self, write: int, read: int) -> Place:
        writes = self.collection.writes
        what = "upsert" if writes.is_upsert[write] else "insert" if writes.is_put[write] else "delete"
        place = self.collection.log.place(writes.row[write])
        if writes.end[write] >= FOREVER:
            return Place(*place, f"{what}, not acknowledged")
        lead = int(self.collection.reads.start[read] - writes.end[write]) / 1e6
        when = f"{lead:.0f} ms before the read began" if lead >= 0 else "after the read had begun"
        return Place(*place, f"{what} with timestamp {writes.ts[write]}, acknowledged {when}")
