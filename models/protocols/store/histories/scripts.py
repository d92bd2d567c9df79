"""What the users of each store do."""

from __future__ import annotations

from dataclasses import replace

from tidemark.impl.broker.messages import DdlMessage, InsertMessage, Tick
from tidemark.impl.proxy.meta_cache import CollectionVersion
from tidemark.impl.storage.file_log import checked, encode
from tidemark.impl.types import (
    BinlogRecord,
    ChannelRecord,
    Compaction,
    EndPosition,
    FlushRequest,
    Pack,
    Row,
    SegmentRecord,
    StartPosition,
)
from tidemark.models.protocols.store.histories.contracts import Raised
from tidemark.models.protocols.store.histories.faults import DAMAGE, ERROR, FAIL, GARBAGE, LIST, LOSE, TEAR
from tidemark.models.protocols.store.histories.program import Script

# ---- files ----

_ONE = (Row(1, 7, 3, "a"), Row(2, 7, 4, "b"))
_TWO = (Row(5, 8, 1, ""),)

OBJECTS: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("put", "s/1/a", _ONE),
                    ("put", "s/2/b", _TWO),
                    ("put", "s/1/a", _TWO),
                    ("get", "s/1/a"),
                    ("get", "s/2/b"),
                    ("get", "s/1/b"),
                    ("put", "/s", _ONE),
                    ("put", "s/../a", _ONE),
                    ("get", ""),
                    ("paths",),
                ),
            ),
        ),
        "faults": (FAIL, TEAR),
        "places": 24,
    },
)
OBJECTS_DAMAGED: tuple[Script, ...] = (
    {
        "given": (("a.parquet", b"PAR1 and no more"), ("b.parquet", b"")),
        "users": (
            ("w", (("damaged", "get", "a"), ("damaged", "get", "b"), ("put", "a", _ONE), ("get", "a"))),
        ),
    },
)
OBJECTS_POWER: tuple[Script, ...] = (
    {
        "users": (("w", (("put", "s/a", _ONE), ("put", "s/a", _TWO))),),
        "after": (("w", (("get", "s/a"), ("put", "s/b", _ONE), ("get", "s/b"))),),
    },
)


def _pack(end: int, *, rows: int = 1, close: bool = False, drop: bool = False) -> Pack:
    made = tuple(Row(end, 9, key, f"v{key}") for key in range(rows))
    return Pack(StartPosition(end - 1), EndPosition(end), made, close, drop)


_AT = EndPosition
PACKS: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("all", "c"),
                    ("append", "c", _pack(1)),
                    ("next_pack", "c", _AT(0)),
                    ("append", "c", _pack(2, rows=2, close=True)),
                    ("append", "d", _pack(1, drop=True)),
                    ("next_pack", "c", _AT(0)),
                    ("next_pack", "c", _AT(1)),
                    ("append", "c", _pack(3, rows=0)),
                    ("next_pack", "c", _AT(1)),
                    ("next_pack", "c", _AT(2)),
                    ("all", "c"),
                    ("all", "d"),
                    ("next_pack", "d", _AT(0)),
                ),
            ),
        ),
        "faults": (FAIL, TEAR),
        "places": 40,
    },
)
_LINES = (encode(_pack(1)), encode(_pack(2)))
_BAD = b"00000000 {}"
_HELD = (
    ("append", "d", _pack(1)),
    ("damaged", "all", "c"),
    ("damaged", "append", "c", _pack(2)),
    ("damaged", "next_pack", "c", _AT(0)),
    ("all", "d"),
)
"""What is damaged stays so, and nothing else is."""


def _log(*lines: bytes) -> tuple[tuple[str, bytes], ...]:
    return (("c.jsonl", b"\n".join(lines)),)


def _read_as(pack: Pack, *, more: tuple[bytes, ...]) -> Script:
    """A log of one pack, with lines after it that are not there: the next pack takes their place."""
    later = (("all", "c"), ("append", "c", _pack(2)), ("all", "c"), ("next_pack", "c", _AT(1)))
    return {"first": (("c", (pack,)),), "given": _log(encode(pack), *more), "users": (("w", later),)}


