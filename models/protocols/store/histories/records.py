"""What the users of each store of records do: in SQLite, etcd and memory."""

from __future__ import annotations

import json
from dataclasses import replace

from tidemark.impl.storage.etcd_client import encode
from tidemark.impl.types import (
    BinlogRecord,
    ChannelRecord,
    Compaction,
    EndPosition,
    FlushRequest,
    Row,
    SegmentRecord,
)
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.messages import InsertMessage
from tidemark.models.protocols.store.histories.contracts import Raised
from tidemark.models.protocols.store.histories.faults import DAMAGE, ERROR, FAIL, GARBAGE, LIST, LOSE
from tidemark.models.protocols.store.histories.program import Script

# ---- SQLite ----

_INSERT = InsertMessage(3, "c", (Row(3, 1, 2, "v"),))

_CHANNEL = ChannelRecord(
    "a",
    5,
    assigned_to="n1",
    last_owner="n2",
    term=3,
    session=4,
    flush_requests=(FlushRequest(7, (1, 2)), FlushRequest(8, ())),
)
_OTHER = ChannelRecord("b", 6, term=1, dropped=True)
_COLLECTED = ChannelRecord("a", 9, term=5, dropped=True, collected=True)


def _segment(number: int, binlogs: int, *, flushed: bool = False, dropped: bool = False) -> SegmentRecord:
    logs = tuple(BinlogRecord(f"s{number}/{place}", (place, place + 1)) for place in range(binlogs))
    return SegmentRecord(
        number, "a", EndPosition(10 + binlogs), flushed=flushed, dropped=dropped, binlogs=logs
    )


_COMPACTED = replace(
    _segment(3, 2),
    compaction=Compaction(
        applied=("l0/4", "l0/5"), deltas=(BinlogRecord("d1", (6, 7)), BinlogRecord("d2", ())), start=9
    ),
)
METADATA: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("load",),
                    ("save_channels", (_CHANNEL, _OTHER)),
                    ("save_segment", _segment(1, 2)),
                    ("save_segment", _segment(2, 0, dropped=True)),
                    ("load",),
                    ("save_segment", _segment(1, 3, flushed=True)),
                    ("save_segment", _segment(3, 3)),
                    ("replace_segment", _COMPACTED),
                    ("load",),
                    ("collect", _COLLECTED, (1, 2)),
                    ("load",),
                    ("collect", _COLLECTED, (3,)),
                    ("load",),
                    ("close",),
                    ("load",),
                ),
            ),
        ),
        "faults": (FAIL, LOSE, DAMAGE),
        "places": 90,
    },
)
_BY_ANOTHER = (("damaged", "load"), ("damaged", "load"))
METADATA_OF_ANOTHER_VERSION: tuple[Script, ...] = tuple(
    {"given": (f"PRAGMA user_version = {version}",), "users": (("w", _BY_ANOTHER),)} for version in (5, 7)
)
METADATA_POWER: tuple[Script, ...] = (
    {
        "users": (("w", (("save_channels", (_CHANNEL, _OTHER)), ("save_segment", _segment(1, 2)))),),
        "after": (("w", (("load",), ("collect", _COLLECTED, (1,)), ("load",))),),
    },
)
CANCELLED: tuple[Script, ...] = (
    {
        "users": (
            ("w", (("save_channels", (_CHANNEL, _OTHER)), ("save_segment", _segment(1, 1)), ("load",))),
        ),
    },
)

CLOSED: tuple[Script, ...] = (
    {"users": (("w", (("save_channels", (_CHANNEL, _OTHER)), ("load",))), ("w", (("close",), ("load",))))},
)
"""One user closes the file while another uses it."""

_FIRST = CollectionVersion("one", 4, "x: int", number=1, created=11, channels=("x_1v0", "y_1v1"), changed=12)
_SECOND = CollectionVersion("two", 5, "", number=2, created=13)
_CHANGED = CollectionVersion("one", 6, "y: int", number=3, created=14, channels=("x_3v0",), gone=True)
CATALOGUE: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("reserve", 10),
                    ("load",),
                    ("save", _SECOND),
                    ("save", _FIRST),
                    ("load",),
                    ("save", _CHANGED),
                    ("load",),
                    ("reserve", 3),
                    ("close",),
                    ("reserve", 1),
                    ("load",),
                ),
            ),
        ),
        "faults": (FAIL, LOSE),
        "places": 54,
    },
)
CATALOGUE_AT_ONCE: tuple[Script, ...] = (
    {
        "users": (
            ("w", (("reserve", 2), ("load",))),
            ("w", (("save", _FIRST), ("reserve", 4))),
        ),
    },
)
CATALOGUE_POWER: tuple[Script, ...] = (
    {
        "users": (("w", (("reserve", 10), ("save", _FIRST))),),
        "after": (("w", (("reserve", 1), ("load",))),),
    },
)

