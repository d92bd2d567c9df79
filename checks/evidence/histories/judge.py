"""The answers about all collections of a history."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from tidemark.checks.evidence.histories.counts import judge_counts
from tidemark.checks.evidence.histories.keys import cells
from tidemark.checks.evidence.histories.operations import FOREVER, Collection, collections
from tidemark.checks.evidence.histories.sweep import Sweep
from tidemark.checks.evidence.histories.torn import torn_batches
from tidemark.checks.evidence.monitors.base import Answer, Place, shown

MONITOR = "client-history"


def judge_history(events: pa.Table) -> list[Answer]:
    """The answers about operations of clients, in order of the claims' names.

    ``events`` has the columns ``operations.COLUMNS``, and only rows of ``operations.KINDS``.
    """
    found: dict[str, Answer] = {}

    def answer(claim: str) -> Answer:
        return found.setdefault(claim, Answer(MONITOR, claim))

    for one in collections(events):
        cut = cells(one)
        Sweep(one, cut, answer).run()
        if len(one.counts.start):
            judge_counts(one, cut, answer("history.count"))
        torn_batches(one, cut, lambda: answer("history.written"))
        _order(one, answer)
        _missing(one, answer)
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


def _missing(collection: Collection, answer: Callable[[str], Answer]) -> None:
    """What depends on operations that are not in the history was not judged."""
    if not collection.missing:
        return
    reads = int((collection.reads.end > collection.whole_until).sum())
    counts = int((collection.counts.end > collection.whole_until).sum())
    what = f"{collection.missing} operations of clients are missing; from there on nothing is judged"
    if reads:
        for claim in ("history.strong", "history.written", "history.kept"):
            answer(claim).doubt(what, reads)
    if counts:
        answer("history.count").doubt(what, counts)
    if not reads and not counts:
        answer("history.written").doubt(what)
