"""The answers about all collections of a history.

Counts of all rows, against the least and the greatest number that can be right.

How many rows there are at a moment is a sum over cells that changes where a write begins or ends, so that all
counts together cost a few binary searches. Cells with a write that begins while the count runs are looked at
one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import pyarrow as pa

from tidemark.checks.evidence.histories.claims import BOUND, OF_LEVEL
from tidemark.checks.evidence.histories.operations import (
    FOREVER,
    Bools,
    Collection,
    Ints,
    collections,
    offsets,
    ranges,
)
from tidemark.checks.evidence.histories.rows import Latest, Rows, cells, groups
from tidemark.checks.evidence.histories.sweep import Sweep
from tidemark.checks.evidence.monitors.base import Answer, Place, shown
from tidemark.checks.evidence.readers.client import LEVELS

_LEAD = np.array([{"Strong": 0, "Bounded": BOUND}.get(level, FOREVER) for level in LEVELS])
"""How far before its start a count has to know all, by level."""


class _Sums:
    """The sum over all keys of a number that changes, cell by cell, at given times."""

    def __init__(self, rows: Rows, cell: Ints, time: Ints, number: Ints) -> None:
        order = np.lexsort((time, cell))
        cell, time, number = cell[order], time[order], number[order]
        before = np.concatenate((np.zeros(min(1, len(cell)), dtype=np.int64), number[:-1]))
        before[np.diff(cell, prepend=-1) > 0] = 0
        by_time = np.argsort(time, kind="stable")
        self.times = time[by_time]
        changes = ((number - before) * rows.cells.width[cell])[by_time]
        self.sums = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(changes)))

    def at(self, times: Ints) -> Ints:
        """With all changes up to these times, and those at them."""
        found: Ints = self.sums[np.searchsorted(self.times, times, side="right")]
        return found


class Bounds:
    """How many rows views of a collection can have."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._by_start = np.argsort(rows.start, kind="stable")
        self._starts = rows.start[self._by_start]
        self._cells = rows.cells.cell[self._by_start]

    @cached_property
    def _changes(self) -> tuple[Ints, Ints]:
        """Cells and times at which the greatest number of rows changes: at the start of a write, and just
        after its end.
        """
        rows, over = self.rows, self.rows.end < FOREVER
        cell = rows.cells.cell
        return np.concatenate((cell, cell[over])), np.concatenate((rows.start, rows.end[over] + 1))

    @cached_property
    def _most_begun(self) -> Ints:
        """The greatest number of rows when a write begins, in the order of the starts."""
        return self.rows.most(self._cells, self._starts)

    @cached_property
    def _least(self) -> _Sums:
        cell, time = self._changes
        time = np.concatenate((time, self.rows.start + 1))
        cell = np.concatenate((cell, self.rows.cells.cell))
        return _Sums(self.rows, cell, time, self.rows.must(cell, time, time).astype(np.int64))

    @cached_property
    def _most(self) -> _Sums:
        cell, time = self._changes
        return _Sums(self.rows, cell, time, self.rows.most(cell, time))

    @cached_property
    def _most_ever(self) -> _Sums:
        cell, time = self._changes
        ever = Latest(cell, time, self.rows.most(cell, time)).below(cell, time + 1)
        return _Sums(self.rows, cell, time, ever)

    def of(self, since: Ints, end: Ints) -> tuple[Ints, Ints]:
        """The least and the greatest number of rows in views that have what was acknowledged before ``since``
        (nothing, where that is no time at all) and at most what began before ``end``.
        """
        timely = since > -(FOREVER // 2)
        low, high = np.zeros(len(since), dtype=np.int64), self._most_ever.at(end - 1)
        low[timely], high[timely] = self._least.at(since[timely]), self._most.at(since[timely])
        first, last = np.searchsorted(self._starts, since), np.searchsorted(self._starts, end)
        which = np.flatnonzero(timely & (last > first))
        for group in groups(which, (last - first)[which]):
            owner = np.repeat(group, (last - first)[group])
            event = ranges(first[group], (last - first)[group])
            of, fewer, more = self._between(owner, event, since, end)
            np.subtract.at(low, of, fewer)
            np.add.at(high, of, more)
        return low, high

    def _between(self, owner: Ints, event: Ints, since: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
        """What writes that begin between ``since`` and ``end`` change for their count ``owner``: the count
        again, by how many rows the least number falls, and by how many the greatest rises.
        """
        rows, count = self.rows, len(self.rows.cells)
        pair, place = np.unique(owner * count + self._cells[event], return_inverse=True)
        of, cell = pair // count, pair % count
        width = rows.cells.width[cell]
        settled = rows.most(cell, since[of])
        most = settled.copy()
        np.maximum.at(most, place, self._most_begun[event])
        gone = rows.must(cell, since[of], since[of]) & ~rows.must(cell, since[of], end[of])
        return of, gone * width, (most - settled) * width

    def shown(self, cell: Ints, since: int, end: int) -> int:
        """How many rows a read can answer of cells that it shows."""
        rows = self.rows
        most = np.ones(len(rows.cells), dtype=np.int64)
        most[cell] = np.maximum(1, rows.most(cell, np.full(len(cell), since)))
        event = slice(*np.searchsorted(self._starts, [since, end]))
        np.maximum.at(most, self._cells[event], self._most_begun[event])
        return int((most[cell] * rows.cells.width[cell]).sum())


def judge_counts(collection: Collection, bounds: Bounds, answer: Answer) -> None:
    """Compare each count with its bounds.

    Strong: rows acknowledged before it began must count, unless a delete had begun before it ended; rows that
    nothing had begun to insert before it ended, or whose delete or upsert was acknowledged before it began,
    cannot. Bounded: the same five seconds earlier. Below that only the upper bound is left. A key that was
    inserted several times counts at least once, at most as often as it was inserted.
    """
    counts = collection.counts
    low, high = bounds.of(counts.start - _LEAD[counts.level], counts.end)
    judged = counts.end <= collection.whole_until
    answer.events += int(judged.sum())
    for n in np.flatnonzero(judged & ((counts.total < low) | (counts.total > high))).tolist():
        total = int(counts.total[n])
        answer.breach(
            f"A {LEVELS[counts.level[n]]} count says {total}; it must be between {low[n]} and {high[n]}.",
            Place(*collection.log.place(counts.row[n]), f"count {total}"),
            key=collection.name,
        )


def judge_repeats(collection: Collection, bounds: Bounds, answers: Callable[[str], Answer]) -> None:
    """Judge the queries that answer more rows than they show keys: some key has two rows in them."""
    reads, cells = collection.reads, bounds.rows.cells
    seen, below = cells.spans(reads.seen), offsets(cells.width)
    named = seen.sums(below[seen.last] - below[seen.first])
    owner = np.repeat(np.arange(len(reads)), np.diff(seen.begin))
    tangled = np.zeros(len(reads), dtype=np.bool_)
    tangled[owner[1:][(owner[1:] == owner[:-1]) & (seen.first[1:] < seen.last[:-1])]] = True
    several = ((reads.total > named) | tangled) & (reads.end <= collection.whole_until)
    for read in np.flatnonzero(several).tolist():
        _, cell = seen.pairs(np.array([read]))
        cell = np.unique(cell)
        keys, rows = int(cells.width[cell].sum()), int(max(reads.total[read], named[read]))
        if rows <= keys:
            continue
        start, level = int(reads.start[read]), int(reads.level[read])
        most = bounds.shown(cell, start - int(_LEAD[level]), int(reads.end[read]))
        answers("history.count").events += 1
        if rows > most:
            answers("history.count").breach(
                f"{LEVELS[level]} read: {rows} rows of {keys} keys; at most {most} can be right.",
                Place(*collection.log.place(reads.row[read]), f"{rows} rows"),
                key=collection.name,
            )


_SENTENCE = "A read sees a part of an insert or upsert (allowed: a batch is not atomic across shards)."


def torn_batches(collection: Collection, rows: Rows, answer: Callable[[], Answer]) -> None:
    """Report reads that saw a part of an insert or upsert, of whose rest nothing was deleted.

    A cell that several of them put says nothing: a read may show it by another one.
    """
    cells = rows.cells
    if not len(cells):
        return
    by = rows.sole
    leaves = np.full(len(cells), FOREVER, dtype=np.int64)
    np.minimum.at(leaves, rows.deletes.cell, rows.deletes.start)
    # An edge between two cells of one batch: some operation told the one from the other.
    inner: Bools = np.concatenate(([False], (by[1:] == by[:-1]) & (by[1:] >= 0), [False]))
    if not inner.any():
        return
    reads = collection.reads
    seen, asked = cells.spans(reads.seen), cells.spans(reads.keys)
    owner = np.repeat(np.arange(len(reads)), np.diff(seen.begin))
    torn: set[int] = set()
    for edge, step in ((seen.first, -1), (seen.last, 0)):
        cell = edge + step
        found = np.flatnonzero(inner[edge] & (reads.end[owner] <= collection.whole_until))
        found = found[leaves[cell[found]] >= reads.end[owner[found]]]
        for place, read in zip(cell[found].tolist(), owner[found].tolist(), strict=True):
            wanted = asked.of(read)
            if read not in torn and (not wanted or any(low <= place < high for low, high in wanted)):
                torn.add(read)
    if torn:
        answer().report(_SENTENCE, times=len(torn))


MONITOR = "client-history"


def judge_history(events: pa.Table) -> list[Answer]:
    """The answers about operations of clients, in order of the claims' names.

    ``events`` has the columns ``operations.COLUMNS``, and only rows of ``operations.KINDS``.
    """
    found: dict[str, Answer] = {}

    def answer(claim: str) -> Answer:
        return found.setdefault(claim, Answer(MONITOR, claim))

    for one in collections(events):
        rows = Rows(one, cells(one))
        bounds = Bounds(rows)
        Sweep(one, rows, answer).run()
        if len(one.counts.start):
            judge_counts(one, bounds, answer("history.count"))
        judge_repeats(one, bounds, answer)
        torn_batches(one, rows, lambda: answer("history.written"))
        _order(one, answer)
        _unjudged(one, answer)
    return [found[claim] for claim in sorted(found)]


def _order(collection: Collection, answer: Callable[[str], Answer]) -> None:
    """A write that began after another was acknowledged has a greater timestamp: the oracle's promise."""
    writes = collection.writes
    named = np.flatnonzero(writes.ts > 0)
    if len(named) < 2:
        return
    ended = named[writes.end[named] < FOREVER]
    ended = ended[np.argsort(writes.end[ended], kind="stable")]
    if not len(ended):
        return
    ts = writes.ts[ended]
    best = np.maximum.accumulate(ts)
    rises = np.concatenate(([True], ts[1:] > best[:-1]))
    greatest = ended[np.maximum.accumulate(np.where(rises, np.arange(len(ended)), 0))]
    later = named[np.argsort(writes.start[named], kind="stable")]
    before = np.searchsorted(writes.end[ended], writes.start[later])
    later, before = later[before > 0], before[before > 0]
    if not len(later):
        return
    judged = answer("history.ordered")
    judged.events += len(later)
    first = greatest[before - 1]
    for place in np.flatnonzero(writes.ts[later] <= writes.ts[first]).tolist():
        one, other = int(first[place]), int(later[place])
        judged.breach(
            "A write that began after another was acknowledged has a timestamp that is not greater.",
            Place(*collection.log.place(writes.row[one]), f"acknowledged with {shown(int(writes.ts[one]))}"),
            Place(
                *collection.log.place(writes.row[other]),
                f"begun later, answered with {shown(int(writes.ts[other]))}",
            ),
            key=collection.name,
        )


def _unjudged(collection: Collection, answer: Callable[[str], Answer]) -> None:
    """Say what was not judged, since operations are missing, or do not say which rows they changed."""
    if collection.searches:
        answer("history.written").report(
            "A search, or a read of a part (expression, limit, partition), is not judged.",
            times=collection.searches,
        )
    reads = collection.reads
    for doubt in collection.doubts:
        later = reads.level[reads.end > doubt.since]
        counts = int((collection.counts.end > doubt.since).sum())
        for level in np.unique(later).tolist():
            claims = [OF_LEVEL.get(LEVELS[level]), "history.kept" if LEVELS[level] == "Strong" else None]
            for claim in filter(None, claims):
                answer(claim).doubt(doubt.reason, int((later == level).sum()))
        if len(later):
            answer("history.written").doubt(doubt.reason, len(later))
        if counts:
            answer("history.count").doubt(doubt.reason, counts)
        if doubt.of_anything and not len(later) and not counts:
            answer("history.written").doubt(doubt.reason)
