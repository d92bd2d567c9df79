"""The operations of one collection in columns, and from which moment on they do not tell all.

A history may have millions of operations, so that none of them becomes an object: what is asked of all of
them is asked of whole columns, and a single one is looked at only if something is wrong with it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checks.evidence.readers.client import KINDS as OPERATIONS
from tidemark.checks.evidence.readers.client import LEVELS, LINE, parsed
from tidemark.checks.evidence.table.schema import LOGICAL_BITS

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

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
KINDS = (*(f"op.{name}" for name in OPERATIONS), "op.other")
_UNNAMED_LEVEL = "Bounded"
"""What the public client asks for if nothing is said."""

_RUNS = pa.list_(pa.list_(pa.int64()))
_CHANGE_NO_ROW = ("create", "load", "release", "search")
"""Operations that have no kind of event, and leave every row as it is. Any other may do anything."""
_NAMELESS = {
    "insert": "insert without keys",
    "upsert": "upsert without keys",
    "delete": "delete by expression",
}
"""Writes that do not say which keys they touch."""
_SAID = r'\s*:\s*(?:[1-9]|"[^"]|\[[^\]]|\{)'
_PART = r'"(?:expr|filter|limit|offset|partitions?|partition_names?)"' + _SAID
"""Fields by which a read shows, or a delete takes away, a part of the rows of its keys."""
_TTL = r'"[^"]*ttl[^"]*"' + _SAID
"""A time to live: rows vanish by themselves."""

_VALUE = pa.schema([
    ("start", pa.int64()),
    ("end", pa.int64()),
    ("outcome", pa.string()),
    ("keys", _RUNS),
    ("seen", _RUNS),
])  # fmt: skip
_ONE_CLOCK_S = 10
"""Seconds that one clock and the oracle's may drift apart: after a start it is ahead by a window of three."""
_ONE_SHARD = r'"(?:shards|shards_num|num_shards)"\s*:\s*1\b'
"""Of a ``create``: all rows of the collection are in one log."""
_PARSED_ROWS = 1 << 17
_EVERY_KEY = (-(1 << 63), (1 << 63) - 2)


@dataclass(frozen=True)
class Runs:
    """For each operation a list of inclusive runs: from number ``first[n]`` to ``first[n + 1] - 1``."""

    low: Ints
    high: Ints
    first: Ints

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def lengths(self) -> Ints:
        """How many runs each operation has."""
        return np.diff(self.first)

    def take(self, which: Ints) -> Runs:
        """Those of some operations."""
        lengths = self.lengths[which]
        places = ranges(self.first[which], lengths)
        return Runs(self.low[places], self.high[places], offsets(lengths))

    def replaced(self, which: Bools, run: tuple[int, int]) -> Runs:
        """With this one run for some operations, which have had none."""
        lengths = self.lengths + which
        first = offsets(lengths)
        low, high = np.empty(first[-1], dtype=np.int64), np.empty(first[-1], dtype=np.int64)
        old = np.repeat(~which, lengths)
        low[old], high[old] = self.low, self.high
        low[~old], high[~old] = run
        return Runs(low, high, first)


def offsets(lengths: Ints) -> Ints:
    """Where parts of these lengths begin, and where the last one ends."""
    found = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=found[1:])
    return found


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """The numbers ``start, start + 1, ...`` of all ranges, one after the other."""
    ends = offsets(lengths)
    return np.arange(ends[-1], dtype=np.int64) + np.repeat(starts - ends[:-1], lengths)


@dataclass(frozen=True)
class Writes:
    """Inserts, upserts, deletes. One that was not acknowledged takes effect at any time after its start, or
    never.
    """

    is_put: Bools
    """An insert or an upsert."""
    is_upsert: Bools
    start: Ints
    end: Ints
    """When it was acknowledged; FOREVER if it was not."""
    ts: Ints
    process: Ints
    keys: Runs
    row: Ints
    """Number of the operation in the log."""


@dataclass(frozen=True)
class Reads:
    """Queries that were answered. One without keys asks for every key."""

    level: Ints
    """Number in ``client.LEVELS``."""
    start: Ints
    end: Ints
    process: Ints
    guarantee: Ints
    keys: Runs
    seen: Runs
    total: Ints
    """How many rows the answer had; 0 if the history does not say."""
    row: Ints

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class Counts:
    """Answered counts of all rows."""

    level: Ints
    start: Ints
    end: Ints
    total: Ints
    row: Ints


