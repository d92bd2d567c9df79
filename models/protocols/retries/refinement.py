"""From the live objects of coordinator, proxies and clients to the state of ``tidemark.spec.retries``."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.rootcoord.collection_meta import CollectionMeta
from tidemark.models.protocols.meta.refinement import NAME
from tidemark.models.refinement.origins import Environment


@dataclass
class RequestView:
    """What has gone over the connection of a request's client.

    Attributes:
        stage: as in the specification.
        sent: the versions of its inserts. refused: those of them that a proxy has refused.
        since: acknowledged when it began. read_in_calm: no change was under way when a version was read, and
            none has come since.
    """

    stage: str = "new"
    sent: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    since: int = 0
    read_in_calm: bool = False


def known_to(cache: MetaCache) -> int:
    """What a proxy serves. Without an entry it will ask: it was told of this version, and not asked since."""
    entry = cache.entries.get(NAME)
    return cache.floors.get(NAME, 0) if entry is None else entry.version


def abstract(
    meta: CollectionMeta, caches: Sequence[MetaCache], requests: Sequence[RequestView]
) -> dict[str, Any]:
    """The state of ``spec.retries``, by variable name."""
    every = dict(enumerate(requests))
    return {
        "current": meta.describe(NAME).version,
        "changing": meta.change is not None,
        "acknowledged": meta.acknowledged[NAME],
        "knows": {p: known_to(cache) for p, cache in enumerate(caches)},
        "stage": {r: one.stage for r, one in every.items()},
        "holds": {r: (one.sent or [0])[-1] for r, one in every.items()},
        "tried": {r: bool(one.refused) for r, one in every.items()},
        "refused": {r: (one.refused or [0])[-1] for r, one in every.items()},
        "attempts": {r: len(one.refused) for r, one in every.items()},
        "since": {r: one.since for r, one in every.items()},
        "calm": {r: one.read_in_calm for r, one in every.items()},
    }


ENVIRONMENT = Environment(
    "spec/retries:Retries",
    {
        "stage, holds, tried, refused, attempts": (
            "what goes over a client's connection, and what its user was told"
        ),
        "since, calm": "histories: what was so when a request began, or was read",
    },
)
"""What is not read from the implementation, and why."""
