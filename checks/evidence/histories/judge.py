"""The answers about all collections of a history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tidemark.checks.evidence.histories.counts import judge_counts
from tidemark.checks.evidence.histories.keys import cells
from tidemark.checks.evidence.histories.operations import FOREVER, Collection, collections
from tidemark.checks.evidence.histories.sweep import Sweep
from tidemark.checks.evidence.histories.torn import torn_batches
from tidemark.checks.evidence.monitors.base import Answer, Place, shown

MONITOR = "client-history"


def judge_history(rows: Iterable[tuple[Any, ...]]) -> list[Answer]:
    """The answers about rows of ``operations.COLUMNS``, in order of the claims' names."""
    found: dict[str, Answer] = {}

    def answer(claim: str) -> Answer:
        return found.setdefault(claim, Answer(MONITOR, claim))

    for one in collections(rows):
        cut = cells(one)
        Sweep(one, cut, answer).run()
        if one.counts:
            judge_counts(one, cut, answer("history.count"))
        torn_batches(one, cut, lambda: answer("history.written"))
        _order(one, answer)
        _missing(one, answer)
    return [found[claim] for claim in sorted(found)]


def _order(collection: Collection, answer: Any) -> None:
    """A write that begins after another was acknowledged has a greater timestamp: the oracle's promise."""
    writes = [one for one in collection.writes if one.ts > 0]
    if len(writes) < 2:
        return
    ends = sorted((one for one in writes if one.end < FOREVER), key=lambda one: one.end)
    greatest, at = None, 0
    judged = answer("history.ordered")
    for write in sorted(writes, key=lambda one: one.start):
        while at < len(ends) and ends[at].end < write.start:
            if greatest is None or ends[at].ts > greatest.ts:
                greatest = ends[at]
            at += 1
        if greatest is None:
            continue
        judged.events += 1
        if write.ts <= greatest.ts:
            judged.breach(
                "A write that began after another was acknowledged has a timestamp that is not greater.",
                Place(greatest.source, greatest.line, f"acknowledged with {shown(greatest.ts)}"),
                Place(write.source, write.line, f"begun later, answered with {shown(write.ts)}"),
                key=collection.name,
            )


def _missing(collection: Collection, answer: Any) -> None:
    """What depends on operations that nobody wrote down was not judged."""
    if not collection.missing:
        return
    reads = [read for read in collection.reads if read.end > collection.whole_until]
    counts = [count for count in collection.counts if count.end > collection.whole_until]
    what = f"{collection.missing} operations of clients are missing; from there on nothing is judged"
    if reads:
        for claim in ("history.strong", "history.written", "history.kept"):
            answer(claim).doubt(what, len(reads))
    if counts:
        answer("history.count").doubt(what, len(counts))
    if not reads and not counts:
        answer("history.written").doubt(what)
