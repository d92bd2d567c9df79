"""All monitors over an event table, and what gaps in the evidence make of their answers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checks.evidence.monitors import (
    catalogues,
    checkpoints,
    fetches,
    oracle,
    segments,
    sessions,
    ticks,
)
from tidemark.checks.evidence.monitors.base import Answer, Monitor

MONITORS: tuple[type[Monitor], ...] = (
    oracle.WindowGrows,
    oracle.StoredBelowWindow,
    oracle.AllocatorStart,
    oracle.AnswersUnique,
    ticks.TickOrder,
    ticks.Watermark,
    ticks.WalWatermark,
    ticks.WalTicks,
    ticks.TicksIssued,
    ticks.RoundsBack,
    fetches.FetchBelowCheckpoint,
    fetches.FetchBelowService,
    fetches.FetchOfFlushed,
    fetches.RowsUnsynced,
    checkpoints.StoredCheckpoint,
    checkpoints.LoggedCheckpoint,
    checkpoints.ConsumedCheckpoint,
    checkpoints.AnsweredCheckpoint,
    checkpoints.FlushReset,
    checkpoints.RecoverySeek,
    checkpoints.CheckpointLag,
    checkpoints.ServiceTime,
    segments.FlushedFinal,
    segments.BinlogsOnce,
    segments.SaveOrder,
    segments.FlushConfirmed,
    segments.RowsBelowCheckpoint,
    sessions.SessionsFinal,
    sessions.OneCoordinator,
    sessions.KnownSessions,
    catalogues.MarkedChannels,
    catalogues.RecoveredChannels,
    catalogues.LeftOver,
    catalogues.Leases,
)
"""In the order in which they are shown."""

_CHUNK = 1 << 16

ORDERS = {
    "line": (("line", "ascending"), ("source", "ascending"), ("kind", "ascending")),
    "source": (("source", "ascending"), ("line", "ascending")),
    "store": (("kind", "descending"), ("line", "ascending"), ("source", "ascending")),
}
"""What ``Monitor.within`` means."""


def kinds_present(events: pa.Table) -> dict[str, int]:
    """How many events there are of each kind."""
    counted = events.group_by("kind").aggregate([("kind", "count")])
    return dict(
        zip(counted.column("kind").to_pylist(), counted.column("kind_count").to_pylist(), strict=True)
    )


def due(present: Iterable[str], monitors: Sequence[type[Monitor]] = MONITORS) -> list[type[Monitor]]:
    """The monitors that have something to judge."""
    there = set(present)
    return [one for one in monitors if not one.lacks(there)]


def ordered(events: pa.Table, within: str) -> pa.Table:
    """Events in the order that a monitor asks for (``Monitor.within``)."""
    return events.sort_by([(name, direction) for name, direction in ORDERS[within]])


def rows(events: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Tuples of the named columns, a chunk at a time."""
    for part in events.select(columns).to_batches(max_chunksize=_CHUNK):
        yield from zip(*(column.to_pylist() for column in part.columns), strict=True)


def judge(events: pa.Table, monitors: Sequence[type[Monitor]] = MONITORS) -> list[Answer]:
    """The answers of all monitors that have something to judge."""
    found: list[Answer] = []
    kept: dict[tuple[str, tuple[str, ...]], pa.Table] = {}
    for kind in due(kinds_present(events), monitors):
        key = (kind.within, tuple(sorted(kind.kinds)))
        if key not in kept:
            wanted = pc.is_in(events.column("kind"), value_set=pa.array(kind.kinds))
            kept[key] = ordered(events.filter(wanted), kind.within)
        monitor = kind()
        monitor.feed(rows(kept[key], kind.columns))
        found.append(monitor.close())
    return found
