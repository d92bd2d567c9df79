"""Catalogue, caches and requests by name under exploration, each step compared with the specification.

Each step must be one of ``mutants.finer.AsBuilt``, or change nothing of it. What rows are written by an
alias is looked at in ``program``. A proxy has one request at a time: shared questions are those of
``meta.program``.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from tidemark.impl.errors import CollectionError
from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.rootcoord.catalog import Catalog
from tidemark.impl.rootcoord.collection_meta import CollectionMeta
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.rootcoord.direct import DirectMetaSource
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.instance import Instance
from tidemark.models.protocols.aliases.program.lookups import Lookups, Request, watched
from tidemark.models.protocols.aliases.refinement import (
    CacheView,
    MetaView,
    Past,
    Sizes,
    abstract,
    acknowledged_by,
    cache_view,
    meaning,
    meta_view,
)
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CLUSTER = "cluster"
SPECIFICATION = "tidemark.spec.aliases.variants.finer_steps:AsBuilt"
_MORE: dict[str, dict[str, Any]] = {"create": {"shards": 1}, "alter": {"schema": "another"}}


class NamesScenario(FaultyScenario):
    """What happens.

    Attributes:
        calls: of each client its calls, as "alter_alias alias others"; the first client's come first.
        asks: of each proxy the names that its requests ask for, one after another.
        creates: names of the collections that are created, in this order.
        protocol: the specification, or a variant of it.
    """

    calls: tuple[tuple[str, ...], ...]
    asks: tuple[tuple[str, ...], ...]
    creates: tuple[str, ...]
    protocol: str = SPECIFICATION

    @property
    def sizes(self) -> Sizes:
        """What the mapping must know."""
        said = [name for calls in self.calls for call in calls for name in call.split()[1:]]
        names = dict.fromkeys((*self.creates, *said, *(name for asked in self.asks for name in asked)))
        at = [proxy for proxy, asked in enumerate(self.asks) for _ in asked]
        return Sizes(tuple(names), self.creates, tuple(at), tuple(n for asked in self.asks for n in asked))

    def instance(self) -> Instance:
        """The bounded instance of a specification."""
        sizes = self.sizes
        return Instance(
            self.protocol,
            bounds={
                "Proxy": len(self.asks), "Name": len(sizes.names), "Collection": len(self.creates),
                "Request": len(sizes.at), "Version": sum(map(len, self.calls)) + self.crashes,
            },
            constants={
                "called": [sizes.names.index(name) for name in self.creates],
                "at": list(sizes.at),
                "asks": [sizes.names.index(name) for name in sizes.asks],
            },
            name="scheduled",
        )  # fmt: skip


class NamesProgram(RefiningProgram):
    """One coordinator, its proxies and their requests, in one process."""

    table = "aliases"

    def __init__(self, scenario: NamesScenario) -> None:
        self.settings = Settings(
            clock=ClockOrder.UNTIMED,
            faults=scenario.faults,
            crashable=frozenset({CLUSTER} if scenario.crashes else ()),
        )
        super().__init__(mapped(scenario, _values))
        self.scenario, self.sizes = scenario, scenario.sizes
        self.catalog: Catalog | None = None
        self.metas: list[CollectionMeta] = []
        self.caches: list[MetaCache] = []
        self.stored: dict[str, CollectionVersion] = {}
        self.past = Past()
        self.reserved, self.given = 1, 0
        self.done = [0] * len(scenario.calls)
        self.requests = [Request(*one) for one in zip(self.sizes.at, self.sizes.asks, strict=True)]
        self.began: dict[str, int] = {}
        self.moments: list[dict[str, int]] = [{} for _ in scenario.asks]

    def populate(self, world: World) -> None:
        """Define the process."""
        world.process(CLUSTER, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        catalog = Catalog(
            store=self,
            scheduler=DdlScheduler(oracle=self, preemption=NoPreemption()),
            announce=self._announce,
            place=lambda number, shards: tuple(f"c{number}v{shard}" for shard in range(shards)),
            proxies=self,
            preemption=process,
        )
        await catalog.load()
        self._begin(catalog, process)
        await catalog.finish_changes()
        self._go_on(process, 0)

    def _begin(self, catalog: Catalog, process: Process) -> None:
        """The catalogue is loaded. Proxies are new, and what went on before is over."""
        self.catalog = catalog
        self.metas.append(catalog.meta)
        self.began = {name: record.version for name, record in self.stored.items()}
        self.moments = [{} for _ in self.scenario.asks]
        self.caches = [watched(Lookups(self, process, proxy)) for proxy in range(len(self.moments))]
        for request in self.requests:
            request.end()

    # What clients ask for.

    def _go_on(self, process: Process, client: int) -> None:
        """Let a client make its next call; when the first has made all of its own, the others come."""
        calls, done = self.scenario.calls[client], self.done[client]
        if done < len(calls):
            method = calls[done].split()[0]
            process.spawn(self._call(process, client, calls[done]), f"{method} of {client}")
        elif client == 0:
            for other in range(1, len(self.scenario.calls)):
                self._go_on(process, other)
            for proxy in range(len(self.scenario.asks)):
                self._ask_next(process, proxy)

    async def _call(self, process: Process, client: int, call: str) -> None:
        method, *names = call.split()
        if client:
            await process.point("client.come")
        with suppress(CollectionError):  # then nothing of the specification has changed
            await getattr(self._known_catalog(), method)(*names, **_MORE.get(method, {}))
        self.done[client] += 1
        self._go_on(process, client)

    def _ask_next(self, process: Process, proxy: int) -> None:
        """Let the next request of a proxy come."""
        for number, request in enumerate(self.requests):
            if request.proxy == proxy and not request.begun:
                process.spawn(self._ask(process, number), f"request {number}")
                return

    async def _ask(self, process: Process, number: int) -> None:
        request, meta = self.requests[number], self._known_catalog().meta
        await process.point("request.come")
        acknowledged = acknowledged_by(self.metas)
        last = max(acknowledged.values(), default=0)
        meant = {meaning(meta.describe(request.asks)), meaning(self.past.at(last, request.asks))}
        request.begin(acknowledged, meant - {0})
        found = await self.caches[request.proxy].resolve(request.asks)
        request.end(found)
        self._ask_next(process, request.proxy)

    def _known_catalog(self) -> Catalog:
        assert self.catalog is not None
        return self.catalog

    # The edges.

    async def alloc(self, count: int) -> int:
        """See Oracle. Timestamps are nothing of the specification: to take one is no step."""
        self.given += count
        return self.given

    async def load(self) -> Sequence[CollectionVersion]:
        """See CatalogStore."""
        return tuple(await self.world.operation("load", lambda: tuple(self.stored.values())))

    async def save(self, record: CollectionVersion) -> None:
        """See CatalogStore."""
        await self.world.operation(f"store {record.name} {record.version}", partial(self._store, record))

    def _store(self, record: CollectionVersion) -> None:
        self.stored[record.name] = record
        self.past = self.past.with_version(record)
        for request in self.requests:
            if request.goes_on and request.asks == record.name and meaning(record):
                request.meant |= {meaning(record)}

    async def reserve(self, count: int) -> int:
        """See CatalogStore."""

        def take() -> int:
            self.reserved += count
            return self.reserved - count

        return int(await self.world.operation("reserve", take))

    async def _announce(self, channel: str, ts: int, text: str) -> None:
        """The logs are those of ``meta.program.catalog``: here a message is nothing."""

    async def answer(self, request: Request, name: str) -> CollectionVersion:
        """See MetaSource: the answer to a request, on its way."""
        await self.world.operation(f"describe {name}", lambda: None)
        meta, moments = self._known_catalog().meta, self.moments[request.proxy]
        request.answer = await DirectMetaSource(meta).describe(name)
        request.moment = moments[name] = meta.last
        return request.answer

    def listed(self) -> Collection[str]:
        """See ProxyCaches."""
        return [str(proxy) for proxy in range(len(self.scenario.asks))]

    async def invalidate(self, proxy: str, name: str, version: int) -> None:
        """See ProxyCaches."""
        forget = partial(self.caches[int(proxy)].invalidate, name, version)
        await self.world.operation(f"invalidate {proxy} {name}", forget)

    # What is looked at.

    def element(self, name: str, value: Any) -> Any:
        """A name is known by its place."""
        return self.sizes.names.index(value) if name == "n" else super().element(name, value)

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each request has ended, and each change is acknowledged."""
        for r, stage in values["stage"].items():
            if stage not in ("served", "refused"):
                return f"request {r} is not over: {stage}"
        return "a change is not acknowledged" if values["changing"] else None

    def condition(self, name: str, event: Event) -> bool:
        """The table's condition: the coordinator has "restarted"."""
        assert name == "restarted", name
        del event
        return len(self.metas) > 1

    def observe(self) -> Observation:
        """What coordinator, proxies and requests hold."""
        meta = MetaView(0, None, (), ()) if self.catalog is None else meta_view(self.metas)
        nothing = CacheView((), (), (), ())
        caches = tuple(
            cache_view(cache, began=self.began, moments=moments)
            for cache, moments in zip(self.caches, self.moments, strict=bool(self.caches))
        )
        requests = tuple(request.view() for request in self.requests)
        return {CLUSTER: (meta, caches or (nothing,) * len(self.moments), requests, self.past)}

    def declared(self) -> Hashable:
        """The mutable data that influence what happens next."""
        stored = tuple(self.stored.values())
        shared = tuple(tuple(cache.shared) for cache in self.caches)
        brought = tuple(request.brought for request in self.requests)
        return (tuple(self._observed.values()), stored, shared, brought, tuple(self.done), self._counters())

    def _counters(self) -> tuple[int, int]:
        return self.reserved, self.given


def _values(scenario: NamesScenario, known: Any) -> Mapping[str, Any]:
    return abstract(*known[CLUSTER], sizes=scenario.sizes)


names = program(NamesProgram, NamesScenario)
