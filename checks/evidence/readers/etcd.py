"""The write history of the store: a saved one, line by line, or a live one through the HTTP gateway.

What is decoded: the oracle's windows, channel checkpoints, segments, binlogs, sessions, schema snapshots,
channel owners. Everything has one total order: the revision.
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


class GatewayError(OSError):
    """The store does not answer, or has thrown the beginning of its history away."""


def etcd_row(source: str, entry: Mapping[str, Any]) -> Row:
    """One change as a row. Raises ValueError, KeyError or TypeError if it is none."""
    key, revision = str(entry["key"]), int(entry["rev"])
    operation = str(entry.get("op") or entry.get("type") or "put").lower()
    lease = entry.get("lease")
    head = Row(source, revision, "etcd.other", component="etcd", key=key, seq=int(lease) if lease else None)
    if operation == "delete":
        kind = "etcd.session_end" if "/session/" in key else "etcd.other"
        return head._replace(kind=kind, text="delete")
    try:
        value = base64.b64decode(str(entry.get("value") or ""), validate=True)
        return _decoded(head, key, value)
    except (binascii.Error, WireError) as error:
        raise ValueError(f"the value of {key} cannot be decoded: {error}") from error


def _decoded(head: Row, key: str, value: bytes) -> Row:
    for marker, decode in _DECODERS:
        at = key.find(marker)
        if at >= 0:
            return decode(head, key[at + len(marker) :], value)
    snapshot = _SNAPSHOT.search(key)
    if snapshot and "/snapshots/" in key:
        return head._replace(kind="etcd.ddl", ts=clamp(int(snapshot[1])))
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
        text=STATES[state] if state < len(STATES) else str(state),
        ts=clamp(number(end, 4)),
        ts2=clamp(number(start, 4)),
        msg_id=message_id(piece(end, 2)),
        value='{"compaction":true}' if number(found, 14) else None,
    )


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
)


def watch(address: str, *, seconds: float = 4.0) -> Iterator[dict[str, Any]]:
    """The whole history of a live store, in the form of a saved one, until nothing came for ``seconds``.

    ``address`` is that of the gateway, for example ``http://127.0.0.1:2379``. Raises GatewayError if nothing
    answers or the first revisions are gone.
    """
    everything = {"key": "AA==", "range_end": "AA==", "start_revision": "1"}
    body = json.dumps({"create_request": everything}).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"{address.rstrip('/')}/v3/watch", data=body)  # noqa: S310 - http
    try:
        with opener.open(request, timeout=seconds) as answer:
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
        raise GatewayError(f"the store at {address} has dropped its history up to revision {gone}")
    for event in result.get("events", ()):
        kept = event["kv"]
        yield {
            "kind": "etcd",
            "rev": int(kept["mod_revision"]),
            "op": str(event.get("type", "PUT")).lower(),
            "key": base64.b64decode(kept["key"]).decode("utf-8", "replace"),
            "value": kept.get("value", ""),
            "lease": int(kept.get("lease", 0)),
        }
