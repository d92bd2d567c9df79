r"""Which log lines matter, and which column each of their fields fills.

One rule a message. Names of fields differ between versions, so that a column may have several; the first one
present counts. Lines are those of 2.2 to 3.1; the facts about each stand in ``docs/evidence.md``.

The fields of one Milvus log line: ``[key=value]`` groups, quoted where they have to be.

Source of the format: the zap text encoder of Milvus. A name or value is quoted if it holds a blank or one of
``\ " [ ] =``, and then escaped as in JSON; times and durations are written raw although they hold blanks.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from tidemark.checks.evidence.symptoms import KIND, SYMPTOMS
from tidemark.checks.evidence.table.schema import COLUMNS, Row, clamp, hybrid

_GROUP = re.compile(rb'\[(?:"((?:[^"\\]|\\.)*)"|([^\]="]*))=(?:"((?:[^"\\]|\\.)*)"|([^\]]*))\]')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_NUMBER = re.compile(rb"-?\d+\Z")

Fields = dict[bytes, bytes]


def fields(rest: bytes) -> Fields:
    """Name -> value as it is written, without its quotes; of a name that comes twice the first value."""
    groups = _GROUP.findall(rest)
    groups.reverse()  # the last one that is put in stays
    return {quoted_name or name: quoted or value for quoted_name, name, quoted, value in groups}


def unescape(value: bytes) -> str:
    """A quoted value as text. Bytes that are no UTF-8 become the replacement character."""
    text = value.decode("utf-8", "replace")
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(found: re.Match[str]) -> str:
    code, plain = found.groups()
    return chr(int(code, 16)) if code else _PLAIN.get(plain, plain)


def integer(value: bytes | None) -> int | None:
    """A whole number, at most the largest that a column holds; None if it is none."""
    if value is None or not (value.isdigit() or _NUMBER.match(value)):
        return None
    return clamp(int(value))


def timestamp(value: bytes | None) -> int | None:
    """A hybrid timestamp, from a number or from a time (whose counter is not known and given as 0)."""
    if value is None:
        return None
    number = integer(value)
    if number is not None:
        return number
    at = milliseconds(value)
    return None if at is None else hybrid(at)


def milliseconds(value: bytes) -> int | None:
    """Unix milliseconds of ``2006/01/02 15:04:05.000 -07:00``; None if it is no such time, 0 before 1970."""
    if len(value) < 23 or value[4:5] != b"/":
        return None
    minute = _minute(value[:17], value[23:].strip())
    if minute is None:
        return None
    try:
        return max(0, minute + int(float(value[17:23]) * 1000 + 0.5))
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _minute(value: bytes, zone: bytes) -> int | None:
    """Unix milliseconds of a minute: lines of one minute follow each other."""
    if value.startswith(b"0001"):
        return -(1 << 40)
    text = value.decode("ascii", "replace") + "00 " + (zone.decode("ascii", "replace") or "+00:00")
    try:
        return int(datetime.strptime(text, "%Y/%m/%d %H:%M:%S %z").timestamp()) * 1000
    except ValueError:
        return None


def listed(value: bytes | None) -> list[str]:
    """The items of ``[a,b]`` or ``[a b]``."""
    if value is None:
        return []
    text = unescape(value).strip("[] ")
    return [part for part in re.split(r"[ ,]+", text) if part]


def parsed(value: bytes | None) -> object:
    """A quoted JSON value; None if it is none."""
    if value is None:
        return None
    try:
        loaded: object = json.loads(unescape(value))
    except ValueError:
        return None
    return loaded


_POSITION = re.compile(r"timestamp:(\d+)")
_SESSION = re.compile(rb"session (\d+)")
_TERM = re.compile(r"(.+?)(?::r[wo])?@(\d+)\Z")
_TYPE = re.compile(r"\btype\W+(\w+)")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """From the fields of a message to columns. Column names map to the names that a field may have."""

    kind: str
    integers: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    timestamps: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    texts: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    of: str
    """The component that writes the line."""
    since: str = "2.2"
    """The first version with such a line, as far as it is known."""
    needs: tuple[str, ...] = ()
    """Columns without which the line is damaged."""
    fixed: dict[str, str] = field(default_factory=dict)
    each: tuple[str, tuple[bytes, ...]] | None = None
    """A column, and the field with the list of which every item is an event of its own."""
    further: Callable[[Fields], dict[str, object] | None] | None = None
    """What else it takes; None if the line does not matter."""

    @cached_property
    def fills(self) -> tuple[tuple[int, tuple[bytes, ...], Callable[[bytes], object]], ...]:
        """Number of a column, names of its field, and what makes the value."""
        sorts: tuple[tuple[dict[str, tuple[bytes, ...]], Callable[[bytes], object]], ...] = (
            (self.integers, integer),
            (self.timestamps, timestamp),
            (self.texts, unescape),
        )
        return tuple(
            (COLUMNS[column], names, read) for named, read in sorts for column, names in named.items()
        )

    @cached_property
    def needed(self) -> tuple[int, ...]:
        """Numbers of the columns of ``needs``."""
        return tuple(COLUMNS[name] for name in self.needs)


def apply(rule: Rule, found: Fields, row: list[Any]) -> list[Row] | None:
    """The events of a line, of which ``row`` has what its head says; None if it is damaged: a field that
    it must have is missing.
    """
    for column, text in rule.fixed.items():
        row[COLUMNS[column]] = text
    for place, names, read in rule.fills:
        for name in names:
            value = found.get(name)
            if value is not None:
                row[place] = read(value)
                break
    if rule.further is not None:
        more = rule.further(found)
        if more is None:
            return []
        for column, given in more.items():
            row[COLUMNS[column]] = given
    for place in rule.needed:
        if row[place] is None:
            return None
    if rule.each is None:
        return [Row._make(row)]
    column, names = rule.each
    return _each(row, column, listed(next((found[name] for name in names if name in found), None)))


def _each(row: list[Any], column: str, items: list[str]) -> list[Row]:
    made: list[Row] = []
    number = column == "segment"
    for item in items:
        if not number or item.isdigit():
            row[COLUMNS[column]] = int(item) if number else item
            made.append(Row._make(row))
    return made


def _position(found: Fields) -> dict[str, object]:
    hit = _POSITION.search(unescape(found.get(b"position", b"")))
    return {
        "ts": int(hit[1]) if hit else None,
        "text": "flush" if found.get(b"flushed") == b"true" else "part",
    }


def _saved(found: Fields) -> dict[str, object]:
    """Positions and row counts of a save: those of the segment itself, and where others begin."""
    segment = integer(found.get(b"segmentID"))
    given: dict[str, object] = {"text": "flush" if found.get(b"isFlush") == b"true" else "part"}
    listing = parsed(found.get(b"checkpoints"))
    for item in listing if isinstance(listing, list) else []:
        position = item.get("position") or {}
        if item.get("segmentID") == segment:
            given["ts"] = position.get("timestamp")
            given["rows"] = item.get("num_of_rows")
            given["channel"] = position.get("channel_name")
    return given


def _session(found: Fields) -> dict[str, object]:
    value = parsed(found.get(b"value"))
    if not isinstance(value, dict):
        return {}
    version, server = value.get("Version"), value.get("ServerID")
    return {
        "text": version if isinstance(version, str) else None,
        "node": str(server) if isinstance(server, int) else None,
    }


def _refused(found: Fields) -> dict[str, object] | None:
    hit = _SESSION.search(found.get(b"error", b""))
    return None if hit is None else {"node": hit[1].decode()}


def _with_flush_timestamp(found: Fields) -> dict[str, object] | None:
    """Up to 2.3.0 a flush has no timestamp; no claim speaks of that."""
    return {} if b"flushTs" in found else None


def _of_term(found: Fields) -> dict[str, object]:
    """The physical channel and its term: ``by-dev-rootcoord-dml_0:rw@8``."""
    channel = unescape(found.get(b"channel", b""))
    hit = _TERM.match(channel)
    return {"channel": hit[1], "seq": int(hit[2])} if hit else {"channel": channel or None, "seq": 0}


def _appended(found: Fields) -> dict[str, object]:
    """The channel, its term, and the message's type."""
    kind = _TYPE.search(unescape(found.get(b"message", b"")))
    return _of_term(found) | {"text": kind[1] if kind else None}