PACKS_DAMAGED: tuple[Script, ...] = (
    {"given": _log(_BAD, _LINES[0], b""), "users": (("w", _HELD),)},
    {"given": _log(_LINES[0], _BAD, _LINES[1], b""), "users": (("w", _HELD),)},
    *(
        {"given": _log(checked(text), b""), "users": (("w", (("damaged", "all", "c"),)),)}
        for text in (
            b"no JSON",
            b"[]",
            b'{"start":0}',
            b'{"start":0,"end":1,"rows":[[1]],"close":false,"drop":false}',
        )
    ),
    _read_as(_pack(1), more=(b"?",)),
    _read_as(_pack(1), more=(_BAD, b"")),
    _read_as(_pack(1), more=(_BAD, _BAD, b"")),
    _read_as(_pack(1), more=(b"", b"", b"")),
)
PACKS_AT_ONCE: tuple[Script, ...] = (
    {
        "before": (("append", "c", _pack(1)),),
        "users": (
            ("w", (("append", "c", _pack(2)), ("all", "c"))),
            ("w", (("append", "c", _pack(3)),)),
        ),
        "faults": (TEAR,),
        "places": 3,
    },
)
PACKS_POWER: tuple[Script, ...] = (
    {
        "users": (("w", (("append", "c", _pack(1)), ("append", "c", _pack(2)))),),
        "after": (
            ("w", (("all", "c"), ("append", "c", _pack(3)), ("all", "c"), ("next_pack", "c", _AT(2)))),
        ),
    },
)
PACKS_FOLLOWED: tuple[Script, ...] = (
    {
        "users": (
            ("w", (("append", "c", _pack(1)),)),
            ("r", (("next_pack", "c", _AT(0)),)),
        ),
    },
)

_NO_TERM = (("damaged", "begin_term"), ("damaged", "begin_term"))
_SHORT, _LONG = DdlMessage(1, "c", "xxx"), DdlMessage(1, "c", "xxxx")
_INSERT = InsertMessage(3, "c", (Row(3, 1, 2, "v"),))
FENCED: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("append", 0, 0, Tick(3)),
                    ("begin_term",),
                    ("append", 1, 0, _SHORT),
                    ("append", 1, 0, _LONG),
                    ("append", 0, 0, Tick(4)),
                    ("append", 2, 0, Tick(4)),
                    ("append", 1, 1, Tick(5)),
                    ("append", 1, 1, Tick(6)),
                    ("read", 1),
                    ("read", 3),
                    ("truncate", 1),
                    ("read", 1),
                    ("truncate", 3),
                    ("read", 2),
                    ("read", 3),
                    ("begin_term",),
                    ("append", 1, 1, Tick(7)),
                    ("append", 2, 2, Tick(8)),
                    ("truncate", 9),
                    ("read", 4),
                    ("append", 2, 4, Tick(9)),
                    ("read", 5),
                ),
            ),
        ),
        "faults": (FAIL, TEAR),
        "places": 50,
    },
)
FENCED_CUTS: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("begin_term",),
                    ("truncate", 1),
                    *(("append", 1, place, Tick(place)) for place in range(1, 8)),
                    ("files",),
                    *(("truncate", upto) for upto in (0, 1, 2, 2, 3)),
                    ("files",),
                    ("truncate", 5),
                    ("files",),
                    ("read", 5),
                    ("begin_term",),
                    ("truncate", 4),
                    ("append", 2, 7, Tick(8)),
                    ("truncate", 90),
                    ("files",),
                    ("append", 2, 8, Tick(9)),
                    ("read", 9),
                    ("files",),
                ),
            ),
        ),
    },
)
"""What is cut off is emptied, once, and only in whole files."""
FENCED_AT_ONCE: tuple[Script, ...] = (
    {
        "before": (("begin_term",), ("append", 1, 0, Tick(1)), ("append", 1, 0, Tick(2))),
        "users": (
            ("w", (("append", 1, 1, Tick(3)),)),
            ("w", (("append", 1, 2, Tick(4)),)),
            ("w", (("read", 4),)),
        ),
    },
    {
        "before": (("begin_term",), ("append", 1, 0, Tick(1))),
        "users": (
            ("w", (("append", 1, 1, Tick(2)), ("read", 2))),
            ("w", (("begin_term",), ("append", 2, 0, Tick(3)))),
        ),
    },
    {
        "before": (("begin_term",), ("append", 1, 0, Tick(1)), ("append", 1, 0, Tick(2))),
        "users": (
            ("w", (("append", 1, 1, Tick(3)), ("read", 3), ("files",))),
            ("w", (("truncate", 2),)),
        ),
    },
)
_RECORD = b'[%d,1,0,["tick",%d]]'
FENCED_DAMAGED: tuple[Script, ...] = (
    *(
        {"given": (("terms.jsonl", terms), ("000000000.jsonl", records)), "users": (("w", _NO_TERM),)}
        for terms, records in (
            (checked(b"?") + b"\n", b""),
            (checked(b"[1,0]") + b"\n", checked(b"?") + b"\n"),
            (checked(b"[1,0]") + b"\n", checked(_RECORD % (2, 5)) + b"\n"),
            (
                checked(b"[1,0]") + b"\n",
                checked(_RECORD % (1, 5)) + b"\n" + checked(_RECORD % (1, 5)) + b"\n",
            ),
        )
    ),
)
FENCED_POWER: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("begin_term",),
                    ("append", 1, 0, Tick(1)),
                    ("append", 1, 0, Tick(2)),
                    ("append", 1, 1, Tick(3)),
                    ("truncate", 2),
                ),
            ),
        ),
        "after": (
            (
                "w",
                (
                    ("begin_term",),
                    ("append", -1, 2, Tick(9)),
                    ("append", -1, 2, Tick(10)),
                    ("truncate", 3),
                    ("append", -1, 2, Tick(11)),
                    ("begin_term",),
                ),
            ),
        ),
    },
)
"""The term -1 is the present one: after a power failure it depends on what is left."""

