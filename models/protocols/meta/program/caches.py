"""Coordinator, proxies and requests as a program under exploration.

Each step must be a step of ``tidemark.spec.meta``, or change nothing of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.impl.errors import CollectionError, RpcError, SessionEndedError
from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.rootcoord.catalog import Catalog
from tidemark.impl.rootcoord.collection_meta import CollectionMeta
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.rootcoord.direct import DirectMetaSource
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.instance import Instance
from tidemark.models.protocols.meta.refinement import (
    NAME,
    MetaView,
    RequestView,
    abstract,
    cache_view,
    meta_view,
)
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.refinement.step import NoCounterpartError
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CLUSTER, COORDINATOR = "cluster", "coordinator"
SPECIFICATION = "tidemark.spec.meta:Meta"
RESTARTS = "tidemark.spec.meta.variants.other_rules:CoordinatorRestarts"
_FIRST = CollectionVersion(NAME, 0, "", number=1, created=1, channels=("c1v0",), changed=1)
"""What is stored at first where a coordinator may crash."""


class MetaScenario(FaultyScenario):
    """What happens. If the coordinator may crash, proxies and requests are in another process, and the
    collection is there from the beginning.

    Attributes:
        requests: for each request the number of its proxy.
        changes: how often the collection is changed: it is created, then altered.
        leaves: proxies whose session ends.
        failures: how many questions the coordinator does not answer.
        cancels: requests whose clients may leave, at any step.
        changers: how many change it side by side, each as often as that.
        silences: how many questions the coordinator never answers. Who asks waits for ever then; who waits
            with him, until the proxy's session ends.
        protocol: the specification, or a variant of it.
    """

    requests: tuple[int, ...] = (0, 0)
    changes: int = 1
    leaves: tuple[int, ...] = ()
    failures: int = 0
    cancels: tuple[int, ...] = ()
    changers: int = 1
    silences: int = 0
    protocol: str = SPECIFICATION

    @property
    def proxies(self) -> int:
        """How many there are."""
        return max(self.requests) + 1

    def instance(self) -> Instance:
        """The bounded instance of a specification. A fetch has the number of the request that asks."""
        requests = len(self.requests)
        return Instance(
            self.protocol,
            bounds={
                "Proxy": self.proxies, "Fetch": requests, "Request": requests,
                "Version": self.changes * self.changers,
                "Faults": len(self.leaves),
            },
            constants={"by": list(self.requests), "at": list(self.requests)},
            name="scheduled",
        )  # fmt: skip


@dataclass(slots=True, eq=False)
class _Request:
    """A client's request, and what came of it."""

    proxy: int
    begun: bool = False
    failed: bool = False
    since: int = 0
    after: int = 0
    version: int | None = None

    def view(self) -> RequestView:
        return RequestView(self.proxy, self.begun, self.failed, self.since, self.after, self.version)


class _Edges:
    """The coordinator as the caches see it; caches, store, oracle and logs as the coordinator sees them."""

    def __init__(self, program: MetaProgram, world: World) -> None:
        self._program = program
        self._world = world

    async def describe(self, name: str) -> CollectionVersion:
        """The answer of the coordinator, on its way, or none. While none runs it is that of the last one:
        what is stored.
        """
        if self._program.silences_left and await self._world.draw(2, "silence"):
            self._program.silences_left -= 1
            await asyncio.get_running_loop().create_future()
        if self._program.failures_left and await self._world.draw(2, "answer"):
            self._program.failures_left -= 1
            raise RpcError("the coordinator does not answer")
        await self._world.operation("describe", lambda: self._program.share(writes=CLUSTER))
        self._program.share(reads=COORDINATOR)
        return await DirectMetaSource(self._meta()).describe(name)

    def listed(self) -> Collection[str]:
        """The proxies that the coordinator has to tell."""
        self._program.share(reads=CLUSTER)
        return sorted(self._program.listed)

    async def invalidate(self, proxy: str, name: str, version: int) -> None:
        """One proxy forgets."""

        def forget() -> None:
            self._program.share(writes=CLUSTER)
            if proxy in self._program.listed:
                self._program.caches[int(proxy)].invalidate(name, version)

        await self._world.operation(f"invalidate {proxy}", forget)

    async def save(self, record: CollectionVersion) -> None:
        """Store a version, or the time of one."""
        title = "note" if record.version == self._meta().last else "store"
        await self._world.operation(f"{title} {record.version}", lambda: self._program.store(record))

    async def load(self) -> Sequence[CollectionVersion]:
        """What is stored."""
        return self._program.stored

    async def reserve(self, count: int) -> int:
        """Reserve numbers."""
        del count
        return 1

    async def alloc(self, count: int) -> int:
        """A timestamp of the oracle."""

        def give() -> int:
            self._program.given += count
            return self._program.given

        return int(await self._world.operation("allocate", give))

    async def announce(self, channel: str, ts: int, text: str) -> None:
        """The logs are those of ``catalog``: here a message is nothing."""

    def _meta(self) -> CollectionMeta:
        return self._program.metas[-1]


