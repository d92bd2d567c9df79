"""What the users of each store of files do, and of a log and objects in memory."""

from __future__ import annotations

from tidemark.impl.storage.file_log import checked, encode
from tidemark.impl.types import (
    EndPosition,
    Pack,
    Row,
    StartPosition,
)
from tidemark.impl.values.messages import DdlMessage, Tick
from tidemark.models.protocols.store.histories.faults import FAIL, TEAR
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
OBJECTS_AGAIN: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    *(("put", "a", rows) for rows in (_ONE, _TWO)),
                    ("unfinished",),
                    ("put", "a", _ONE),
                    ("unfinished",),
                    ("get", "a"),
                    ("get", "b"),
                ),
            ),
        ),
        "faults": (FAIL,),
        "places": 32,
    },
)
OBJECTS_BESIDE: tuple[Script, ...] = (
    {
        "given": (),
        "users": (
            ("?one", (("put", "a", _ONE),)),
            ("?two", (("put", "a", _TWO), ("get", "a"))),
        ),
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
        "after": (
            (
                "w",
                (
                    ("get", "s/a"),
                    ("put", "s/a", _TWO),
                    ("unfinished",),
                    ("put", "s/b", _ONE),
                    ("get", "s/b"),
                ),
            ),
        ),
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
    {
        "users": (
            ("w", (("append", "c", _pack(1)),)),
            ("w", (("append", "c", _pack(2)), ("all", "c"))),
        ),
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
                    *(("scan", above) for above in (0, 1, 3, 7)),
                    ("truncate", 1),
                    ("read", 1),
                    ("truncate", 3),
                    *(("scan", above) for above in (0, 2, 3)),
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
                    ("scan", 1),
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
FENCED_AGAIN: tuple[Script, ...] = (
    {
        "users": (
            (
                "w",
                (
                    ("begin_term",),
                    *(("append", 1, place // 2, Tick(place)) for place in range(1, 4)),
                    ("scan", 0),
                    ("begin_term",),
                    ("scan", 0),
                    ("append", -1, 3, Tick(8)),
                    ("scan", 0),
                ),
            ),
        ),
        "faults": (FAIL, TEAR),
        "places": 40,
    },
    {
        "users": (
            (
                "w",
                (
                    ("begin_term",),
                    *(("append", 1, 0, Tick(place)) for place in (1, 2)),
                    ("truncate", 2),
                    ("files",),
                    *(("append", 1, 0, Tick(place)) for place in (3, 4)),
                    ("truncate", 4),
                    ("files",),
                    ("scan", 0),
                ),
            ),
        ),
        "faults": (FAIL,),
        "places": 60,
    },
)
"""The log goes on after a failure."""
FENCED_FAILS_AT_ONCE: tuple[Script, ...] = (
    {
        "before": (("begin_term",), ("append", 1, 0, Tick(1))),
        "users": (
            ("w", (("append", 1, 1, Tick(2)),)),
            ("w", (("begin_term",), ("append", -1, 1, Tick(3)), ("scan", 0))),
            ("w", (("read", 2),)),
        ),
        "faults": (FAIL, TEAR),
        "places": 24,
    },
    {
        "before": (("begin_term",), ("append", 1, 0, Tick(1))),
        "users": (
            ("w", (("append", 1, 1, Tick(2)),)),
            ("w", (("begin_term",), ("scan", 0))),
            ("w", (("read", 2),)),
        ),
        "faults": (FAIL,),
        "places": 30,
    },
    {
        "before": (("begin_term",), ("append", 1, 0, Tick(1)), ("append", 1, 0, Tick(2))),
        "users": (
            ("w", (("truncate", 2),)),
            ("w", (("append", 1, 1, Tick(3)),)),
            ("w", (("begin_term",), ("append", -1, 1, Tick(4)), ("scan", 0))),
        ),
        "faults": (FAIL,),
        "places": 60,
    },
)
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
    {
        "before": (("begin_term",), ("append", 1, 0, Tick(1)), ("append", 1, 0, Tick(2))),
        "users": (("w", (("truncate", 2),)), ("w", (("pause",), ("read", 2)))),
    },
)
FENCED_CANCELLED: tuple[Script, ...] = (
    {
        "before": (("begin_term",),),
        "users": (("w", (("append", 1, 0, Tick(1)), ("append", 1, 0, Tick(2)))),),
        "after": (("w", (("begin_term",), ("scan", 0))),),
    },
)
"""The caller of an append is cancelled, and the log goes on, until the power fails."""
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
                    ("scan", 0),
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

# ---- memory ----

MEMORY_OBJECTS: tuple[Script, ...] = (
    {"users": (("w", (("get", "a"), ("put", "a", _ONE), ("put", "b", _TWO), ("get", "a"), ("get", "b"))),)},
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
                    ("append", "c", _pack(3)),
                ),
            ),
            ("w", (("next_pack", "c", _AT(0)), ("next_pack", "c", _AT(1)), ("next_pack", "d", _AT(0)))),
            ("w", (("next_pack", "c", _AT(1)),)),
        ),
    },
)
