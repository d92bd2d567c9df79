"""The answers about all collections of a history."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from tidemark.checks.evidence.histories.claims import OF_LEVEL
from tidemark.checks.evidence.histories.counts import Bounds, judge_counts, judge_repeats
from tidemark.checks.evidence.histories.keys import cells
from tidemark.checks.evidence.histories.operations import FOREVER, Collection, collections
from tidemark.checks.evidence.histories.rows import Rows
from tidemark.checks.evidence.histories.sweep import Sweep
from tidemark.checks.evidence.histories.torn import torn_batches
from tidemark.checks.evidence.monitors.base import Answer, Place, shown
from tidemark.checks.evidence.readers.client import LEVELS

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
