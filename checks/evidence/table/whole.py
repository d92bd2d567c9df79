"""Is the evidence whole, and of one system? Gaps in what is numbered, clusters that were mixed, versions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checks.evidence.table.read import Account

_VERSION = re.compile(r"v?(\d+)\.(\d+)")
_KNOWN = {(2, minor) for minor in range(2, 7)}
_PREFIX = re.compile(r"^(.+?)-rootcoord-dml")
_KAFKA = 1 << 40
"""Offsets of Kafka count from 0 without gaps; ids of RocksMQ are larger than this, and have gaps."""


@dataclass(frozen=True)
class Gap:
    """Something that is missing."""

    family: str
    """Which events suffer: ``log``, ``etcd``, ``broker``, ``op``, ``trace``."""
    source: str
    after: int
    """Line, revision or message after which it is missing."""
    count: int
    what: str

    def __str__(self) -> str:
        return f"{self.source}: {self.what} from {self.after} on ({self.count})"


def family(kind: str) -> str:
    """The sort of evidence to which a kind of event belongs."""
    first = kind.partition(".")[0]
    return first if first in ("etcd", "broker", "op", "trace") else "log"


def gaps(events: pa.Table, accounts: Iterable[Account]) -> list[Gap]:
    """Lines that cannot be read, revisions and messages that are left out."""
    return [*_damaged(events, accounts), *_revisions(events), *_offsets(events)]


def _damaged(events: pa.Table, accounts: Iterable[Account]) -> list[Gap]:
    found: list[Gap] = []
    for account in accounts:
        if account.counts.damaged:
            mine = events.filter(pc.equal(events.column("source"), account.name))
            kinds = mine.column("kind").unique().to_pylist()
            for one in sorted({family(kind) for kind in kinds}) or ["log", "etcd", "broker", "op", "trace"]:
                first = account.counts.first_damaged
                found.append(
                    Gap(one, account.name, first, account.counts.damaged, "lines that cannot be read")
                )
    return found


def _numbers(events: pa.Table, kinds: str) -> pa.Table:
    return events.filter(pc.starts_with(events.column("kind"), kinds))


def _revisions(events: pa.Table) -> list[Gap]:
    """Every revision of the store has a change, so that none is left out of a whole history."""
    mine = _numbers(events, "etcd.")
    if not mine.num_rows:
        return []
    numbers = sorted(mine.column("line").unique().to_pylist())
    source = mine.column("source")[0].as_py()
    return _missing(numbers, "etcd", source, "revisions missing")


def _offsets(events: pa.Table) -> list[Gap]:
    mine = _numbers(events, "broker.")
    if not mine.num_rows:
        return []
    by = mine.group_by("channel").aggregate(
        [("msg_id", "min"), ("msg_id", "max"), ("msg_id", "count_distinct"), ("source", "min")]
    )
    found: list[Gap] = []
    for row in by.to_pylist():
        low, high = row["msg_id_min"], row["msg_id_max"]
        if high < _KAFKA and high - low + 1 != row["msg_id_count_distinct"]:
            channel = mine.filter(pc.equal(mine.column("channel"), row["channel"]))
            numbers = sorted(set(channel.column("msg_id").to_pylist()))
            found += _missing(numbers, "broker", row["source_min"], f"messages of {row['channel']} missing")
    return found


def _missing(numbers: list[int], of: str, source: str, what: str) -> list[Gap]:
    count = numbers[-1] - numbers[0] + 1 - len(numbers)
    if not count:
        return []
    first = next(one for one, two in pairwise(numbers) if two != one + 1)
    return [Gap(of, source, first, count, what)]


def versions(events: pa.Table) -> dict[str, int]:
    """Versions that the sessions name, with how often."""
    mine = events.filter(pc.is_in(events.column("kind"), value_set=pa.array(["session.put", "etcd.session"])))
    found: dict[str, int] = {}
    for text in mine.column("text").to_pylist():
        if text:
            found[text] = found.get(text, 0) + 1
    return dict(sorted(found.items()))


def unknown_versions(events: pa.Table) -> list[str]:
    """Versions whose lines this reader was not made for."""
    found: list[str] = []
    for version in versions(events):
        hit = _VERSION.match(version)
        if hit and (int(hit[1]), int(hit[2])) not in _KNOWN:
            found.append(version)
    return found


def mixed(events: pa.Table) -> list[str]:
    """Why this is the evidence of more than one cluster; nothing if it may be of one."""
    found: list[str] = []
    prefixes = {hit[1] for name in _distinct(events, "channel") if (hit := _PREFIX.match(name))}
    if len(prefixes) > 1:
        found.append(f"channels have the prefixes {', '.join(sorted(prefixes))}")
    found += _two_histories(events)
    found += _two_brokers(events)
    return found


def _distinct(events: pa.Table, column: str) -> list[str]:
    return [text for text in events.column(column).unique().to_pylist() if text]


def _two_histories(events: pa.Table) -> list[str]:
    """A revision has the same changes in every history of one store."""
    mine = _numbers(events, "etcd.")
    by: dict[int, dict[str, set[str]]] = {}
    names = ("source", "line", "key")
    if len(_distinct(mine, "source")) > 1:
        columns = [mine.column(name).to_pylist() for name in names]
        for source, revision, key in zip(*columns, strict=True):
            by.setdefault(revision, {}).setdefault(source, set()).add(key)
    for revision, sources in sorted(by.items()):
        keys = list(sources.values())
        if any(one != keys[0] for one in keys):
            return [f"revision {revision} of the store differs between {' and '.join(sorted(sources))}"]
    return []


def _two_brokers(events: pa.Table) -> list[str]:
    mine = _numbers(events, "broker.")
    if len(_distinct(mine, "source")) < 2:
        return []
    by = mine.group_by(["channel", "msg_id"]).aggregate([("ts", "min"), ("ts", "max")])
    differs = by.filter(pc.not_equal(by.column("ts_min"), by.column("ts_max")))
    if not differs.num_rows:
        return []
    first = differs.slice(0, 1).to_pylist()[0]
    return [f"message {first['msg_id']} of {first['channel']} has two timestamps"]