@dataclass(frozen=True)
class Log:
    """Where the operations stand."""

    sources: list[str]
    source: Ints
    line: Ints

    def place(self, row: int) -> tuple[str, int]:
        """File and line of an operation."""
        return self.sources[int(self.source[row])], int(self.line[row])


@dataclass(frozen=True)
class Doubt:
    """From when on the history does not tell what happened to a collection, and why."""

    since: int
    reason: str
    of_anything: bool = False
    """Reads may be among what is not told."""


@dataclass(frozen=True)
class Collection:
    """What happened to one collection."""

    name: str
    writes: Writes
    reads: Reads
    counts: Counts
    processes: list[str]
    log: Log
    doubts: tuple[Doubt, ...] = ()
    searches: int = 0
    one_shard: bool = False
    """Every ``create`` of it says so: each read is of one moment."""

    @property
    def whole_until(self) -> int:
        """Reads that end later are not judged."""
        return min((doubt.since for doubt in self.doubts), default=FOREVER)


def collections(events: pa.Table) -> Iterator[Collection]:
    """The operations by collection, in order of their names.

    ``events`` has the columns of ``COLUMNS``, and only rows of ``KINDS``. A client numbers its operations; a
    number that is left out is an operation that is not known: it may have been a write to any collection.
    """
    if not events.num_rows:
        return
    columns = _columns(events)
    again, other = _again(events, columns)
    if len(again):
        yield from collections(events.take(np.delete(np.arange(events.num_rows), again)))
        return
    gap = [*_gaps(columns), *_clocks(columns), *other]
    unknown = _unknown(events, columns)
    order = np.argsort(columns["channel"], kind="stable")
    names: list[str] = columns["names of channel"]
    bounds = np.searchsorted(columns["channel"][order], np.arange(len(names) + 1))
    for code, name in sorted(enumerate(names), key=lambda pair: pair[1]):
        mine = order[bounds[code] : bounds[code + 1]]
        theirs = sorted(unknown.get(name, []) + unknown.get(_ANY, []))
        yield _collection(name, columns, mine, [*gap, *_doubts(name, theirs, columns)])


def _columns(events: pa.Table) -> dict[str, Any]:
    """All that is asked about, as numpy columns; texts as numbers, with the list of the texts."""
    found: dict[str, Any] = {"line": _numbers(events, "line"), "seq": _numbers(events, "seq")}
    for name in ("ts", "ts2"):
        found[name] = _numbers(events, name)
    found["counted"] = events.column("rows").is_valid().to_numpy()
    found["rows"] = _numbers(events, "rows")
    levels = pc.fill_null(events.column("level"), _UNNAMED_LEVEL)
    found["level"] = pc.index_in(levels, value_set=pa.array(LEVELS)).to_numpy().astype(np.int64)
    for name in ("source", "channel", "node", "key"):
        found[name], found[f"names of {name}"] = _coded(events.column(name))
    for name in ("insert", "upsert", "delete", "query", "count", "other"):
        found[name] = pc.equal(events.column("kind"), f"op.{name}").to_numpy()
    for name in ("drop", *_CHANGE_NO_ROW):
        named = pc.fill_null(pc.equal(events.column("text"), name), fill_value=False)
        found[name] = found["other"] & named.to_numpy()
    lines = events.column("value")
    part = pc.match_substring_regex(lines, _PART).to_numpy()
    found["ttl"] = pc.match_substring_regex(lines, _TTL, ignore_case=True).to_numpy()
    found["of one shard"] = found["create"] & pc.match_substring_regex(lines, _ONE_SHARD).to_numpy()
    found["search"] |= part & (found["query"] | found["count"])
    found["query"], found["count"] = found["query"] & ~part, found["count"] & ~part
    found["delete of a part"] = found["delete"] & part
    found |= _values(lines)
    for name in _NAMELESS:
        found[f"{name} of none"] = found[name] & (found["keys"].lengths == 0)
    return found


def _numbers(events: pa.Table, name: str) -> Ints:
    numbers: Ints = pc.fill_null(events.column(name), 0).to_numpy()
    return numbers


def _coded(column: pa.ChunkedArray) -> tuple[Ints, list[str]]:
    """Texts as numbers, and the text of each number."""
    encoded = pc.fill_null(column, "").combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_pylist()