# ---- SQLite ----

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
    {"given": (f"PRAGMA user_version = {version}",), "users": (("w", _BY_ANOTHER),)} for version in (4, 6)
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

STREAMING: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("load",),
                    ("put", 3, _INSERT),
                    ("put", 5, InsertMessage(4, "c", ())),
                    ("put", 3, InsertMessage(9, "d", ())),
                    ("places", 2),
                    ("places", 3),
                    ("messages",),
                    ("save_flusher", 3),
                    ("save_recovery", 2, ((1, 4), (2, 5))),
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
            "CREATE TABLE messages (place INTEGER PRIMARY KEY, message TEXT NOT NULL) STRICT",
            """INSERT INTO messages VALUES (1, '["tick",5]')""",
            "PRAGMA user_version = 1",
        ),
        "users": (("w", (("places", 1), ("damaged", "messages"))),),
    },
)
STREAMING_POWER: tuple[Script, ...] = (
    {
        "users": (("w", (("put", 3, _INSERT), ("save_flusher", 3), ("save_recovery", 2, ((1, 4),)))),),
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
    ("save", 70030, 2),
    ("resign", 2),
    ("campaign", "c", 5.0),
    ("lapse",),
    ("save", 70040, 3),
    ("load",),
    ("close",),
)
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
    ("close",),
    ("close",),
)
ETCD: tuple[Script, ...] = (
    {
        "users": (("w", _ETCD),),
        "faults": (FAIL, LOSE, DAMAGE, GARBAGE, LIST, ERROR),
        "places": 30,
    },
    {"users": (("w", _ETCD_ALONE),)},
    {
        "given": (("w/window", b"1234567"),),
        "users": (("w", (("damaged", "load"), ("campaign", "a", 5.0), ("damaged", "load"))),),
    },
)

# ---- memory ----

MEMORY_OBJECTS: tuple[Script, ...] = (
    {"users": (("w", (("get", "a"), ("put", "a", _ONE), ("put", "b", _TWO), ("get", "a"), ("get", "b"))),)},
)
MEMORY_METADATA: tuple[Script, ...] = (
    {"users": ((METADATA[0]["users"][0][0], METADATA[0]["users"][0][1][:13]),)},
)
MEMORY_PACKS: tuple[Script, ...] = (
    {
        "users": (
            ("w", (("next_pack", "c", _AT(0)), ("next_pack", "c", _AT(1)))),
            (
                "w",
                (
                    ("append", "c", _pack(1)),
                    ("append", "d", _pack(1)),
                    ("append", "c", _pack(3)),
                    ("append", "c", _pack(2)),
                ),
            ),
            ("w", (("next_pack", "c", _AT(0)), ("next_pack", "c", _AT(1)), ("next_pack", "d", _AT(0)))),
            ("w", (("next_pack", "c", _AT(1)),)),
        ),
    },
)
MEMORY_WINDOW: tuple[Script, ...] = ({"users": (("w", (*_WINDOW, ("close",))),)},)


def without_faults(scripts: tuple[Script, ...]) -> tuple[Script, ...]:
    """The same calls where nothing fails."""
    return tuple({"users": script["users"]} for script in scripts)