RELEASES: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("load",),
                    *(("add", number) for number in (12, 3, 12, 7)),
                    ("load",),
                    ("discard", 3),
                    ("discard", 5),
                    ("load",),
                    ("close",),
                    ("load",),
                    ("close",),
                ),
            ),
        ),
        "faults": (FAIL, LOSE),
        "places": 40,
    },
)
RELEASES_POWER: tuple[Script, ...] = (
    {
        "users": (("w", (("add", 3), ("add", 5), ("discard", 3))),),
        "after": (("w", (("load",), ("add", 4), ("load",))),),
    },
)

STREAMING: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("load",),
                    ("put", 3, (_INSERT,)),
                    ("put", 5, (InsertMessage(4, "c", ()), _INSERT)),
                    ("put", 3, (InsertMessage(9, "d", ()),)),
                    ("places", 2),
                    ("places", 3),
                    ("messages",),
                    ("save_flusher", 3),
                    ("save_recovery", 2, ((1, 4), (2, 5)), 1),
                    ("load",),
                    ("close",),
                    ("load",),
                ),
            ),
        ),
        "faults": (FAIL, LOSE),
        "places": 60,
    },
)
STREAMING_DAMAGED: tuple[Script, ...] = (
    {
        "given": (
            "CREATE TABLE messages (place INTEGER PRIMARY KEY, messages TEXT NOT NULL) STRICT",
            """INSERT INTO messages VALUES (1, '[["tick",5]]')""",
            "PRAGMA user_version = 2",
        ),
        "users": (("w", (("places", 1), ("damaged", "messages"))),),
    },
)
STREAMING_POWER: tuple[Script, ...] = (
    {
        "users": (("w", (("put", 3, (_INSERT,)), ("save_flusher", 3), ("save_recovery", 2, ((1, 4),), 1))),),
        "after": (("w", (("load",), ("messages",))),),
    },
)

# ---- the oracle ----

_WINDOW = (
    ("load",),
    ("wait_vacant",),
    ("campaign", "a", 10.0),
    ("save", 100, 1),
    ("campaign", "b", 10.0),
    ("wait_vacant",),
    ("save", 90, 1),
    ("load",),
    ("pass", 9.0),
    ("campaign", "b", 10.0),
    ("renew", 1, 10.0),
    ("pass", 9.0),
    ("save", 110, 1),
    ("pass", 1.0),
    ("wait_vacant",),
    ("renew", 1, 10.0),
    ("save", 120, 1),
    ("campaign", "b", 5.0),
    ("resign", 1),
    ("save", 115, 1),
    ("renew", 1, 10.0),
    ("save", 130, 2),
    ("load",),
    ("resign", 2),
    ("save", 140, 2),
    ("campaign", "c", 10.0),
    ("load",),
)
_EVICTED = (
    ("campaign", "a", 10.0),
    ("pass", 4.0),
    ("evict", "b"),
    ("save", 5, 1),
    ("evict", "a"),
    ("save", 6, 1),
    ("campaign", "b", 10.0),
    ("evict", "a"),
    ("save", 7, 2),
    ("close",),
    ("load",),
    ("pass", -500.0),
    ("save", 8, 2),
    ("campaign", "a", 10.0),
    ("save", 9, 3),
)
"""The second time the machine has started anew, and its steady clock with it."""

