"""The answers about all collections of a history.

Counts of all rows, against the least and the greatest number that can be right.

How many rows there are at a moment is a sum over cells that changes where a write begins or ends, so that all
counts together cost a few binary searches. Cells with a write that begins while the count runs are looked at
one by one.

Every read of a collection against what had to be there, what may be there, and what cannot be.

A write is *due* for a read if the read's level promises it: acknowledged before the read began (Strong), by
the same process (Session), five seconds before (Bounded), at or below its guarantee (Customized).
A row must be there if an insert or upsert of it is due and no delete can have come after; it must not be
there if a delete is due that came after every insert and upsert, or if none of these had begun.

The reads of a level are judged many at a time: each pair of a read and a cell is an element of a few columns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

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
from tidemark.checks.evidence.histories.rows import NEVER, Latest, Rows, cells, groups
from tidemark.checks.evidence.monitors.base import Answer, Place, shown
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
        self._moments()

    def _moments(self) -> None:
        """Each read of one shard is of one moment; of several shards each has a moment of its own."""
        collection, torn = self.collection, np.flatnonzero(self.latest > self.earliest)
        if collection.one_shard:
            answer = self.answers("history.moment")
            answer.events += len(self.judged)
            for read in torn.tolist():
                level = LEVELS[collection.reads.level[read]]
                place = Place(*collection.log.place(collection.reads.row[read]), f"{level} read")
                answer.breach(f"{self._torn(read)}, which has one shard.", place, key=collection.name)
        elif len(torn):
            told = f"{self._torn(torn[0])} (allowed: shards answer by themselves)."
            self.answers("history.written").report(told, times=len(torn))

    def _torn(self, read: int) -> str:
        shown, other = self.latest[read], self.earliest[read]
        return (
            f"A read shows what has timestamp {shown}, not what has {other}: it is of no one moment of "
            f"{self.collection.name}"
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