_CHANNEL = (b"vChannel", b"channel", b"vchannel", b"vChannelName", b"channelName")
_FLUSH_STATE = b"DataCoord receive GetFlushState request, Flushed is "
_SEEK = {
    b"channel seek position set from channel checkpoint meta": "seek.checkpoint",
    b"channel seek position set from collection start position": "seek.other",
    b"channel seek position set from segment position": "seek.other",
    b"channel seek position set as the minimal segment position": "seek.other",
    b"segment position not found, setting channel seek position to channel start position": "seek.other",
}

RULES: dict[bytes, Rule] = {
    **{
        message: Rule(kind=KIND, of="any", texts={"channel": _CHANNEL}, fixed={"text": one.name})
        for one in SYMPTOMS
        for message in one.messages
    },
    b"starting running Milvus components": Rule(kind="server.start", of="every role"),
    b"Proxy disconnected from etcd, process will exit": Rule(kind="server.exit", of="every role"),
    b"session key is deleted, exit...": Rule(kind="server.exit", of="every role"),
    b"put session key into etcd": Rule(
        kind="session.put", of="every role", texts={"key": (b"key",)}, needs=("key",), further=_session
    ),
    b"Add session for timeticksync": Rule(
        kind="session.add",
        of="root coordinator",
        texts={"node": (b"serverID", b"serverIDs")},
        needs=("node",),
    ),
    b"Remove session from timeticksync": Rule(
        kind="session.remove", of="root coordinator", texts={"node": (b"serverID",)}, needs=("node",)
    ),
    b"failed to updateTimeTick": Rule(kind="report.refused", of="root coordinator", further=_refused),
    b"timestamp go back": Rule(
        kind="tick.back",
        of="root coordinator",
        since="2.0",
        texts={"node": (b"source id",)},
        timestamps={"ts2": (b"prev ts",), "ts": (b"curr ts",)},
        needs=("ts", "ts2"),
    ),
    b"sync and save timestamp": Rule(
        kind="tso.init",
        of="root coordinator",
        timestamps={"seq": (b"last",), "ts2": (b"save",), "ts": (b"next",)},
        needs=("ts", "ts2", "seq"),
    ),
    b"clock offset is huge, check network latency and clock skew": Rule(
        kind="tso.lag",
        of="root coordinator",
        timestamps={"ts2": (b"prev-physical",), "ts": (b"now",)},
        needs=("ts", "ts2"),
    ),
    b"send insert request to virtual channels": Rule(
        kind="task.insert", of="proxy", integers={"ts": (b"task_id",)}, needs=("ts",)
    ),
    b"Proxy dmTaskQueue popPChanStats": Rule(
        kind="task.pop", of="proxy", integers={"ts": (b"taskID",)}, needs=("ts",)
    ),
    b"received query request": Rule(
        kind="read.query",
        of="query node",
        integers={"ts2": (b"guaranteeTimestamp",), "ts": (b"mvccTimestamp",)},
        needs=("ts2",),
        each=("channel", (b"shards", b"channels", b"dmlChannels", b"vChannels")),
    ),
    b"pipeline fetch insert msg": Rule(
        kind="fetch.insert",
        of="query node",
        integers={
            "segment": (b"segmentID",),
            "rows": (b"insertRowNum",),
            "ts": (b"timestampMin",),
            "ts2": (b"timestampMax",),
        },
        texts={"key": (b"collectionID",)},
        needs=("segment", "ts"),
    ),
    b"pipeline fetch delete msg": Rule(
        kind="fetch.delete",
        of="query node",
        integers={"rows": (b"insertRowNum",), "ts": (b"timestampMin",), "ts2": (b"timestampMax",)},
        texts={"key": (b"collectionID",)},
        needs=("ts",),
    ),
    b"start to process delete": Rule(
        kind="tsafe.next",
        of="query node",
        integers={"ts": (b"ts",)},
        texts={"channel": (b"channel",), "key": (b"replicaID",)},
        needs=("ts", "channel"),
    ),
    b"add tSafe done": Rule(
        kind="tsafe.start",
        of="query node",
        timestamps={"ts": (b"timestamp",)},
        texts={"channel": (b"channel",)},
        needs=("ts", "channel"),
    ),
    b"segment buffer status": Rule(
        kind="segment.buffer",
        of="data node",
        integers={"segment": (b"segmentID",), "rows": (b"size",)},
        texts={"channel": (b"channel",)},
        needs=("segment", "channel"),
    ),
    b"adding segment": Rule(
        kind="segment.add",
        of="data node",
        integers={"segment": (b"segmentID",), "ts": (b"recoverTs",)},
        texts={"channel": (b"channel",), "text": (b"type",)},
        needs=("segment", "channel"),
    ),
    b"meta update: setting segment state - complete": Rule(
        kind="segment.state",
        of="data coordinator",
        integers={"segment": (b"segmentID", b"segment ID")},
        texts={"text": (b"target state",)},
        needs=("segment", "text"),
    ),
    b"flush segment complete": Rule(
        kind="segment.flushed",
        of="data coordinator",
        integers={"segment": (b"id", b"segmentID")},
        needs=("segment",),
    ),
    b"meta update: update flush segments info - update flush segments info successfully": Rule(
        kind="segment.saved",
        of="data coordinator",
        integers={"segment": (b"segmentID", b"segment ID")},
        needs=("segment",),
    ),
    b"meta update: alter in memory meta after compaction - complete": Rule(
        kind="segment.compacted", of="data coordinator", each=("segment", (b"compact from segment IDs",))
    ),
    b"flush response with segments": Rule(
        kind="flush.order",
        of="data coordinator",
        timestamps={"ts": (b"flushTs",)},
        texts={"key": (b"collectionID",)},
        needs=("ts",),
        each=("segment", (b"sealSegments",)),
        further=_with_flush_timestamp,
    ),
    b"DataNode receives FlushChannels request": Rule(
        kind="flush.deliver",
        of="data node",
        timestamps={"ts": (b"flushTs",)},
        needs=("ts",),
        each=("channel", (b"channels",)),
    ),
    b"receive manual flush message": Rule(
        kind="flush.deliver",
        of="data node",
        since="2.6",
        timestamps={"ts": (b"flushTs",)},
        texts={"channel": _CHANNEL},
        needs=("ts",),
    ),
    b"reset channel flushTs": Rule(
        kind="flush.reset", of="data node", texts={"channel": _CHANNEL}, needs=("channel",)
    ),
    b"GetFlushState all flushed": Rule(
        kind="flush.state",
        of="data coordinator",
        timestamps={"ts": (b"flushTs",)},
        texts={"key": (b"collection", b"collectionID")},
        fixed={"text": "done"},
        needs=("ts", "key"),
    ),
    **{
        _FLUSH_STATE + answer: Rule(
            kind="flush.state",
            of="data coordinator",
            timestamps={"ts": (b"flushTs",)},
            integers={"rows": (b"len",)},
            texts={"key": (b"collection", b"collectionID")},
            fixed={"text": text},
            needs=("ts", "key"),
            further=_with_flush_timestamp,
        )
        for answer, text in ((b"false", "open"), (b"true", "done"))
    },
    b"insertBufferNode start syncing bufferData": Rule(
        kind="sync.start",
        of="data node",
        integers={"segment": (b"segmentID",)},
        texts={"channel": (b"channel",)},
        needs=("segment", "channel", "ts"),
        further=_position,
    ),
    b"receive SaveBinlogPaths request": Rule(
        kind="save.receive",
        of="data coordinator",
        integers={"segment": (b"segmentID",)},
        texts={"node": (b"nodeID",), "key": (b"collectionID",)},
        needs=("segment",),
        further=_saved,
    ),
    b"UpdateChannelCheckpoint done": Rule(
        kind="checkpoint.store",
        of="data coordinator",
        timestamps={"ts": (b"ts",)},
        texts={"channel": _CHANNEL},
        needs=("ts", "channel"),
    ),
    b"UpdateChannelCheckpoint success": Rule(
        kind="checkpoint.answer",
        of="data node",
        timestamps={"ts": (b"cpTs",)},
        texts={"channel": _CHANNEL},
        needs=("ts", "channel"),
    ),
    **{
        message: Rule(
            kind=kind,
            of="data coordinator",
            timestamps={"ts": (b"posTs",)},
            texts={"channel": _CHANNEL},
            fixed={} if kind == "seek.checkpoint" else {"text": message.decode()},
            needs=("ts", "channel"),
        )
        for message, kind in _SEEK.items()
    },
    **{
        message: Rule(
            kind="wal.append",
            of="streaming node",
            since="2.5",
            texts={"key": (b"messageID", b"message_id")},
            timestamps={"ts": (b"timetick", b"time_tick")},
            needs=("channel", "ts", "key", "text"),
            further=_appended,
        )
        for message in (b"append message into wal", b"append message into wal too slow")
    },
    b"persist dirty snapshot": Rule(
        kind="wal.checkpoint",
        of="recovery storage",
        since="2.6",
        texts={"key": (b"checkpoint",)},
        timestamps={"ts": (b"checkpointTimeTick",)},
        needs=("channel", "ts"),
        further=_of_term,
    ),
    b"recover checkpoint done": Rule(
        kind="seek.other",
        of="recovery storage",
        since="2.6",
        timestamps={"ts": (b"timetick",)},
        fixed={"text": "recovery storage"},
        needs=("channel", "ts"),
        further=_of_term,
    ),
    b"stream pipeline seeks from position with msgDispatcher": Rule(
        kind="seek.pipeline",
        of="query node",
        timestamps={"ts": (b"checkpointTs",)},
        texts={"channel": (b"vchannel", b"vChannel", b"channel")},
        needs=("ts", "channel"),
    ),
}
"""Message -> rule."""
