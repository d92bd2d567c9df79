"""The broker's messages: RocksMQ's own RocksDB, or messages written down as ndjson."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tidemark.checks.evidence.readers.protobuf import WireError, message, number, piece, text, wire
from tidemark.checks.evidence.table.schema import Row, clamp

_KINDS = {
    "tick": "broker.tick",
    "timetick": "broker.tick",
    "insert": "broker.insert",
    "delete": "broker.delete",
}

TYPES = {
    100: "create",
    101: "drop",
    104: "load",
    106: "create-partition",
    107: "drop-partition",
    400: "insert",
    401: "delete",
    402: "flush",
    1200: "tick",
}
"""Message types of Milvus by number; others are shown as numbers."""


def broker_row(source: str, entry: Mapping[str, Any]) -> Row:
    """A message as a row. Raises ValueError, KeyError or TypeError if it is none."""
    sort = str(entry["type"])
    kind = _KINDS.get(sort.lower(), "broker.ddl")
    place = int(entry["id"])
    rows, segment = entry.get("rows"), entry.get("segment")
    return Row(
        source,
        place,
        kind,
        component="broker",
        node=str(entry.get("source", "")),
        channel=str(entry["topic"]),
        key=entry.get("shard") or None,
        segment=int(segment) if segment else None,
        ts=clamp(int(entry["ts"])),
        rows=None if rows is None else int(rows),
        msg_id=place,
        text=None if kind != "broker.ddl" else sort,
    )


def decode(topic: str, place: int, value: bytes) -> dict[str, Any]:
    """A message of the broker as an entry of ``broker.ndjson``. Raises ValueError if it is none.

    Every message begins with a header (field 1): type (1), timestamp (3), source (4). Inserts and deletes say
    their shard (2) and how many rows they have (14, 11), inserts their segment (9).
    """
    try:
        whole = message(value)
        header = message(piece(whole, 1))
        sort = TYPES.get(number(header, 1), str(number(header, 1)))
        entry = {
            "kind": "broker",
            "topic": topic,
            "id": place,
            "type": sort,
            "ts": number(header, 3),
            "source": number(header, 4),
            "rows": 0,
            "segment": 0,
            "shard": "",
        }
        if sort == "insert":
            entry |= _insert(whole, value)
        elif sort == "delete":
            entry |= {"shard": text(whole, 2), "rows": number(whole, 11)}
    except WireError as error:
        raise ValueError(f"message {place} of {topic} cannot be decoded: {error}") from error
    return entry


def _insert(whole: dict[int, Any], value: bytes) -> dict[str, Any]:
    """Older clients leave the count out and give one timestamp a row (10)."""
    rows = number(whole, 14)
    if not rows:
        stamps = [one for place, one in wire(value) if place == 10]
        # How many numbers a packed list has: each ends with a byte below 128.
        rows = sum(sum(byte < 128 for byte in one) if isinstance(one, bytes) else 1 for one in stamps)
    return {"shard": text(whole, 2), "segment": number(whole, 9), "rows": rows}


def is_rocksdb(folder: Path) -> bool:
    """Is it the folder of a RocksDB?"""
    return (folder / "CURRENT").is_file() and any(folder.glob("MANIFEST-*"))


def rocksmq(folder: Path) -> Iterator[dict[str, Any]]:
    """The messages of RocksMQ's folder, by topic and id. The folder is copied first: reading locks it.

    Raises ImportError if the package ``rocksdict`` is missing (optional extra ``evidence``), ValueError if a
    message cannot be decoded.
    """
    from rocksdict import AccessType, Options, Rdict

    with tempfile.TemporaryDirectory(prefix="tidemark-") as place:
        copy = Path(place) / "broker"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("LOCK"))
        options = Options(raw_mode=True)
        families = {name: options for name in Rdict.list_cf(str(copy), options) if name != "default"}
        store = Rdict(str(copy), options, column_families=families, access_type=AccessType.read_only())
        try:
            for key, value in store.items():
                assert isinstance(key, bytes)
                assert isinstance(value, bytes)
                topic, _, number_ = key.decode("utf-8", "replace").rpartition("/")
                if topic and number_.isdigit():
                    yield decode(topic, int(number_), value)
        finally:
            store.close()


def lines(entries: Iterator[dict[str, Any]]) -> Iterator[str]:
    """Entries as ndjson."""
    for entry in entries:
        yield json.dumps(entry, separators=(",", ":")) + "\n"
