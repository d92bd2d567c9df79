"""The write history of the store: a saved one, line by line, or a live one through the HTTP gateway.

What is decoded: the oracle's windows, channel checkpoints, segments, binlogs, sessions, schema snapshots,
channel owners, collections, and what streaming nodes recover. Everything has one total order: the revision.
A dump has the last value of each key.
"""

import base64
import binascii
import json
import re
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tidemark.checks.evidence.readers.protobuf import (
    WireError,
    message,
    message_id,
    number,
    piece,
    text,
    wire,
)
from tidemark.checks.evidence.table.schema import Row, clamp, hybrid

STATES = ("none", "absent", "Growing", "Sealed", "Flushed", "Flushing", "Dropped", "Importing")
"""Segment states by number."""

_SNAPSHOT = re.compile(r"_ts(\d+)$")
_TOMBSTONE = "⛼".encode()
"""What the root coordinator stores in place of a value that it removes."""
_COLLECTION_STATES = ("Created", "Creating", "Dropping", "Dropped")
_CHANNEL_STATES = ("UNKNOWN", "NORMAL", "DROPPED")
_OWNED = ("UNKNOWN", "UNINITIALIZED", "ASSIGNING", "ASSIGNED", "UNAVAILABLE")


class GatewayError(OSError):
    """The store does not answer, or does not give what is asked for."""


def etcd_row(source: str, entry: Mapping[str, Any]) -> Row:
    """One change as a row. Raises ValueError, KeyError or TypeError if it is none."""
    key, revision = str(entry["key"]), int(entry["rev"])
    operation = str(entry.get("op") or entry.get("type") or "put").lower()
    lease = entry.get("lease")
    head = Row(source, revision, "etcd.other", component="etcd", key=key, seq=int(lease) if lease else None)
    if operation == "snapshot":
        return head._replace(kind="etcd.snapshot", rows=int(entry["rows"]))
    if operation == "delete":
        kind = "etcd.session_end" if "/session/" in key else "etcd.other"
        return head._replace(kind=kind, text="delete")
    try:
        value = base64.b64decode(str(entry.get("value") or ""), validate=True)
        if value == _TOMBSTONE:
            return head._replace(text="delete")
        return _decoded(head, key, value)
    except (binascii.Error, WireError) as error:
        raise ValueError(f"the value of {key} cannot be decoded: {error}") from error


def _decoded(head: Row, key: str, value: bytes) -> Row:
    snapshot = _SNAPSHOT.search(key)
    if snapshot and "/snapshots/" in key:
        return head._replace(kind="etcd.ddl", ts=clamp(int(snapshot[1])))
    for marker, decode in _DECODERS:
        at = key.find(marker)
        if at >= 0:
            return decode(head, key[at + len(marker) :], value)
    return head


