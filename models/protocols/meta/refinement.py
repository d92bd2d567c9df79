"""From the live objects of coordinator and proxies to the state of ``tidemark.spec.meta``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.rootcoord.collection_meta import CollectionMeta
from tidemark.models.refinement.origins import Environment
from tidemark.models.refinement.step import NoCounterpartError

NAME = "things"
"""The one collection."""
FlightView = tuple[str, tuple[str, ...], int | None, bool]


@dataclass(frozen=True, slots=True)
class CacheView:
    """A proxy. ``flights``: (task that asks, those that wait, answer, may others join)."""

    alive: bool
    listed: bool
    closed: bool
    entry: int | None
    floor: int
    flights: tuple[FlightView, ...]


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request. ``version``: what it was served; None before."""

    proxy: int
    begun: bool
    failed: bool
    since: int
    after: int
    version: int | None


@dataclass(frozen=True, slots=True)
class MetaView:
    """The coordinator."""

    current: int
    changing: bool
    acknowledged: int
    stamped: int


def meta_view(metas: Sequence[CollectionMeta], *, stored_at: int, given: int) -> MetaView:
    """The picture of the coordinator. It may tell of a change that was acknowledged, and has no timestamp:
    then none is under way.

    Args:
        metas: its versions, after those of its predecessors.
        stored_at: the last timestamp that was given when the last version was stored.
        given: the last timestamp that was given.

    Raises:
        NoCounterpartError: the last version has a timestamp that is older than its record.
    """
    record = metas[-1].describe(NAME)
    acknowledged = max(meta.acknowledged.get(NAME, 0) for meta in metas)
    if 0 < record.changed <= stored_at:
        raise NoCounterpartError(
            f"version {record.version} has timestamp {record.changed}, and {stored_at} was given before it"
            " was stored"
        )
    stamped = record.version if given > stored_at else max(0, record.version - 1)
    changing = metas[-1].change is not None and acknowledged < record.version
    return MetaView(record.version, changing, acknowledged, stamped)


def cache_view(cache: MetaCache | None, *, alive: bool, listed: bool) -> CacheView:
    """The picture of a proxy; None before it has started."""
    if cache is None:
        return CacheView(alive=False, listed=False, closed=False, entry=None, floor=0, flights=())
    entry = cache.entries.get(NAME)
    known = [*cache.flights, *(one for one in cache.shared.values() if one not in cache.flights)]
    flights = () if cache.closed else tuple(_flight(cache, flight) for flight in known)
    return CacheView(
        alive=alive and not cache.closed,
        listed=listed,
        closed=cache.closed,
        entry=None if entry is None else entry.version,
        floor=0 if cache.closed else cache.floors.get(NAME, 0),
        flights=flights,
    )


def _flight(cache: MetaCache, flight: Any) -> FlightView:
    answer = None if flight.answer is None else flight.answer.version
    return flight.leader, tuple(sorted(flight.waiting)), answer, cache.shared.get(NAME) is flight


def number_of(task: str) -> int:
    """The number of a request, from the name of its task. Raises NoCounterpartError."""
    number = task.rpartition(" ")[2]
    if not number.isdigit():
        raise NoCounterpartError(f"what waits for an answer is {task!r}, and no request")
    return int(number)


def abstract(
    meta: MetaView, told: Sequence[str], caches: Sequence[CacheView], requests: Sequence[RequestView]
) -> dict[str, Any]:
    """The state of ``spec.meta``, by variable name. ``told``: proxies, of the change under way."""
    flights = {
        number_of(leader): (tuple(map(number_of, waiting)), answer, shared)
        for one in caches
        for leader, waiting, answer, shared in one.flights
    }
    waits = {(r, f) for f, (waiting, _, _) in flights.items() for r in waiting}
    numbers = range(len(requests))
    return {
        "current": meta.current,
        "changing": meta.changing,
        "acknowledged": meta.acknowledged,
        "stamped": meta.stamped,
        "listed": {p: one.listed for p, one in enumerate(caches)},
        "told": {p: str(p) in told and one.listed for p, one in enumerate(caches)},
        "faults": sum(one.closed for one in caches),
        "alive": {p: one.alive for p, one in enumerate(caches)},
        "has": {p: one.entry is not None for p, one in enumerate(caches)},
        "cache": {p: one.entry or 0 for p, one in enumerate(caches)},
        "floor": {p: one.floor for p, one in enumerate(caches)},
        "flight": {f: _phase(flights.get(f)) for f in numbers},
        "value": {f: (flights[f][1] or 0) if f in flights else 0 for f in numbers},
        "shared": {f: f in flights and flights[f][2] for f in numbers},
        "stage": {
            r: _stage(one, caches[one.proxy], any(q == r for q, _ in waits)) for r, one in enumerate(requests)
        },
        "waits": {(r, f): (r, f) in waits for r in numbers for f in numbers},
        "since": {r: one.since for r, one in enumerate(requests)},
        "after": {r: one.after for r, one in enumerate(requests)},
        "version": {r: one.version or 0 for r, one in enumerate(requests)},
    }


def _phase(flight: tuple[tuple[int, ...], int | None, bool] | None) -> str:
    if flight is None:
        return "idle"
    return "asked" if flight[1] is None else "answered"


def _stage(request: RequestView, cache: CacheView, waits: bool) -> str:  # noqa: FBT001 - a value, no option
    if request.version is not None:
        return "served"
    if not request.begun:
        return "new"
    if request.failed or cache.closed:
        return "failed"
    return "waiting" if waits else "begun"


ENVIRONMENT = Environment(
    "spec/meta:Meta",
    {
        "stamped": "the oracle, which is simulated: what it has given since the version was stored",
        "listed, told, alive": "sessions, and whom the coordinator has told: noted by the program",
        "stage, version, since, after": "requests: what they were given, and when they began",
    },
)
"""What is not read from the implementation, and why."""
