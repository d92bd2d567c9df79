"""Evidence that tests make themselves, in the form in which a real system writes it."""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tidemark.checks.evidence.judge import Finding, judge_evidence
from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.evidence.table.files import find
from tidemark.checks.evidence.table.plain import Evidence, gather

BEGIN = 1_700_000_000_000
"""Unix milliseconds at which all of it begins."""
CHANNEL = "by-dev-rootcoord-dml_0"
SHARD = f"{CHANNEL}_100v0"


def ts(ms: int, logical: int = 0) -> int:
    """A hybrid timestamp so many milliseconds after the beginning."""
    return ((BEGIN + ms) << 18) + logical


def stamp(ms: int) -> str:
    """The time of a log line."""
    at = datetime.fromtimestamp((BEGIN + ms) / 1000, UTC)
    return f"{at:%Y/%m/%d %H:%M:%S}.{at.microsecond // 1000:03d} +00:00"


def quoted(value: object) -> str:
    """A value as the zap text encoder writes it."""
    text = str(value)
    raw = text[:4].isdigit() and text[4:5] == "/"
    if not raw and any(byte <= " " or byte in '\\"[]=' for byte in text):
        return json.dumps(text)
    return text


def line(ms: int, caller: str, message: str, level: str = "INFO", /, **fields: object) -> str:
    """A log line. A double underscore in a name stands for a blank."""
    parts = [f"[{quoted(name.replace('__', ' '))}={quoted(value)}]" for name, value in fields.items()]
    return " ".join([f"[{stamp(ms)}]", f"[{level}]", f"[{caller}]", f"[{quoted(message)}]", *parts])


def buffer(ms: int, segment: int, channel: str = SHARD) -> str:
    return line(
        ms, "datanode/flow_graph_insert_buffer_node.go:286", "segment buffer status",
        segmentID=segment, channel=channel, size=3, limit=262144,
    )  # fmt: skip


def stored(ms: int, at: int, channel: str = SHARD) -> str:
    return line(
        ms, "datacoord/meta.go:1341", "UpdateChannelCheckpoint done",
        vChannel=channel, ts=at, msgID="\u0007\ufffd", time=stamp(ms),
    )  # fmt: skip


def fetched(ms: int, segment: int, at: int, rows: int = 3) -> str:
    return line(
        ms, "pipeline/insert_node.go:80", "pipeline fetch insert msg",
        collectionID=100, segmentID=segment, insertRowNum=rows, timestampMin=at, timestampMax=at,
    )  # fmt: skip


def begun(ms: int, at: int, channel: str = SHARD) -> str:
    return line(
        ms, "pipeline/stream_pipeline.go:79", "stream pipeline seeks from position with msgDispatcher",
        pchannel="by-dev-rootcoord-dml_0", vchannel=channel, checkpointTs=stamp((at >> 18) - BEGIN),
        tsLag="40.47s", elapse="1ms",
    )  # fmt: skip


def flushed(ms: int, segment: int) -> str:
    return line(ms, "datacoord/server.go:1017", "flush segment complete", id=segment)


def message(place: int, kind: str, at: int, **rest: Any) -> dict[str, Any]:
    """A line of ``broker.ndjson``."""
    return {
        "kind": "broker", "topic": CHANNEL, "id": place, "type": kind, "ts": at, "rows": 0, "segment": 0,
        "shard": "", "source": 1, **rest,
    }  # fmt: skip


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def proto(*fields: tuple[int, int | bytes]) -> bytes:
    """A message of numbers and pieces."""
    out = b""
    for place, value in fields:
        if isinstance(value, int):
            out += varint(place << 3) + varint(value)
        else:
            out += varint(place << 3 | 2) + varint(len(value)) + value
    return out


def change(rev: int, key: str, value: bytes = b"", op: str = "put", lease: int = 0) -> dict[str, Any]:
    """A line of ``etcd.ndjson``."""
    text = base64.b64encode(value).decode()
    return {"kind": "etcd", "rev": rev, "op": op, "key": f"by-dev/{key}", "value": text, "lease": lease}


def window(rev: int, ms: int) -> dict[str, Any]:
    return change(rev, "kv/gid/timestamp", ((BEGIN + ms) * 1_000_000).to_bytes(8, "big"))


def checkpoint(rev: int, at: int, place: int = 0, channel: str = SHARD) -> dict[str, Any]:
    value = proto((1, channel.encode()), (2, place.to_bytes(8, "little")), (4, at))
    return change(rev, f"meta/datacoord-meta/channel-cp/{channel}", value)


def segment(rev: int, number: int, state: int, rows: int, at: int, channel: str = SHARD) -> dict[str, Any]:
    value = proto((1, number), (4, channel.encode()), (5, rows), (6, state), (10, proto((4, at))))
    return change(rev, f"meta/datacoord-meta/s/100/101/{number}", value)


def binlog(rev: int, number: int, rows: int, *files: int, field: int = 100) -> dict[str, Any]:
    logs = [(2, proto((1, rows if place == 0 else 0), (6, file))) for place, file in enumerate(files)]
    return change(rev, f"meta/datacoord-meta/binlog/100/101/{number}/{field}", proto((1, field), *logs))


