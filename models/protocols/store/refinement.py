"""From what a store holds, and what its users were told, to the state of ``tidemark.spec.store``."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from tidemark.models.refinement.origins import Environment


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


ENVIRONMENT = Environment(
    "spec/store:Store",
    {
        "visible, forced": (
            "on media whose forced part the simulation knows; of the file log by read_log, no method"
        ),
        "fence, lapsed": "the leader's row in SQLite, and leases that have won in etcd",
        "inherited, least": "histories: what was visible when a term or a read began",
        "applied": "the medium tells which task has changed it",
        "stage, look, got": "calls of users, and what they were told",
        "term": "in etcd it is a lease: terms are counted there",
    },
)
"""What is not read from the implementation, and why."""
