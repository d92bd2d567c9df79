"""The operations of one collection: writes, reads, counts, and the moment from which one is missing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

FOREVER = 1 << 62
"""Later than everything."""

COLUMNS = (
    "source",
    "line",
    "kind",
    "channel",
    "key",
    "node",
    "seq",
    "ts",
    "ts2",
    "level",
    "rows",
    "text",
    "value",
)
KINDS = ("op.insert", "op.delete", "op.query", "op.count", "op.flush", "op.other")

Runs = list[list[int]]


class Write(NamedTuple):
    """An insert or a delete. One that was not acknowledged may take effect at any time after its start."""

    is_insert: bool
    start: int
    end: int
    """When it was acknowledged; FOREVER if it was not."""
    ts: int
    process: str
    keys: Runs
    source: str
    line: int


class Read(NamedTuple):
    """A query that was answered. No keys means every key."""

    level: str
    start: int
    end: int
    process: str
    guarantee: int
    keys: Runs
    seen: Runs
    source: str
    line: int


class Count(NamedTuple):
    """An answered count of all rows."""

    level: str
    start: int
    end: int
    total: int
    source: str
    line: int


@dataclass
class Collection:
    """What happened to one collection."""

    name: str
    writes: list[Write] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    whole_until: int = FOREVER
    """Reads that end later are not judged: an operation is missing."""
    missing: int = 0
    """How many operations are missing."""


def collections(rows: Iterable[tuple[Any, ...]]) -> list[Collection]:
    """The operations by collection, in order of their names.

    ``rows`` are tuples of ``COLUMNS``. A client numbers its operations; a number that is left out is an
    operation that nobody knows: it may have been a write to any collection.
    """
    found: dict[str, Collection] = {}
    seen: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for source, line, kind, name, client, process, seq, ts, ts2, level, count, text, value in rows:
        op = json.loads(value)
        start, end, ok = op["start"], op["end"], op["outcome"] == "ok"
        seen.setdefault((process, client), []).append((seq, start, end))
        one = found.get(name) or found.setdefault(name, Collection(name))
        if kind in {"op.insert", "op.delete"}:
            acknowledged = end if ok else FOREVER
            one.writes.append(
                Write(kind == "op.insert", start, acknowledged, ts or 0, process, op["keys"], source, line)
            )
        elif kind == "op.other" and text == "drop":
            whole = [[-(1 << 63), (1 << 63) - 2]]
            one.writes.append(
                Write(kind == "op.insert", start, end if ok else FOREVER, 0, process, whole, source, line)
            )
        elif kind == "op.query" and ok:
            one.reads.append(
                Read(level or "Bounded", start, end, process, ts2 or 0, op["keys"], op["seen"], source, line)
            )
        elif kind == "op.count" and ok and count is not None:
            one.counts.append(Count(level or "Bounded", start, end, count, source, line))
    missing, until = _gaps(seen.values())
    for one in found.values():
        one.missing, one.whole_until = missing, until
    return [found[name] for name in sorted(found)]


def _gaps(clients: Iterable[list[tuple[int, int, int]]]) -> tuple[int, int]:
    """How many numbers are left out, and when the first gap can have begun."""
    missing, until = 0, FOREVER
    for numbered in clients:
        numbered.sort()
        before, ended = -1, -FOREVER
        for seq, _, end in numbered:
            if seq > before + 1:
                missing += seq - before - 1
                until = min(until, ended)
            before, ended = max(before, seq), max(ended, end)
    return missing, until