def _values(texts: pa.ChunkedArray) -> dict[str, Any]:
    """What is JSON in the column ``value``: times, outcome, and runs of keys."""
    parts = [
        _parsed(texts.slice(first, _PARSED_ROWS).to_pylist()) for first in range(0, len(texts), _PARSED_ROWS)
    ]
    table = pa.concat_tables(parts)
    found: dict[str, Any] = {name: _runs(table.column(name)) for name in ("keys", "seen")}
    for name in ("start", "end"):
        found[name] = table.column(name).to_numpy()
    found["ok"] = pc.equal(table.column("outcome"), "ok").to_numpy()
    return found


def _parsed(texts: list[str]) -> pa.Table:
    try:
        return parsed("\n".join(texts).encode(), _VALUE)
    except pa.ArrowInvalid:  # a line with a name twice, say
        given = [json.loads(text) for text in texts]
        return pa.table({name: [one.get(name) for one in given] for name in _VALUE.names}, schema=_VALUE)


def _runs(column: pa.ChunkedArray) -> Runs:
    lists = column.combine_chunks()
    pairs = lists.flatten().flatten().to_numpy().reshape(-1, 2)
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy().astype(np.int64)
    return Runs(np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]), offsets(lengths))


_ANY = "\0"
"""Stands for every collection: of an operation that names none."""
_Unknown = tuple[int, int, str]
"""An operation whose line does not say which rows it changed: its start, its number in the log, its name."""


def _unknown(events: pa.Table, columns: dict[str, Any]) -> dict[str, list[_Unknown]]:
    """The unknown operations by collection.

    One touches the collection of its line, and each that it names in a field that the format does not have
    (``{"op": "rename", "collection": "a", "to": "b"}``).
    """
    harmless = reduce(np.logical_or, (columns[name] for name in ("drop", *_CHANGE_NO_ROW)))
    names = dict.fromkeys(np.flatnonzero(columns["other"] & ~harmless).tolist(), "")
    for name, shown in (
        *((f"{name} of none", shown) for name, shown in _NAMELESS.items()),
        ("delete of a part", "delete of a part"),
        ("ttl", "operation with a time to live"),
    ):
        names |= dict.fromkeys(np.flatnonzero(columns[name]).tolist(), shown)
    chosen = events.select(["text", "channel", "value"]).take(pa.array(list(names), pa.int64())).to_pylist()
    found: dict[str, list[_Unknown]] = {}
    for (row, shown), one in zip(names.items(), chosen, strict=True):
        further = {name: value for name, value in json.loads(one["value"]).items() if name not in _FIELDS}
        for touched in {one["channel"] or _ANY, *_texts(further)}:
            found.setdefault(touched, []).append((int(columns["start"][row]), row, shown or one["text"]))
    return found


_FIELDS = set(LINE.names)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _doubts(name: str, unknown: list[_Unknown], columns: dict[str, Any]) -> list[Doubt]:
    if not unknown:
        return []
    since, row, _ = unknown[0]
    source, line = columns["names of source"][columns["source"][row]], columns["line"][row]
    counted = Counter(what for _, _, what in unknown)
    listed = ", ".join(f"{count:,} {what}" for what, count in sorted(counted.items()))
    return [
        Doubt(
            since,
            f"{listed}, the first at {source}:{line}: the history does not say which rows of collection "
            f"{name!r} changed; its reads and counts that end later are not judged",
        )
    ]


def _collection(name: str, columns: dict[str, Any], mine: Ints, doubts: list[Doubt]) -> Collection:
    def chosen(which: Bools) -> Ints:
        picked: Ints = mine[which[mine]]
        return picked

    written = chosen(columns["insert"] | columns["upsert"] | columns["delete"] | columns["drop"])
    read = chosen(columns["query"] & columns["ok"])
    counted = chosen(columns["count"] & columns["ok"] & columns["counted"])
    drops = columns["drop"][written]
    writes = Writes(
        is_put=(columns["insert"] | columns["upsert"])[written],
        is_upsert=columns["upsert"][written],
        start=columns["start"][written],
        end=np.where(columns["ok"][written], columns["end"][written], FOREVER),
        ts=np.where(drops, 0, columns["ts"][written]),
        process=columns["node"][written],
        keys=_keys_of(columns["keys"].take(written), drops),
        row=written,
    )
    reads = Reads(
        level=columns["level"][read],
        start=columns["start"][read],
        end=columns["end"][read],
        process=columns["node"][read],
        guarantee=columns["ts2"][read],
        keys=columns["keys"].take(read),
        seen=columns["seen"].take(read),
        total=columns["rows"][read],
        row=read,
    )
    counts = Counts(
        level=columns["level"][counted],
        start=columns["start"][counted],
        end=columns["end"][counted],
        total=columns["rows"][counted],
        row=counted,
    )
    log = Log(columns["names of source"], columns["source"], columns["line"])
    created, of_one = chosen(columns["create"]), chosen(columns["of one shard"])
    return Collection(
        name,
        writes,
        reads,
        counts,
        columns["names of node"],
        log,
        tuple(doubts),
        searches=len(chosen(columns["search"])),
        one_shard=0 < len(created) == len(of_one),
    )