def session(rev: int, name: str, node: int, op: str = "put", version: str = "2.3.5") -> dict[str, Any]:
    value = json.dumps({"ServerID": node, "Version": version}).encode() if op == "put" else b""
    return change(rev, f"meta/session/{name}", value, op=op, lease=7)


def collection(rev: int, number: int, *channels: str, at: int, state: int = 0) -> dict[str, Any]:
    names = [(7, channel.encode()) for channel in channels]
    value = proto((1, number), (3, at), *names, (13, state))
    return change(rev, f"meta/root-coord/database/collection-info/1/{number}", value)


def mark(rev: int, channel: str = SHARD, text: str = "non-removed") -> dict[str, Any]:
    return change(rev, f"meta/datacoord-meta/channel-removal/{channel}", text.encode())


def recovered(rev: int, channel: str = SHARD, state: int = 1, at: int = 0) -> dict[str, Any]:
    key = f"meta/streamingnode-meta/wal/{CHANNEL}/vchannel/{channel}"
    return change(rev, key, proto((1, channel.encode()), (2, state), (4, at)))


def consumed(rev: int, at: int) -> dict[str, Any]:
    return change(rev, f"meta/streamingnode-meta/wal/{CHANNEL}/consume-checkpoint", proto((2, at)))


def dump(rev: int, *changes: dict[str, Any]) -> dict[str, Any]:
    """The last value of each key, as `etcdctl get --prefix "" -w json` prints it."""
    last = {one["key"]: one for one in changes if one["op"] == "put"}
    kvs = [
        {"key": base64.b64encode(key.encode()).decode(), "create_revision": 1, "mod_revision": one["rev"],
         "version": 1, "value": one["value"], "lease": one["lease"]}
        for key, one in last.items()
    ]  # fmt: skip
    return {"header": {"cluster_id": 1, "revision": rev}, "kvs": kvs, "count": len(kvs)}


def op(seq: int, what: str, start: int, **rest: Any) -> dict[str, Any]:
    """A line of a client history. Times are milliseconds."""
    end = rest.pop("end", start + 10)
    given = {
        "kind": "op", "v": 1, "client": "w1", "process": "p0", "seq": seq, "op": what, "collection": "c",
        "level": None, "start": start * 1_000_000, "end": end * 1_000_000, "outcome": "ok", "ts": 0,
        "guarantee": None, "keys": [], "seen": [], "count": None, "error": "",
    }  # fmt: skip
    return given | rest


def write(path: Path, lines: list[Any]) -> Path:
    """Text lines, or objects as ndjson."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines)
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path) -> Evidence:
    return gather(find([folder]))


def judged(folder: Path) -> Finding:
    return judge_evidence(read(folder))


def answers(folder: Path) -> dict[tuple[str, str], Answer]:
    """By monitor and claim."""
    return {(one.monitor, one.property_id): one for one in judged(folder).answers}


def of(folder: Path, monitor: str) -> Answer:
    """The only answer of a monitor."""
    (found,) = [one for (name, _), one in answers(folder).items() if name == monitor]
    return found


def sound(folder: Path) -> Path:
    """A small sound run: logs, store, broker, clients; two segments, one of them flushed."""
    start = line(0, "roles/roles.go:306", "starting running Milvus components")
    lines = [start, buffer(100, 7), fetched(120, 7, ts(110, 3)), stored(900, ts(800)), buffer(950, 8)]
    lines += [flushed(960, 7), fetched(1000, 8, ts(990, 1))]
    write(folder / "logs" / "standalone.log", lines)
    store = [session(2, "rootcoord", 1), mark(2), collection(2, 100, SHARD, at=ts(50)), window(3, 3000)]
    store += [
        segment(4, 7, 2, 0, 0),
        binlog(5, 7, 3, 41),
        segment(5, 7, 4, 3, ts(500)),
        checkpoint(6, ts(800), 4),
        window(7, 6000),
    ]
    write(folder / "etcd.ndjson", store)
    log = [message(0, "tick", ts(100)), message(1, "insert", ts(110, 3), rows=3, segment=7, shard=SHARD)]
    log += [message(2, "tick", ts(500)), message(3, "tick", ts(500)), message(4, "tick", ts(800))]
    log += [message(5, "insert", ts(990, 1), rows=3, segment=8, shard=SHARD), message(6, "tick", ts(1000))]
    write(folder / "broker.ndjson", log)
    write(folder / "history-w1.ndjson", history())
    return folder


def history() -> list[dict[str, Any]]:
    """Ten rows, of which one is deleted; reads at every level."""
    everything = [[1, 10]]
    return [
        op(0, "insert", 100, keys=everything, ts=ts(101, 1)),
        op(1, "query", 200, level="Strong", keys=everything, seen=everything),
        op(2, "delete", 300, keys=[[4, 4]], ts=ts(301, 1)),
        op(3, "query", 6000, level="Strong", keys=everything, seen=[[1, 3], [5, 10]]),
        op(4, "query", 6100, level="Session", keys=everything, seen=[[1, 3], [5, 10]]),
        op(5, "query", 6200, level="Bounded", keys=everything, seen=[[1, 3], [5, 10]]),
        op(6, "count", 6300, level="Strong", count=9),
    ]
