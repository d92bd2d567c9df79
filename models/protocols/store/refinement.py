"""From what a store holds, and what its users were told, to the state of ``tidemark.spec.store``.

===================  =======================================================================================
specification        implementation
===================  =======================================================================================
visible, forced      what the adapter's own reading finds: on the medium as it is, and as a power failure may
                     leave it
fence, lapsed        the table of the leader in SQLite; in etcd the leases that have won the leader key
inherited            what was visible when a term began: noted then
applied              whose task has changed the medium: noted by the medium
stage, look, got     calls of users, and what they were told
term                 ``Leadership.term`` of the user who saves; in etcd, where that is a lease, the number of
                     terms when the user was told of it
least                what was visible when a read began: noted then
===================  =======================================================================================
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.tso.ports import Leadership
from tidemark.models.refinement.origins import Origins, environment, read


class Saving(NamedTuple):
    """How far a save has come."""

    stage: str
    term: int


class Looking(NamedTuple):
    """How far a read has come."""

    stage: str
    least: int
    got: int


class Held(NamedTuple):
    """What a cell holds, see ``Cell.held``, and whose saves were applied as far as the medium can tell."""

    visible: int
    forced: int
    term: int
    lapsed: bool


def abstract(
    saves: Sequence[Saving],
    reads: Sequence[Looking],
    held: Held,
    inherited: int,
    told: Collection[int],
    *,
    values: Sequence[int],
) -> dict[str, Any]:
    """The state of ``spec.store``, by variable name. ``told``: the saves of which the medium has told that
    they were applied. ``values``: of the saves.
    """
    visible, forced = max(held.visible, 0), max(held.forced, 0)
    return {
        "fence": held.term,
        "lapsed": held.lapsed,
        "visible": visible,
        "forced": forced,
        "inherited": inherited,
        "stage": {n: save.stage for n, save in enumerate(saves)},
        "term": {n: save.term for n, save in enumerate(saves)},
        "applied": {n: n in told and values[n] <= visible for n in range(len(values))},
        "look": {n: read.stage for n, read in enumerate(reads)},
        "least": {n: read.least for n, read in enumerate(reads)},
        "got": {n: read.got for n, read in enumerate(reads)},
    }


ORIGINS = Origins(
    "spec/store:Store",
    (
        read(
            "visible",
            "forced",
            of=[
                (ParquetStore, "get"),
                (SqliteMetaStore, "load"),
                (SqliteOracleStore, "load"),
                (EtcdOracleStore, "load"),
            ],
            why="on media whose forced part the simulation knows; of the file log by read_log, no method",
        ),
        environment("fence", "lapsed", why="the leader's row in SQLite, and leases that have won in etcd"),
        environment("inherited", "least", why="histories: what was visible when a term or a read began"),
        environment("applied", why="the medium tells which task has changed it"),
        environment("stage", "look", "got", why="calls of users, and what they were told"),
        read("term", of=[(Leadership, "term")], why="in etcd it is a lease: terms are counted there"),
    ),
)
"""Where each variable is read."""
