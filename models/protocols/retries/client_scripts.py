"""What the users of a client call, and what each of its requests is answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tidemark.impl.system.connection import Json
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.models.protocols.common.scripted import Script

LEVELS = {level.value: level for level in ConsistencyLevel}
MISMATCH = "SchemaMismatchError"
MAY_HAVE = ("WriteFailedError", "RpcTimeoutError", "ProxyEndedError")
LOST = "lost"
BROKEN = "broken"
"""A fault of the client itself."""


def step(name: str, *asked: Any, answers: Iterable[Any] = (), **more: Any) -> dict[str, Any]:
    """A call, and what its requests are answered, one after the other; the name of an error is a refusal."""
    return {"call": name, "asked": asked, "more": more, "answers": tuple(answers)}


def _found(moments: Mapping[str, int], *rows: tuple[int, str], guarantee: int = 3) -> Json:
    return {"rows": [list(row) for row in rows], "guarantee": guarantee, "moments": dict(moments)}


_READS = tuple(
    step("query", "c", level=level, at_least=21, answers=[_found({"x": 30, "y": 20}, (1, "a"), guarantee=90)])
    for level in LEVELS
)
SCRIPTS: tuple[Script, ...] = (
    {
        "calls": [
            step("create", "c", shards=3, schema="s", answers=[{"ts": 5}]),
            step("create", "d", answers=[{"ts": 4}]),
            step(
                "insert",
                "c",
                {3: "x", 1: "y", 2: "z", 9: "w", 5: "v", 6: "u", 10: "t"},
                answers=[{"version": 5}, {"ts": 9}],
            ),
            step("insert", "c", {4: "x"}, answers=[{"ts": 8}]),
            step("delete", "c", [9, 2, 2, 1], answers=[{"ts": 11}]),
            step("flush", "c", answers=[{"ts": 10}]),
            step("alter", "c", "t", answers=[{"ts": 14}]),
            step("load", "c", answers=[{}]),
            step("release", "c", answers=[{}]),
            step("drop", "c", answers=[{"ts": 16}]),
            step("close"),
        ]
    },
    # Reads, and what a session carries along.
    {
        "calls": [
            step("insert", "c", {1: "a"}, answers=[{"version": 1}, {"ts": 25}]),
            *_READS,
            step("query", "c", keys=[9, 1, 5, 9], answers=[_found({"x": 12})]),
            step(
                "query",
                "c",
                level="session",
                keys=[],
                answers=[_found({"x": 31}, (5, "b"), (6, "c"), (9, "d"))],
            ),
            step("count", "c", answers=[_found({"x": 1}, (5, "b"), (6, "c"))]),
            step("count", "c", level="session", answers=[_found({"x": 40})]),
        ]
    },
    {
        "calls": [
            step("search", "c", near=4, limit=2, answers=[_found({"x": 30}, (4, "a"), (3, "b"))]),
            step("search", "c", near=4, level="session", answers=[_found({"x": 31})]),
            step("search", "c", near=4, level="customized", at_least=7, answers=["NotServableError"]),
            step("search", "c", near=4, limit=0),
        ]
    },
    # Pages: further ones name the moments of the first, and the last one is not full.
    {
        "calls": [
            step(
                "pages",
                "c",
                size=2,
                level="strong",
                answers=[
                    _found({"x": 30, "y": 20}, (1, "a"), (4, "b")),
                    _found({"x": 31, "y": 20}, (5, "c"), (9, "d")),
                    _found({"x": 30, "y": 20}),
                ],
            ),
            step(
                "pages",
                "c",
                size=1,
                level="session",
                answers=[_found({"x": 40}, (1, "a")), "NotServableError"],
            ),
            step("pages", "c", level="customized", at_least=7, answers=[_found({"x": 50}, (1, "a"))]),
            step("pages", "c", level="session", answers=[LOST]),
            *(step("pages", "c", size=size) for size in (0, -1)),
        ]
    },
    # Versions that are refused.
    {
        "calls": [
            step("insert", "c", {1: "a"}, answers=[{"version": 1}, {"ts": 2}]),
            step("insert", "d", {1: "a"}, answers=[{"version": 7}, {"ts": 3}]),
            step("insert", "c", {2: "a"}, answers=[MISMATCH, {"version": 3}, {"ts": 9}]),
            step("insert", "d", {3: "b"}, answers=[{"ts": 10}]),
            step(
                "insert",
                "c",
                {4: "a"},
                answers=[MISMATCH, {"version": 4}, MISMATCH, {"version": 6}, {"ts": 12}],
            ),
            step("insert", "c", {5: "a"}, answers=[MISMATCH, {"version": 6}, MISMATCH]),
            step("insert", "c", {5: "a"}, answers=[MISMATCH, {"version": 2}, MISMATCH]),
            step("insert", "c", {6: "a"}, answers=[MISMATCH, "NoCollectionError"]),
            step("insert", "c", {6: "a"}, answers=[{"version": 0}, {"ts": 13}]),
            step("insert", "c", {6: "a"}, answers=[MISMATCH, {"version": 8}, {"ts": 14}]),
        ]
    },
    # Other errors are not tried again: the rows may be there.
    {
        "calls": [
            step("insert", "c", {1: "a"}, answers=[{"version": 1}, "RpcTimeoutError"]),
            *(
                step("insert", "c", {2: "a"}, answers=[kind])
                for kind in (*MAY_HAVE, "RpcError", LOST, BROKEN)
            ),
            step("insert", "e", {2: "a"}, answers=[LOST]),
            step("insert", "e", {2: "a"}, answers=["RpcTimeoutError"]),
            *(
                step(name, "c", *asked, answers=[kind])
                for name, *asked in (
                    ("create",),
                    ("alter", "t"),
                    ("drop",),
                    ("flush",),
                    ("load",),
                    ("release",),
                    ("delete", [1]),
                    ("query",),
                    ("count",),
                )
                for kind in ("RpcError", "WriteFailedError", LOST)
            ),
        ]
    },
    # Aliases, which are in no history.
    {
        "calls": [
            step("insert", "a", {1: "a"}, answers=[{"version": 1}, {"ts": 2}]),
            step("insert", "b", {1: "a"}, answers=[{"version": 2}, {"ts": 3}]),
            step("create_alias", "a", "c", answers=[{"ts": 7}]),
            step("insert", "a", {1: "a"}, answers=[{"version": 5}, {"ts": 6}]),
            step("alter_alias", "a", "d", answers=["RpcError"]),
            step("insert", "a", {2: "a"}, answers=[{"ts": 8}]),
            step("alter_alias", "a", "d", answers=[{"ts": 9}]),
            step("insert", "a", {2: "a"}, answers=[{"version": 6}, {"ts": 10}]),
            step("drop_alias", "a", answers=[{"ts": 12}]),
            step("insert", "a", {2: "a"}, answers=["NoCollectionError"]),
            step("insert", "b", {2: "a"}, answers=[{"ts": 11}]),
        ]
    },
    {
        "silent": True,
        "calls": [
            step("insert", "c", {1: "a"}, answers=[{"version": 1}, {"ts": 2}]),
            step("flush", "c", answers=["RpcError"]),
            step("drop", "c", answers=[LOST]),
        ],
    },
)
