"""Counts of all rows, against the least and the greatest number that can be right.

The numbers of rows whose insert or delete began, or was acknowledged, before a moment are sums over sorted
times, so that a count costs a few binary searches.
"""

from __future__ import annotations

import numpy as np

from tidemark.checks.evidence.histories.claims import BOUND
from tidemark.checks.evidence.histories.keys import Bools, Cells, Ints
from tidemark.checks.evidence.histories.operations import FOREVER, Collection
from tidemark.checks.evidence.monitors.base import Answer, Place


class _Sums:
    """How many rows have a time below a given one."""

    def __init__(self, times: Ints, width: Ints, which: Bools) -> None:
        chosen = np.flatnonzero(which & (times < FOREVER))
        order = chosen[np.argsort(times[chosen], kind="stable")]
        self.times = times[order]
        self.sums = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(width[order])))

    def below(self, time: int) -> int:
        return int(self.sums[np.searchsorted(self.times, time)])


def judge_counts(collection: Collection, cells: Cells, answer: Answer) -> None:
    """Compare each count with its bounds. A run with several inserts or deletes may count or not.

    Strong: rows acknowledged before it began must count, unless a delete had begun before it ended; rows that
    nobody had begun to insert before it ended, or whose delete was acknowledged before it began, cannot.
    Bounded: the same five seconds earlier. Below that only the upper bound is left.
    """
    simple = ~cells.is_odd
    both = simple & (cells.insert_by >= 0)
    acknowledged = _Sums(cells.insert_end, cells.width, both)
    begun = _Sums(cells.insert_start, cells.width, both)
    leaving = _Sums(cells.delete_start, cells.width, both)
    deleted = _Sums(cells.delete_end, cells.width, both & (cells.insert_end < FOREVER))
    odd = int(cells.width[~simple].sum())
    for count in collection.counts:
        if count.end > collection.whole_until:
            continue
        answer.events += 1
        since = {"Strong": count.start, "Bounded": count.start - BOUND}.get(count.level, -FOREVER)
        low = max(0, acknowledged.below(since) - leaving.below(count.end))
        high = begun.below(count.end) - deleted.below(since) + odd
        if not low <= count.total <= high:
            answer.breach(
                f"A {count.level} count says {count.total}; it must be between {low} and {high}.",
                Place(count.source, count.line, f"count {count.total}"),
                key=collection.name,
            )
