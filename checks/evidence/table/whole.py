"""Is the evidence whole, and of one system? Gaps in what is numbered, clusters that were mixed, versions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checks.evidence.monitors.base import DUMP
from tidemark.checks.evidence.table.events import Events
from tidemark.checks.evidence.table.files import Sort
from tidemark.checks.evidence.table.read import Account

_VERSION = re.compile(r"v?(\d+)\.(\d+)")
_KNOWN = {*((2, minor) for minor in range(2, 7)), (3, 0), (3, 1)}
_PREFIX = re.compile(r"^(.+?)-rootcoord-dml")
_FIRST = 2
"""Revision of the first change of an etcd."""
_KAFKA = 1 << 40
"""Offsets of Kafka count from 0 without gaps; ids of RocksMQ are larger than this, and have gaps."""


@dataclass(frozen=True)
class Gap:
    """Something that is missing."""

    family: str
    """Which events suffer: ``log``, ``etcd``, ``broker``, ``op``, ``trace``; ``state``: how etcd ends."""
    source: str
    after: int
    """Line, revision or message after which it is missing."""
    count: int
    what: str
    lost: tuple[tuple[str, int], ...] = ()
    """Of a log: kinds of event that damaged lines would have been (empty: any), with the first such line."""

    def __str__(self) -> str:
        return f"{self.source}: {self.what} from {self.after} on ({self.count})"


_OBJECTS = ["broker", "etcd", "op", "trace"]
"""What a file of JSON lines may hold."""


def family(kind: str) -> str:
    """The sort of evidence to which a kind of event belongs."""
    first = kind.partition(".")[0]
    return first if first in _OBJECTS else "log"


def gaps(events: Events, accounts: Iterable[Account]) -> list[Gap]:
    """Lines that cannot be read, revisions and messages that are left out."""
    return [*_damaged(events, accounts), *_revisions(events), *_offsets(events)]


def _damaged(events: Events, accounts: Iterable[Account]) -> list[Gap]:
    found: list[Gap] = []
    for account in accounts:
        if account.counts.damaged:
            first, count = account.counts.first_damaged, account.counts.damaged
            lost = tuple(sorted(account.counts.lost.items())) if account.sort is Sort.LOG else ()
            found += [
                Gap(one, account.name, first, count, "lines that cannot be read", lost)
                for one in _families(events, account)
            ]
    return found


def _families(events: Events, account: Account) -> list[str]:
    """Which events the damaged lines of a file may have been."""
    if account.sort is Sort.LOG:
        return ["log"]
    kinds = events.distinct("kind", where=pc.field("source") == account.name)
    return sorted({family(str(kind)) for (kind,) in kinds}) or _OBJECTS


def _revisions(events: Events) -> list[Gap]:
    """Every revision of the store has a change, so that none is left out of a whole history."""
    histories = _of_histories(events)
    numbers = sorted(int(str(line)) for (line,) in events.distinct("line", family="etcd", where=histories))
    if not numbers:
        return []
    ((source,), *_) = events.distinct("source", family="etcd", where=histories)
    found = _missing(numbers, "etcd", str(source), "revisions missing")
    if numbers[0] > _FIRST:
        found.append(
            Gap("state", str(source), 0, numbers[0] - _FIRST, "revisions before the first one missing")
        )
    return found


def _of_histories(events: Events) -> pc.Expression:
    """Chooses the events of sources that are no dumps."""
    dumps = [source for (source,) in events.distinct("source", kinds=(DUMP,))]
    return ~pc.field("source").isin(pa.array(dumps, pa.string()))


def _offsets(events: Events) -> list[Gap]:
    """Messages of a topic that counts its offsets from 0; ids of RocksMQ have gaps and say nothing."""
    ranges: dict[str, tuple[int, int]] = {}
    for batch in events.batches("channel", "msg_id", family="broker"):
        by = pa.Table.from_batches([batch]).group_by("channel").aggregate([("msg_id", "min_max")])
        for row in by.to_pylist():
            low, high = row["msg_id_min_max"]["min"], row["msg_id_min_max"]["max"]
            if row["channel"] is not None and low is not None:
                known = ranges.get(row["channel"], (low, high))
                ranges[row["channel"]] = (min(low, known[0]), max(high, known[1]))
    found: list[Gap] = []
    for channel, (low, high) in sorted(ranges.items()):
        if high < _KAFKA:
            mine = events.table("msg_id", "source", family="broker", where=pc.field("channel") == channel)
            numbers = pc.unique(mine.column("msg_id")).drop_null()
            if high - low + 1 != len(numbers):
                source = pc.min(mine.column("source")).as_py()
                listed = sorted(numbers.to_pylist())
                found += _missing(listed, "broker", source, f"messages of {channel} missing")
    return found


def _missing(numbers: list[int], of: str, source: str, what: str) -> list[Gap]:
    count = numbers[-1] - numbers[0] + 1 - len(numbers)
    if not count:
        return []
    first = next(one for one, two in pairwise(numbers) if two != one + 1)
    return [Gap(of, source, first, count, what)]


def versions(events: Events) -> dict[str, int]:
    """Versions that the sessions name, with how often."""
    mine = events.table("text", kinds=("session.put", "etcd.session"))
    found: dict[str, int] = {}
    for text in mine.column("text").to_pylist():
        if text:
            found[text] = found.get(text, 0) + 1
    return dict(sorted(found.items()))


def unknown_versions(events: Events) -> list[str]:
    """Versions whose lines this reader was not made for."""
    found: list[str] = []
    for version in versions(events):
        hit = _VERSION.match(version)
        if hit and (int(hit[1]), int(hit[2])) not in _KNOWN:
            found.append(version)
    return found


def cluster_of(channel: object) -> str:
    """The prefix that a cluster gives to the names of its channels; empty if the name has none."""
    hit = _PREFIX.match(str(channel))
    return hit[1] if hit else ""


def mixed(events: Events) -> list[str]:
    """Why this is the evidence of more than one cluster; nothing if it may be of one."""
    found: list[str] = []
    prefixes = {cluster for (name,) in events.distinct("channel") if (cluster := cluster_of(name))}
    if len(prefixes) > 1:
        found.append(f"channels have the prefixes {', '.join(sorted(prefixes))}")
    found += _two_histories(events)
    found += _two_brokers(events)
    return found


def _two_histories(events: Events) -> list[str]:
    """A revision has the same changes in every history of one store."""
    histories = _of_histories(events)
    if len(events.distinct("source", family="etcd", where=histories)) < 2:
        return []
    by: dict[int, dict[str, set[str]]] = {}
    mine = events.table("source", "line", "key", family="etcd", where=histories)
    for source, revision, key in zip(*(column.to_pylist() for column in mine.columns), strict=True):
        by.setdefault(revision, {}).setdefault(source, set()).add(key)
    for revision, sources in sorted(by.items()):
        keys = list(sources.values())
        if any(one != keys[0] for one in keys):
            return [f"revision {revision} of the store differs between {' and '.join(sorted(sources))}"]
    return []


def _two_brokers(events: Events) -> list[str]:
    if len(events.distinct("source", family="broker")) < 2:
        return []
    mine = events.table("channel", "msg_id", "ts", family="broker")
    by = mine.group_by(["channel", "msg_id"]).aggregate([("ts", "min"), ("ts", "max")])
    differs = by.filter(pc.not_equal(by.column("ts_min"), by.column("ts_max")))
    if not differs.num_rows:
        return []
    first = differs.slice(0, 1).to_pylist()[0]
    return [f"message {first['msg_id']} of {first['channel']} has two timestamps"]