WINDOW: tuple[Script, ...] = (
    {"users": (("w", _WINDOW),)},
    {"users": (("w", _EVICTED),)},
    {
        "users": (
            ("w", (*_WINDOW[:4], ("campaign", "b", 10.0), ("save", 110, 1), ("resign", 1), ("load",))),
        ),
        "faults": (FAIL, LOSE),
        "places": 36,
    },
)
WINDOW_POWER: tuple[Script, ...] = (
    {
        "users": (("w", (("campaign", "a", 10.0), ("save", 100, 1))),),
        "after": (("w", (("load",), ("pass", 10.0), ("campaign", "b", 10.0), ("load",))),),
    },
)
_ETCD = (
    ("load",),
    ("wait_vacant",),
    ("campaign", "a", 9.5),
    ("save", 100, 1),
    ("campaign", "b", 10.0),
    ("save", 90, 1),
    ("load",),
    ("save", 70000, 1),
    ("load",),
    ("renew", 1, 10.0),
    ("vacancy", 0),
    ("renew", 1, 10.0),
    ("save", 70010, 1),
    ("campaign", "b", 10.0),
    ("resign", 1),
    ("save", 70020, 1),
    ("save", 70144, 2),
    ("resign", 2),
    ("campaign", "c", 5.0),
    ("lapse",),
    ("save", 70040, 3),
    ("load",),
    ("close",),
)


def _written(*revisions: int) -> bytes:
    """A watch tells that a key was written."""
    events = [{"kv": {"key": encode("w/a"), "mod_revision": str(one)}} for one in revisions]
    return json.dumps({"result": {"events": events}}).encode()


def _deleted(*revisions: int) -> bytes:
    """A watch tells that a key was deleted."""
    events = [{"type": "DELETE", "kv": {"key": encode("w/a"), "mod_revision": str(one)}} for one in revisions]
    return json.dumps({"result": {"events": events}}).encode()


_ETCD_ALONE = (
    ("keys",),
    ("campaign", "a", 10.0),
    ("leases",),
    ("campaign", "b", 10.0),
    ("leases",),
    ("save", 100, 1),
    ("keys",),
    ("vacancy", 2),
    ("leases",),
    ("resign", 1),
    ("keys",),
    ("reach", "http://here:5", ("here", 5, 3.0)),
    ("reach", "http://here", ("here", 2379, 3.0)),
    ("reach", "https://here:5", Raised("ValueError")),
    ("reach", "http://:5", Raised("ValueError")),
    ("reach", "here:5", Raised("ValueError")),
    *(
        ("hear", lines, heard)
        for lines, heard in (
            (
                (
                    b'{"result":{"created":true}}',
                    b'{"result":{"events":[{}]}}',
                    ConnectionResetError("reset"),
                ),
                0.0,
            ),
            ((b'{"result":{"created":true}}', b""), 0.0),
            ((), 2.5),
            ((ConnectionResetError("reset"),), Raised("StoreError")),
            ((b"<html>\n",), Raised("StoreError")),
            ((b"[1]\n",), Raised("StoreError")),
            ((b'{"error":"unavailable"}\n',), Raised("StoreError")),
        )
    ),
    # What follows revision 7.
    *(
        ("follow", lines, followed)
        for lines, followed in (
            ((b'{"result":{"created":true}}', _written(7), _deleted(9)), (9, "w/a", False)),
            ((_written(7, 8), _deleted(9)), (8, "w/a", True)),
            ((_deleted(6, 10),), (10, "w/a", False)),
            ((), None),
            ((b'{"result":{"canceled":true,"compact_revision":"8"}}',), Raised("WatchCompactedError")),
            (
                (b'{"result":{"created":true}}', b'{"result":{"canceled":true}}'),
                Raised("WatchCompactedError"),
            ),
            ((ConnectionResetError("reset"),), Raised("StoreError")),
        )
    ),
    ("close",),
    ("close",),
)
_LEAVES = (("campaign", "a", 10.0), ("vacancy", 1), ("keys",))
"""The key is the last thing that has changed."""
ETCD: tuple[Script, ...] = (
    {
        "users": (("w", _ETCD),),
        "faults": (FAIL, LOSE, DAMAGE, GARBAGE, LIST, ERROR),
        "places": 30,
    },
    {"users": (("w", _ETCD_ALONE),)},
    {"users": (("w", _LEAVES),)},
    {
        "given": (("w/window", b"1234567"),),
        "users": (("w", (("damaged", "load"), ("campaign", "a", 5.0), ("damaged", "load"))),),
    },
)

# ---- memory ----

MEMORY_METADATA: tuple[Script, ...] = (
    {"users": ((METADATA[0]["users"][0][0], METADATA[0]["users"][0][1][:13]),)},
)
MEMORY_WINDOW: tuple[Script, ...] = ({"users": (("w", (*_WINDOW, ("close",))),)},)


def without_faults(scripts: tuple[Script, ...]) -> tuple[Script, ...]:
    """The same calls where nothing fails."""
    return tuple({"users": script["users"]} for script in scripts)
