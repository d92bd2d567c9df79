"""Counts of all rows, against the least and the greatest number that can be right.

The numbers of rows whose insert or delete began, or was acknowledged, before a moment are sums over sorted
times, so that all counts together cost a few binary searches.
"""

from __future__ import annotations

import numpy as np

from tidemark.checks.evidence.histories.claims import BOUND
from tidemark.checks.evidence.histories.keys import Cells
from tidemark.checks.evidence.histories.operations import FOREVER, Bools, Collection, Ints
from tidemark.checks.evidence.monitors.base import Answer, Place
from tidemark.checks.evidence.readers.client import LEVELS


class _Sums:
    """How many rows have a time below a given one."""

    def __init__(self, times: Ints, width: Ints, which: Bools) -> None:
        chosen = np.flatnonzero(which & (times < FOREVER))
        order = chosen[np.argsort(times[chosen], kind="stable")]
        self.times = times[order]
        self.sums = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(width[order])))

    def below(self, times: Ints) -> Ints:
        found: Ints = self.sums[np.searchsorted(self.times, times)]
        return found


_LEAD = np.array([{"Strong": 0, "Bounded": BOUND}.get(level, FOREVER) for level in LEVELS])
"""How far before its start a count has to know all, by level."""


def judge_counts(collection: Collection, cells: Cells, answer: Answer) -> None:
    """Compare each count with its bounds. A run with several inserts or deletes may count or not.

    Strong: rows acknowledged before it began must count, unless a delete had begun before it ended; rows that
    nothing had begun to insert before it ended, or whose delete was acknowledged before it began, cannot.
    Bounded: the same five seconds earlier. Below that only the upper bound is left.
    """
    counts = collection.counts
    simple = ~cells.is_odd
    both = simple & (cells.insert_by >= 0)
    acknowledged = _Sums(cells.insert_end, cells.width, both)
    begun = _Sums(cells.insert_start, cells.width, both)
    leaving = _Sums(cells.delete_start, cells.width, both)
    deleted = _Sums(cells.delete_end, cells.width, both & (cells.insert_end < FOREVER))
    odd = int(cells.width[~simple].sum())
    since = counts.start - _LEAD[counts.level]
    low = np.maximum(0, acknowledged.below(since) - leaving.below(counts.end))
    high = begun.below(counts.end) - deleted.below(since) + odd
    judged = counts.end <= collection.whole_until
    answer.events += int(judged.sum())
    for n in np.flatnonzero(judged & ((counts.total < low) | (counts.total > high))).tolist():
        total = int(counts.total[n])
        answer.breach(
            f"A {LEVELS[counts.level[n]]} count says {total}; it must be between {low[n]} and {high[n]}.",
            Place(*collection.log.place(counts.row[n]), f"count {total}"),
            key=collection.name,
        )