class MetaProgram(RefiningProgram):
    """One coordinator, its proxies and their requests; in a process of its own if it may crash."""

    table = "meta"

    def __init__(self, scenario: MetaScenario) -> None:
        super().__init__(mapped(scenario, _values, sound=scenario.protocol in (SPECIFICATION, RESTARTS)))
        self.scenario = scenario
        self.settings = Settings(
            clock=ClockOrder.UNTIMED,
            faults=scenario.faults,
            crashable=frozenset({COORDINATOR} if scenario.crashes else ()),
        )
        self.metas: list[CollectionMeta] = []
        self.stored: tuple[CollectionVersion, ...] = (_FIRST,) if scenario.crashes else ()
        self.caches: dict[int, MetaCache] = {}
        self.listed: set[str] = set()
        self.requests = [_Request(proxy) for proxy in scenario.requests]
        self.changes_left = [scenario.changes] * scenario.changers
        self.silences_left = scenario.silences
        self.waiting: set[str] = set()
        self.failures_left = scenario.failures
        self.given = self.stored_at = 0

    def populate(self, world: World) -> None:
        """Define the process."""
        world.process(CLUSTER, self._run, daemon=True)
        if self.scenario.crashes:
            world.process(COORDINATOR, self._coordinate, daemon=True)

    async def _coordinate(self, process: Process) -> None:
        self._start_changes(process, await self._open_catalog(process))

    async def _open_catalog(self, process: Process) -> Catalog:
        edges = _Edges(self, self.world)
        catalog = Catalog(
            store=edges,
            scheduler=DdlScheduler(oracle=edges, preemption=NoPreemption()),
            announce=edges.announce,
            place=lambda number, shards: (f"c{number}v{shards - 1}",),
            proxies=edges,
            preemption=process,
        )
        await catalog.load()
        self.metas.append(catalog.meta)
        return catalog

    def _start_changes(self, process: Process, catalog: Catalog) -> None:
        for number in range(self.scenario.changers):
            process.spawn(self._change(process, catalog, number), "more changes" if number else "changes")

    async def _run(self, process: Process) -> None:
        edges = _Edges(self, self.world)
        catalog = None if self.scenario.crashes else await self._open_catalog(process)
        for proxy in range(self.scenario.proxies):
            process.spawn(self._live(process, edges, proxy), f"proxy {proxy}")
        for number, request in enumerate(self.requests):
            asking = asyncio.create_task(self._ask(process, request), name=f"request {number}")
            if number in self.scenario.cancels:
                process.spawn(_leave(process, asking), f"leaver {number}")
        if catalog is not None:
            self._start_changes(process, catalog)

    async def _live(self, process: Process, edges: _Edges, proxy: int) -> None:
        await process.point("session.start")
        self.caches[proxy] = MetaCache(source=edges, preemption=process)
        await process.point("session.learn")
        self.listed.add(str(proxy))
        if proxy in self.scenario.leaves:
            await process.point("session.leave")
            self.listed.discard(str(proxy))
            self.caches[proxy].close()

    async def _ask(self, process: Process, request: _Request) -> None:
        await process.point("client.come")
        if str(request.proxy) not in self.listed:
            return  # there is no such proxy yet, or no longer
        self.share(reads=COORDINATOR)
        seen = self._meta_view()
        request.begun, request.since, request.after = True, seen.acknowledged, seen.stamped
        name = f"request {self.requests.index(request)}"
        self.waiting.add(name)
        try:
            await process.point("meta.look")
            request.version = (await self.caches[request.proxy].get(NAME)).version
        except (SessionEndedError, RpcError):
            request.failed = True
        except asyncio.CancelledError:
            request.failed = True
            raise
        finally:
            self.waiting.discard(name)

    async def _change(self, process: Process, catalog: Catalog, number: int) -> None:
        """The first change of the collection is its creation."""
        await catalog.finish_changes()
        while self.changes_left[number]:
            await process.point("client.alter")
            self.changes_left[number] -= 1
            try:
                record = await catalog.create(NAME, shards=1, schema="schema")
            except CollectionError:
                record = await catalog.alter(NAME, schema="schema")
            if record.schema != "schema":
                raise NoCounterpartError(f"the schema is {record.schema!r}")

    def store(self, record: CollectionVersion) -> None:
        """A version is stored, or its timestamp."""
        if record.version > self.metas[-1].last:
            self.stored_at = self.given
        self.stored = (record,)

    def share(self, *, reads: str = "", writes: str = "") -> None:
        """A step reads or writes what belongs to the other process."""
        if self.scenario.crashes:
            bits = [self.world.interner.bit(name) if name else 0 for name in (reads, writes)]
            self.world.touch(reads=bits[0], writes=bits[1])

    def _meta_view(self) -> MetaView:
        if not self.metas:
            return MetaView(0, changing=False, acknowledged=0, stamped=0)
        return meta_view(self.metas, stored_at=self.stored_at, given=self.given)

    # What is looked at.

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each request that has begun has ended, and each change is acknowledged."""
        for r, stage in values["stage"].items():
            if stage in ("begun", "waiting") and self.silences_left == self.scenario.silences:
                return f"request {r} is not over: {stage}"
        for proxy, cache in self.caches.items():
            waiting = {name for one in cache.flights for name in one.waiting if name != one.leader}
            if cache.closed and waiting & self.waiting:
                return f"{waiting & self.waiting} wait, and proxy {proxy} is closed"
        return "a change is not acknowledged" if values["changing"] else None

    def condition(self, name: str, event: Event) -> bool:
        """The table's condition: the coordinator has "restarted"."""
        assert name == "restarted", name
        del event
        return len(self.metas) > 1

    def observe(self) -> Observation:
        """What coordinator, proxies and requests hold."""
        change = self.metas[-1].change if self.metas else None
        view = self._meta_view()
        told = tuple(sorted(change.told)) if change is not None and view.changing else ()
        if not self.scenario.crashes:
            told = tuple(proxy for proxy in told if proxy in self.listed)
        proxies = tuple(
            cache_view(self.caches.get(p), alive=p in self.caches, listed=str(p) in self.listed)
            for p in range(self.scenario.proxies)
        )
        requests = tuple(request.view() for request in self.requests)
        if self.scenario.crashes:
            return {COORDINATOR: (view, told), CLUSTER: (proxies, requests)}
        return {CLUSTER: (view, told, proxies, requests)}

    def declared(self) -> Hashable:
        """The mutable data that influence what happens next."""
        left = (tuple(self.changes_left), self.failures_left, self.silences_left, self.given)
        kept = (self.stored, self.metas[-1].change is not None) if self.scenario.crashes else None
        return (tuple(self._observed.values()), left, tuple(sorted(self.waiting)), kept)


async def _leave(process: Process, request: asyncio.Task[None]) -> None:
    """The client is cancelled, wherever it waits. Before it has come there is nothing to cancel."""
    await process.point("client.leave")
    request.cancel()


def _values(scenario: MetaScenario, known: Any) -> Mapping[str, Any]:
    del scenario
    return abstract(*known.get(COORDINATOR, ()), *known[CLUSTER])


meta = program(MetaProgram, MetaScenario)
