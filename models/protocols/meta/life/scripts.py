"""What clients ask of a catalogue, and what its edges answer: see ``program``."""

from __future__ import annotations

from typing import Any

from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.protocols.common.scripted import Script

_THINGS = CollectionVersion("things", 1, "", number=1, created=-9, channels=("c1v0", "c1v1"), changed=-9)
_OTHERS = CollectionVersion("others", 2, "", number=2, created=-8, channels=("c2v0",), changed=-8)
_GONE = CollectionVersion("gone", 3, "", number=3, created=-7, channels=("c3v0",), changed=-6, gone=True)
_ALSO = CollectionVersion("also", 5, "", number=1, changed=-5, alias_of="things")

STORED: dict[tuple[str, bool], CollectionVersion] = {
    (record.name, is_open): CollectionVersion(
        record.name, record.version, record.schema, number=record.number, created=record.created,
        channels=record.channels, changed=0 if is_open else record.changed, gone=record.gone,
        alias_of=record.alias_of,
    )
    for record in (_THINGS, _OTHERS, _GONE, _ALSO)
    for is_open in (False, True)
}  # fmt: skip
"""What may be stored at the start, by name, and whether its last change has no timestamp yet."""

_Call = tuple[str, dict[str, Any]]


def _create(name: str = "things", shards: int = 1) -> _Call:
    return ("create", {"name": name, "shards": shards, "schema": f"of {name}"})


def _alter(name: str = "things") -> _Call:
    return ("alter", {"name": name, "schema": "another"})


def _drop(name: str = "things") -> _Call:
    return ("drop", {"name": name})


def _point(method: str, collection: str, alias: str = "also") -> _Call:
    return (method, {"alias": alias, "collection": collection})


def _drop_alias(alias: str = "also") -> _Call:
    return ("drop_alias", {"alias": alias})


_ALL = ("things", "others", "gone", "also")

SCRIPTS: tuple[Script, ...] = (
    # What goes through, and what is refused.
    {
        "stored": ["things", "others"],
        "clients": [
            [
                _create("new", 2), _create("new"), _alter(), _alter("none"), _drop("none"),
                _point("create_alias", "none"), _point("alter_alias", "others"), _drop_alias(),
                _point("create_alias", "things"), _point("create_alias", "others"),
                _point("create_alias", "things", "others"), _create("also"), _alter("also"), _drop("also"),
                _drop(), _point("alter_alias", "none"), _point("alter_alias", "also"),
                _point("alter_alias", "others"), _drop("others"), _drop(), _create(), _drop_alias(),
                _drop_alias(), _drop("others"), _create("also"), _create("newer"),
            ]
        ],
        "sessions": [2, 1],
    },
    # Changes that an earlier catalogue has left open.
    {"stored": _ALL, "open": ["things", "gone"], "clients": [[_create("gone", 2)]]},
    {"stored": _ALL, "open": ["also"], "clients": [[_create("new")]]},
    # A change whose timestamp fails is finished by the next call for its name, also by one that is refused.
    *(
        {"stored": _ALL, "alloc": ["fail", "ok"], "clients": [[first, _create("new"), second]]}
        for first, second in (
            (_alter(), _create()), (_alter(), _alter()), (_alter("others"), _drop("others")),
            (_drop("others"), _create("others")), (_drop("others"), _alter("others")),
            (_drop("others"), _drop("others")),
            (_alter(), _drop()), (_drop("others"), _point("create_alias", "things", "others")),
            (_drop_alias(), _point("create_alias", "others")), (_drop_alias(), _drop_alias()),
            (_drop_alias(), _point("alter_alias", "others")), (_drop_alias(), _create("also")),
            (_point("alter_alias", "others"), _point("alter_alias", "things")),
            (_point("alter_alias", "others"), _point("create_alias", "things")),
            (_point("alter_alias", "others"), _drop_alias()),
        )
    ),
    # The store, and the logs, fail.
    {"stored": _ALL, "save": ["fail", "ok", "fail", "ok"], "clients": [[_alter(), _alter(), _drop()]]},
    {"stored": _ALL, "save": ["fail", "ok"], "clients": [[_create("new"), _create("new", 2)]]},
    {"stored": _ALL, "announce": ["fail", "late ok", "ok"], "clients": [[_alter(), _alter()]]},
    {"stored": _ALL, "announce": ["ok", "fail", "ok"], "clients": [[_create("new", 2), _create("new", 2)]]},
    # Clients side by side.
    *(
        {"stored": _ALL, "save": ["late ok", "ok"], "clients": [[first], [second]]}
        for first in (
            _create("new"), _alter(), _drop("others"), _point("create_alias", "things", "new"),
            _point("alter_alias", "others"), _drop_alias(),
        )
        for second in (_alter("others"), _create("new"), _drop_alias())
    ),
    {"stored": _ALL, "open": ["things"], "alloc": ["late ok", "ok"], "clients": [[_alter()], [_drop()]]},
    # Sessions come and go while proxies are told.
    {"stored": _ALL, "sessions": [3, 1, 2], "leaves": {"1": 2}, "clients": [[_alter(), _drop("others")]]},
    {"stored": _ALL, "sessions": [1, 2], "leaves": {"1": 1}, "clients": [[_alter(), _alter()]]},
    {"stored": _ALL, "sessions": [1], "joins": {"1": 4}, "clients": [[_alter(), _drop("others")]]},
    {"stored": _ALL, "sessions": [], "clients": [[_alter()]]},
    {"numbers": True},
)  # fmt: skip
"""Each is explored by itself."""
