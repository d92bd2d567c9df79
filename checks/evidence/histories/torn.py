"""Batches of which a read saw a part. The parts lie on different shards; nothing promises more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidemark.checks.evidence.histories.keys import Cells
from tidemark.checks.evidence.histories.operations import Collection
from tidemark.checks.evidence.monitors.base import Answer

_SENTENCE = "A read sees a part of an insert (allowed: a batch is not atomic across shards)."


def torn_batches(collection: Collection, cells: Cells, answer: Callable[[], Answer]) -> None:
    """Report reads that saw a part of an insert, of whose rest nothing was deleted."""
    if not len(cells):
        return
    by = cells.insert_by
    # An edge between two cells of one insert: some operation told the one from the other.
    inner = np.concatenate(([False], (by[1:] == by[:-1]) & (by[1:] >= 0), [False]))
    if not inner.any():
        return
    seen = cells.spans([read.seen for read in collection.reads])
    asked = cells.spans([read.keys for read in collection.reads])
    for read, spans, wanted in zip(collection.reads, seen, asked, strict=True):
        if read.end > collection.whole_until:
            continue
        beside = [first - 1 for first, _ in spans if inner[first]] + [
            last for _, last in spans if inner[last]
        ]
        if any(
            cells.delete_start[cell] >= read.end
            and cell not in cells.odd
            and (not read.keys or any(low <= cell < high for low, high in wanted))
            for cell in beside
        ):
            answer().report(_SENTENCE)
