"""From the live objects of catalogue, caches and requests to the state of the specification of aliases.

The specification is ``mutants.finer.AsBuilt``: a proxy keeps also that a name means nothing, and the cluster
may start again.

A collection of the specification is one that was stored, in their order; its name is given by the scenario.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.rootcoord.collection_meta import CollectionMeta
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.refinement.origins import Environment
from tidemark.models.refinement.step import NoCounterpartError

Records = tuple[CollectionVersion, ...]


class Sizes(NamedTuple):
    """Of an instance: the names, the name of each collection in the order of their creation, the proxy of
    each request and the name that it asks for.
    """

    names: tuple[str, ...]
    called: tuple[str, ...]
    at: tuple[int, ...]
    asks: tuple[str, ...]


class MetaView(NamedTuple):
    """The coordinator. ``told``: None if no change is under way. ``acknowledged``: by name."""

    last: int
    told: tuple[str, ...] | None
    versions: Records
    acknowledged: tuple[tuple[str, int], ...]


class CacheView(NamedTuple):
    """A proxy. ``entries``, ``floors``: by name. ``began``: versions of names when it began.
    ``moments``: of its entries, by name.
    """

    entries: tuple[tuple[str, CollectionVersion], ...]
    floors: tuple[tuple[str, int], ...]
    began: tuple[tuple[str, int], ...]
    moments: tuple[tuple[str, int], ...]


class RequestView(NamedTuple):
    """A request. ``alias``: what the first lookup has brought, during the second. ``served``: number of the
    collection; 0 if it was refused; None before. ``moment``: of the answer on its way, or of what is served.
    """

    begun: bool
    looking: str
    alias: CollectionVersion | None
    answer: CollectionVersion | None
    moment: int
    served: int | None
    before: tuple[tuple[str, int], ...]
    meant: frozenset[int]


@dataclass(frozen=True, slots=True)
class Past:
    """What was stored. ``moments``: after each change its version, and the versions of all names. ``made``:
    numbers of collections in the order in which they were stored.
    """

    moments: tuple[tuple[int, Records], ...] = ((0, ()),)
    made: tuple[int, ...] = ()

    def with_version(self, record: CollectionVersion) -> Past:
        """After a change of this name. The timestamp of a change is no change of its own."""
        known = {old.name: old for old in self.moments[-1][1]}
        if record.name in known and known[record.name].version == record.version:
            return self
        known[record.name] = record
        new = record.exists and record.number not in self.made
        moments = (*self.moments, (record.version, tuple(known.values())))
        return Past(moments, (*self.made, record.number) if new else self.made)

    def at(self, moment: int, name: str) -> CollectionVersion:
        """The version of a name after so many changes. Raises NoCounterpartError if there were fewer."""
        found = [records for version, records in self.moments if version == moment]
        if not found:
            raise NoCounterpartError(f"no change has the version {moment}; the last is {self.moments[-1][0]}")
        return next((one for one in found[-1] if one.name == name), CollectionVersion(name, 0, ""))


def meaning(record: CollectionVersion) -> int:
    """The number of the collection that a record says its name means; 0 for none."""
    return record.number if record.exists or record.is_alias else 0


def acknowledged_by(metas: Sequence[CollectionMeta]) -> dict[str, int]:
    """By name the last version that some coordinator has acknowledged."""
    found: dict[str, int] = {}
    for name, version in (item for meta in metas for item in meta.acknowledged.items()):
        found[name] = max(found.get(name, 0), version)
    return found


def meta_view(metas: Sequence[CollectionMeta]) -> MetaView:
    """The picture of the coordinator, which is the last of these. It may tell of a change that was
    acknowledged, and has no timestamp: then none is under way.
    """
    meta, acknowledged = metas[-1], acknowledged_by(metas)
    change = meta.change
    if change is not None and acknowledged.get(change.name, 0) >= meta.describe(change.name).version:
        change = None
    told = None if change is None else tuple(sorted(change.told))
    versions = tuple(sorted(meta.versions.values(), key=lambda record: record.name))
    return MetaView(meta.last, told, versions, tuple(sorted(acknowledged.items())))


def cache_view(cache: MetaCache, *, began: Mapping[str, int], moments: Mapping[str, int]) -> CacheView:
    """The picture of a proxy."""
    found = (cache.entries, cache.floors, began, moments)
    return CacheView(*(tuple(sorted(of.items())) for of in found))  # type: ignore[arg-type]


def abstract(
    meta: MetaView, caches: Sequence[CacheView], requests: Sequence[RequestView], past: Past, *, sizes: Sizes
) -> dict[str, Any]:
    """The state of the specification, by variable name. Raises NoCounterpartError."""
    return {
        **_coordinator(meta, len(caches), past, sizes),
        **_proxies(caches, past, sizes),
        **_requests(requests, past, sizes),
    }


def _coordinator(meta: MetaView, proxies: int, past: Past, sizes: Sizes) -> dict[str, Any]:
    acknowledged, told = dict(meta.acknowledged), meta.told or ()
    versions = {record.name: record for record in meta.versions}
    numbers = range(len(sizes.called))
    living = [_place(record, past, sizes) for record in meta.versions if record.exists]
    pointing = {_key(r.name, sizes): _place(r, past, sizes) for r in meta.versions if r.is_alias}
    last = max(acknowledged.values(), default=0)
    shown = {n: meaning(past.at(last, name)) for n, name in enumerate(sizes.names)}
    return {
        "now": meta.last,
        "changing": meta.told is not None,
        "made": {x: x < len(past.made) for x in numbers},
        "live": {x: x in living for x in numbers},
        "alias": {(n, x): pointing.get(n) == x for n in range(len(sizes.names)) for x in numbers},
        "changed": {n: versions[name].version if name in versions else 0 for n, name in _all(sizes)},
        "settled": {n: acknowledged.get(name, 0) for n, name in _all(sizes)},
        "told": {p: str(p) in told for p in range(proxies)},
        "shown": {
            (n, x): x < len(past.made) and shown[n] == past.made[x]
            for n in range(len(sizes.names))
            for x in numbers
        },
    }


def _proxies(caches: Sequence[CacheView], past: Past, sizes: Sizes) -> dict[str, Any]:
    kept: dict[tuple[int, int], int | None] = {}
    moment: dict[tuple[int, int], int] = {}
    floor: dict[tuple[int, int], int] = {}
    for p, cache in enumerate(caches):
        entries, moments = dict(cache.entries), dict(cache.moments)
        floors, began = dict(cache.floors), dict(cache.began)
        for n, name in _all(sizes):
            floor[p, n] = max(floors.get(name, 0), began.get(name, 0))
            if name in entries:
                _check_entry(name, entries[name], moments[name], past)
                kept[p, n] = _place(entries[name], past, sizes)
            moment[p, n] = moments[name] if kept.get((p, n)) is not None else 0
    numbers = range(len(sizes.called))
    return {
        "keeps": {(*key, x): key in kept and kept[key] == x for key in floor for x in numbers},
        "lacks": {key: key in kept and kept[key] is None for key in floor},
        "moment": moment,
        "floor": floor,
    }


def _requests(requests: Sequence[RequestView], past: Past, sizes: Sizes) -> dict[str, Any]:
    numbers = range(len(sizes.called))
    pick: dict[int, int | None] = {}
    brings: dict[int, int | None] = {}
    for r, one in enumerate(requests):
        _check_lookup(sizes.asks[r], one)
        pick[r] = None if one.alias is None else _place(one.alias, past, sizes)
        if one.served:
            pick[r] = _index(one.served, past)
        brings[r] = None if one.answer is None else _place(one.answer, past, sizes)
    return {
        "stage": {r: _stage(one) for r, one in enumerate(requests)},
        "through": {r: one.alias is not None for r, one in enumerate(requests)},
        "pick": {(r, x): pick[r] == x for r in pick for x in numbers},
        "brings": {(r, x): brings[r] == x for r in brings for x in numbers},
        "given": {r: one.moment if one.answer is not None else 0 for r, one in enumerate(requests)},
        "before": {
            (r, n): dict(one.before).get(k, 0) for r, one in enumerate(requests) for n, k in _all(sizes)
        },
        "meant": {
            (r, x): x < len(past.made) and past.made[x] in one.meant
            for r, one in enumerate(requests)
            for x in numbers
        },
        "last": {r: one.moment if one.served else 0 for r, one in enumerate(requests)},
    }


def _stage(request: RequestView) -> str:
    if not request.begun:
        return "new"
    if request.served is not None:
        return "served" if request.served else "refused"
    return "begun" if request.answer is None else "answered"


def _check_entry(name: str, entry: CollectionVersion, moment: int, past: Past) -> None:
    """What is kept is what was stored of the name at its moment. Its timestamp may have come later."""
    stored = past.at(moment, name)
    same = (entry.version, entry.schema, meaning(entry)) == (stored.version, stored.schema, meaning(stored))
    if entry.name != name or not same:
        raise NoCounterpartError(f"{entry} is kept of {name!r} from moment {moment}, and {stored} was stored")


def _check_lookup(asked: str, request: RequestView) -> None:
    """A request looks up its name, or that of the collection that its alias has named."""
    expected = asked if request.alias is None else request.alias.alias_of
    if request.begun and request.served is None and request.looking != expected:
        raise NoCounterpartError(f"a request of {asked!r} looks up {request.looking!r}, not {expected!r}")


def _all(sizes: Sizes) -> list[tuple[int, str]]:
    return list(enumerate(sizes.names))


def _key(name: str, sizes: Sizes) -> int:
    if name not in sizes.names:
        raise NoCounterpartError(f"there is no name {name!r}; names: {', '.join(sizes.names)}")
    return sizes.names.index(name)


def _index(number: int, past: Past) -> int:
    if number not in past.made:
        raise NoCounterpartError(f"no collection of number {number} was stored; stored: {past.made}")
    return past.made.index(number)


def _place(record: CollectionVersion, past: Past, sizes: Sizes) -> int | None:
    """The collection that a record means; None if it means nothing."""
    if not meaning(record):
        return None
    place = _index(record.number, past)
    name = record.alias_of if record.is_alias else record.name
    if place >= len(sizes.called) or sizes.called[place] != name:
        raise NoCounterpartError(
            f"{record}: collection {record.number}, stored as number {place}, is no {name!r}"
        )
    return place


ENVIRONMENT = Environment(
    "tidemark.spec.aliases.variants.finer_steps:AsBuilt",
    {
        "made, shown": "a history: what was stored at each version, and what it meant",
        "floor": "what was stored when the cache began",
        "moment": "a history: the changes that were stored when the coordinator answered",
        "stage, through, brings, pick": "what a request asks the cache, and is answered: noted there",
        "given, last, before, meant": "histories of requests: noted by the program",
    },
)
"""What is not read from the implementation, and why."""