def _window(head: Row, _rest: str, value: bytes) -> Row:
    if len(value) != 8:
        raise ValueError(f"the saved window {head.key} has {len(value)} bytes, not 8")
    end = int.from_bytes(value, "big")
    return head._replace(
        kind="etcd.window" if (head.key or "").endswith("/timestamp") else "etcd.allocator",
        ts=hybrid(end // 1_000_000),
        at=end // 1_000_000,
    )


def _checkpoint(head: Row, rest: str, value: bytes) -> Row:
    found = message(value)
    return head._replace(
        kind="etcd.checkpoint", channel=rest, ts=clamp(number(found, 4)), msg_id=message_id(piece(found, 2))
    )


def _segment(head: Row, _rest: str, value: bytes) -> Row:
    found = message(value)
    state = number(found, 6)
    start, end = message(piece(found, 9)), message(piece(found, 10))
    return head._replace(
        kind="etcd.segment",
        segment=number(found, 1),
        channel=text(found, 4),
        rows=number(found, 5),
        text=_named(STATES, state),
        ts=clamp(number(end, 4)),
        ts2=clamp(number(start, 4)),
        msg_id=message_id(piece(end, 2)),
        value='{"compaction":true}' if number(found, 14) else None,
    )


def _named(names: tuple[str, ...], state: int) -> str:
    return names[state] if state < len(names) else str(state)


def _binlog(sort: str) -> Callable[[Row, str, bytes], Row]:
    def decode(head: Row, rest: str, value: bytes) -> Row:
        files = [message(one) for place, one in wire(value) if place == 2 and isinstance(one, bytes)]
        parts = rest.split("/")
        segment = int(parts[2]) if len(parts) > 2 and parts[2].isdigit() else None
        paths = [text(one, 4) or str(number(one, 6)) for one in files]
        return head._replace(
            kind="etcd.binlog",
            segment=segment,
            key=parts[-1],
            text=sort,
            rows=sum(number(one, 1) for one in files),
            ts=clamp(min((number(one, 2) for one in files), default=0)),
            ts2=clamp(max((number(one, 3) for one in files), default=0)),
            value=json.dumps(paths),
        )

    return decode


def _session(head: Row, rest: str, value: bytes) -> Row:
    if rest == "id":
        return head
    try:
        found = json.loads(value)
    except ValueError as error:
        raise ValueError(f"the session {rest} is not JSON: {error}") from error
    return head._replace(
        kind="etcd.session", node=str(found.get("ServerID", "")), text=str(found.get("Version", ""))
    )


def _watch(head: Row, rest: str, _value: bytes) -> Row:
    node = rest.split("/", maxsplit=1)[0]
    return head._replace(kind="etcd.watch", node=node, channel=rest.rpartition("/")[2])


def _collection(head: Row, _rest: str, value: bytes) -> Row:
    found = message(value)
    channels = [one.decode() for place, one in wire(value) if place == 7 and isinstance(one, bytes)]
    return head._replace(
        kind="etcd.collection",
        text=_named(_COLLECTION_STATES, number(found, 13)),
        ts=clamp(number(found, 3)),
        value=json.dumps(channels),
    )


def _mark(head: Row, rest: str, value: bytes) -> Row:
    return head._replace(kind="etcd.mark", channel=rest, text=value.decode("utf-8", "replace"))


def _recovery(head: Row, rest: str, value: bytes) -> Row:
    """A streaming node keeps of a log ``PCHANNEL/vchannel/VCHANNEL`` and ``PCHANNEL/consume-checkpoint``."""
    parts, found = rest.split("/"), message(value)
    if parts[1:] == ["consume-checkpoint"]:
        return head._replace(kind="etcd.consumed", channel=parts[0], ts=clamp(number(found, 2)))
    if len(parts) == 3 and parts[1] == "vchannel":
        state = _named(_CHANNEL_STATES, number(found, 2))
        return head._replace(kind="etcd.vchannel", channel=parts[2], text=state, ts=clamp(number(found, 4)))
    return head


def _assigned(head: Row, rest: str, value: bytes) -> Row:
    found = message(value)
    return head._replace(
        kind="etcd.pchannel",
        channel=rest,
        node=str(number(message(piece(found, 2)), 1)),
        seq=number(message(piece(found, 1)), 2),
        text=_named(_OWNED, number(found, 3)),
    )


_DECODERS: tuple[tuple[str, Callable[[Row, str, bytes], Row]], ...] = (
    ("/kv/gid/timestamp", _window),
    ("idTimestamp", _window),
    ("/channel-cp/", _checkpoint),
    ("/datacoord-meta/s/", _segment),
    ("/datacoord-meta/binlog/", _binlog("insert")),
    ("/datacoord-meta/deltalog/", _binlog("delta")),
    ("/datacoord-meta/statslog/", _binlog("stats")),
    ("/session/", _session),
    ("/channelwatch/", _watch),
    ("/root-coord/database/collection-info/", _collection),
    ("/root-coord/collection/", _collection),
    ("/datacoord-meta/channel-removal/", _mark),
    ("/streamingnode-meta/wal/", _recovery),
    ("/streamingcoord-meta/pchannel/", _assigned),
)


def dumped(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The keys of a dump (``etcdctl get --prefix "" -w json``), and last its revision, as changes."""
    kept = document["kvs"]
    for one in kept:
        yield _change(one, "put")
    if not kept:
        return
    revision = document.get("header", {}).get("revision") or max(int(one["mod_revision"]) for one in kept)
    yield {"kind": "etcd", "rev": int(revision), "op": "snapshot", "key": "", "rows": len(kept)}


def _change(kept: Mapping[str, Any], operation: str) -> dict[str, Any]:
    return {
        "kind": "etcd",
        "rev": int(kept["mod_revision"]),
        "op": operation,
        "key": base64.b64decode(kept["key"]).decode("utf-8", "replace"),
        "value": kept.get("value", ""),
        "lease": int(kept.get("lease", 0)),
    }


def _asked(address: str, what: str, body: Mapping[str, Any], seconds: float) -> Any:
    """An answer of the gateway, to be read and closed."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    url, data = f"{address.rstrip('/')}/v3/{what}", json.dumps(body).encode()
    return opener.open(urllib.request.Request(url, data=data), timeout=seconds)  # noqa: S310 - http


_EVERYTHING = {"key": "AA==", "range_end": "AA=="}


def dump(address: str, *, seconds: float = 60.0) -> Iterator[dict[str, Any]]:
    """What stands in a live store, as ``dumped`` gives it. Raises GatewayError if nothing answers."""
    try:
        with _asked(address, "kv/range", _EVERYTHING, seconds) as answer:
            yield from dumped({"kvs": [], **json.load(answer)})
    except OSError as error:
        raise GatewayError(f"the store at {address} does not answer: {error}") from error


class ForgottenError(GatewayError):
    """The beginning of the history is gone; what stands is there."""


def watch(address: str, *, seconds: float = 4.0) -> Iterator[dict[str, Any]]:
    """The whole history of a live store, in the form of a saved one, until nothing came for ``seconds``.

    ``address`` is that of the gateway, for example ``http://127.0.0.1:2379``. Raises GatewayError if nothing
    answers, ForgottenError if the first revisions are gone.
    """
    request = {"create_request": {**_EVERYTHING, "start_revision": "1"}}
    try:
        with _asked(address, "watch", request, seconds) as answer:
            for line in answer:
                yield from _changes(json.loads(line), address)
    except TimeoutError:
        return
    except OSError as error:
        if isinstance(error, GatewayError):
            raise
        raise GatewayError(f"the store at {address} does not answer: {error}") from error


def _changes(message_: Mapping[str, Any], address: str) -> Iterator[dict[str, Any]]:
    result = message_.get("result", {})
    gone = result.get("compact_revision")
    if gone:
        raise ForgottenError(f"the store at {address} has dropped its history up to revision {gone}")
    for event in result.get("events", ()):
        yield _change(event["kv"], str(event.get("type", "PUT")).lower())