def _keys_of(keys: Runs, drops: Bools) -> Runs:
    """A drop deletes every key, whatever its line says."""
    if not drops.any():
        return keys
    kept = np.where(drops, 0, keys.lengths)
    places = ranges(keys.first[:-1], kept)
    return Runs(keys.low[places], keys.high[places], offsets(kept)).replaced(drops, _EVERY_KEY)


def _again(events: pa.Table, columns: dict[str, Any]) -> tuple[Ints, list[Doubt]]:
    """Operations that are read a second time; and a doubt if two have one number: they are of two runs."""
    client = columns["node"] * len(columns["names of key"]) + columns["key"]
    order = np.lexsort((columns["line"], columns["seq"], client))
    second = np.flatnonzero((np.diff(client[order]) == 0) & (np.diff(columns["seq"][order]) == 0)) + 1
    texts = pc.utf8_trim_whitespace(events.column("value"))  # ends of lines differ
    same = pc.equal(texts.take(order[second]), texts.take(order[second - 1])).to_numpy()
    if same.all():
        return order[second], []
    row = order[second[~same][0]]
    place = f"{columns['names of source'][columns['source'][row]]}:{columns['line'][row]}"
    what = f"operations have the number of another one, the first at {place}: two runs; nothing is judged"
    return order[:0], [Doubt(-FOREVER, f"{int((~same).sum())} {what}", of_anything=True)]


def _clocks(columns: dict[str, Any]) -> Iterator[Doubt]:
    """Processes whose times are of several clocks: no order between their operations is known.

    The oracle's timestamps say so: that of a write, or of a Strong read, was given while it ran. They are
    believed where they go on as the clock of their process does.
    """
    strong = columns["query"] & (columns["level"] == LEVELS.index("Strong"))
    stamped = columns["insert"] | columns["upsert"] | columns["delete"] | strong
    known = np.flatnonzero(columns["ok"] & stamped & (columns["ts"] > 0))
    known = known[np.argsort(columns["node"][known], kind="stable")]
    given = (columns["ts"] >> LOGICAL_BITS) * 1_000_000
    clock = columns["start"] // 2 + columns["end"] // 2
    names, apart = columns["names of node"], list[tuple[float, str]]()
    for mine in np.split(known, np.flatnonzero(np.diff(columns["node"][known])) + 1):
        took, passed = (int(np.ptp(times[mine])) if len(mine) else 0 for times in (clock, given))
        if took > 1e9 and abs(passed - took) < took / 2:
            apart.append((float(np.median(given[mine] - clock[mine])), names[columns["node"][mine[0]]]))
    (low, first), (high, last) = min(apart, default=(0.0, "")), max(apart, default=(0.0, ""))
    if (far := (high - low) / 1e9) > _ONE_CLOCK_S:
        what = f"the times of {first} and {last} are of two clocks, {far:,.0f} s apart by the oracle's time"
        yield Doubt(-FOREVER, f"{what}; give the operations of each clock by themselves", of_anything=True)


def _gaps(columns: dict[str, Any]) -> list[Doubt]:
    """Numbers that are left out, since when the first gap can have begun; nothing if there are none."""
    client = columns["node"] * len(columns["names of key"]) + columns["key"]
    order = np.lexsort((columns["end"], columns["seq"], client))
    numbers, ends = columns["seq"][order], columns["end"][order]
    begins = np.flatnonzero(np.diff(client[order], prepend=-1))
    missing, until = 0, FOREVER
    for first, last in zip(begins, [*begins[1:], len(order)], strict=True):
        left_out = np.diff(numbers[first:last], prepend=-1) - 1
        places = np.flatnonzero(left_out > 0)
        if len(places):
            missing += int(left_out[places].sum())
            before = ends[first : first + places[0]]
            until = min(until, int(before.max()) if len(before) else -FOREVER)
    what = f"{missing} operations of clients are missing; from there on nothing is judged"
    return [Doubt(until, what, of_anything=True)] if missing else []
