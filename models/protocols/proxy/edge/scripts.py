"""What clients ask of a gateway, and what the components behind it answer: see ``gateway``."""

from __future__ import annotations

from typing import Any

from tidemark.models.protocols.common.scripted import Script

_Call = tuple[str, dict[str, Any]]


def _call(method: str, collection: str = "things", **more: Any) -> _Call:
    return (method, {"collection": collection, **more})


def _insert(*keys: int, collection: str = "things", **more: Any) -> _Call:
    return _call("insert", collection, rows=[(key, f"row {key}") for key in keys], **more)


_ALL_CHANGES = [
    _call("create", "new", shards=2, schema="s"),
    _call("create", "newer"),
    _call("alter", schema="t"),
    _call("drop"),
    _call("create_alias", alias="another"),
    _call("alter_alias", "others", alias="also"),
    ("drop_alias", {"alias": "also"}),
    _call("load"),
    _call("release"),
]

SCRIPTS: tuple[Script, ...] = (
    # What is handed on, and what is answered.
    {"clients": [_ALL_CHANGES]},
    {"clients": [_ALL_CHANGES], "change": ["not possible", "fail"]},
    {"clients": [[("now", {}), ("now", {}), _call("alter", schema="t")]], "alloc": ["ok", "fail", "fail"]},
    {"clients": [[_call("describe", name) for name in ("things", "also", "others", "gone", "none")]]},
    # Reads and flushes.
    {
        "clients": [
            [
                _call("read", level="strong"),
                _call("read", "also", level="session", keys=[4, 2], client_ts=7),
                _call("read", "others", level="bounded", keys=[]),
                _call("read", "gone", level="strong"),
                _call("read", level="strong", nearest=[5, 3]),
                _call("flush"),
                _call("flush", "also"),
                _call("flush", "none"),
            ]
        ],
    },
    # Pages, and what is none.
    {
        "clients": [
            [
                *(_call("read", level="strong", page=(limit, None, {})) for limit in (1, 2, 3, 9, 0, -1)),
                *(
                    _call("read", "also", level="bounded", page=(limit, after, {"a": 5, "b": 7}))
                    for limit in (1, 2, 0)
                    for after in (0, 2, 4, 9)
                ),
                _call("read", level="strong", page=(1, 2, {})),
                _call("read", level="strong", page=(1, None, {"a": 5})),
            ]
        ]
    },
    {"clients": [[_call("read", level="strong"), _call("flush")]], "read": ["fail"], "flush": ["timeout"]},
    # Writes: rows, keys, and keys that are made.
    {
        "clients": [
            [
                _insert(1, 2, 3, 4),
                _insert(5, collection="also", version=6),
                _insert(6, version=3),
                _insert(7, version=2),
                _insert(8, version=4),
                _insert(),
                _insert(9, collection="gone"),
                _call("delete", keys=[1, 2, 4]),
                _call("delete", keys=[]),
                _call("delete", "none", keys=[1]),
            ]
        ],
    },
    {"clients": [[_call("insert_values", values=values) for values in (["a"], ["b", "c", "d"], [])]]},
    # Keys out of two batches of ids.
    {"clients": [[_call("insert_values", values=values) for values in (["a", "b", "c"], ["d", "e"])]]},
    {"clients": [[_call("insert_values", values=["a"])]], "ids": False},
    # What becomes of a write in several logs.
    {"clients": [[_insert(1, 2, 3, 4), _insert(5, 6, 7, 8)]], "append": ["fail", "ok", "ok"]},
    {"clients": [[_insert(1, 2, 3, 4), _insert(5, 6, 7, 8)]], "append": ["fail", "fail", "timeout", "ok"],
     "settle": ["late ok"]},
    {"clients": [[_insert(1, 2, 3, 4)]], "append": ["timeout", "fail"], "settle": ["late refused"]},
    {"clients": [[_insert(1, 2, 3, 4)]], "append": ["fail", "late ok"]},
    {"clients": [[_insert(1), _call("read", level="strong")]], "alloc": ["fail", "ok"]},
    # The collection changes while a write has its timestamp.
    {"clients": [[_insert(1, 2), _insert(3, 4), _insert(5, version=13)]], "alters": [1]},
    {"clients": [[_insert(1, 2, collection="also"), _call("delete", "also", keys=[1])]], "alters": [1]},
    {"clients": [[_insert(1), _insert(-2), _insert(1 << 60)]], "alters": [1],
     "describe": ["ok", "fail", "ok"]},
    # Side by side: reads and writes pass a change, changes and flushes do not.
    {
        "clients": [
            [_call("alter", schema="t")], [_call("drop", "others")], [_call("flush")],
            [_call("read", level="strong")], [_call("read", "others", level="strong")], [_insert(1)],
        ],
        "change": ["late ok"], "flush": ["late ok"], "read": ["late ok", "ok"], "append": ["late ok"],
    },
)  # fmt: skip
"""Each is explored by itself."""
