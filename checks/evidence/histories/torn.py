"""Batches of which a read saw a part. The parts lie on different shards; nothing promises more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidemark.checks.evidence.histories.operations import FOREVER, Bools, Collection
from tidemark.checks.evidence.histories.rows import Rows
from tidemark.checks.evidence.monitors.base import Answer

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
