"""The life of a catalogue: clients call side by side, every edge may fail, sessions of proxies come and go.

The explored programs of ``meta`` and ``aliases`` have edges that do not fail, and look at what is stored and
logged. Here each question to an edge is compared with what is due: see ``reckoning``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Hashable, Sequence
from typing import Any, cast

from tidemark.impl.errors import CollectionError, ImplementationError, RpcError, StoreError
from tidemark.impl.proxy.meta_cache import MetaCache, NoMetadata
from tidemark.impl.rootcoord.catalog import Catalog
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.rootcoord.direct import DirectProxyCaches, DirectRootCoordClient
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.rootcoord.round_queue import RoundQueue
from tidemark.impl.rootcoord.time_tick_sync import TimeTickSync
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.report import TimeTickReport
from tidemark.models.protocols.common.scripted import ScriptedProgram
from tidemark.models.protocols.meta.life.reckoning import (
    ANSWERED_SO,
    CACHES_END,
    DUE,
    NOTHING_FOLLOWS,
    NUMBERS_ONCE,
    Reckoning,
)
from tidemark.models.protocols.meta.life.scripts import SCRIPTS, STORED
from tidemark.models.simulation.world.process import Process

_FAILURES: dict[str, type[ImplementationError]] = {
    "alloc": RpcError,
    "announce": RpcError,
    "save": StoreError,
}
_OFTEN = 200
"""No script has so many changes and proxies that they are listed more often."""
_FIRST = 7
"""The first number that is reserved."""


class CatalogLife(ScriptedProgram):
    """One catalogue, its clients, and the caches of proxies.

    Scripts have the questions ``alloc``, ``announce``, ``save`` and ``invalidate``, and

    - ``stored``: names of what is stored at the start, with an open change where "open" follows;
    - ``clients``: of each client its calls, one after another, as a method with its arguments;
    - ``sessions``: the proxies; ``leaves``, ``joins``: by number of an invalidation, counted from 1, the
      proxy whose session ends, or begins, before it is answered;
    - ``numbers``: all numbers are taken at the end.
    """

    claims = (DUE, ANSWERED_SO, NUMBERS_ONCE, CACHES_END, NOTHING_FOLLOWS)

    async def live(self, process: Process) -> None:
        """Load the catalogue, and let its clients call."""
        self.process = process
        sessions = self.script.get("sessions", (1,))
        stored = {
            name: STORED[name, name in self.script.get("open", ())] for name in self.script.get("stored", ())
        }
        self.reckoning = Reckoning(stored, sessions, _place)
        self.sync = TimeTickSync(rounds=RoundQueue(1), preemption=NoPreemption())
        self.sync.init_sessions(sessions)
        self.proxies = DirectProxyCaches(self.sync)
        self.caches: dict[int, MetaCache] = {}
        for proxy in sessions:
            self._begin(proxy)
        self.scheduler = DdlScheduler(oracle=self, preemption=NoPreemption())
        self.catalog = Catalog(
            store=_Store(self, tuple(stored.values())), scheduler=self.scheduler, announce=self._announce,
            place=self._placed, proxies=self, preemption=NoPreemption(),
        )  # fmt: skip
        self.told: list[str] = []
        self.given = self.invalidations = self.lists = 0
        self.begun = True
        await self.catalog.load()
        finishing = self.reckoning.comes(self.reckoning.finishes())
        await self.catalog.finish_changes()
        self.reckoning.has_ended(finishing, CollectionVersion("", 0, ""))
        for number, calls in enumerate(self.script.get("clients", ())):
            process.spawn(self._client(calls), f"client {number}")
        if self.script.get("numbers"):
            self._take_all_numbers()
            await self._ask_for_little()

    async def _client(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> None:
        for method, arguments in calls:
            due = self.reckoning.comes(getattr(self.reckoning, method)(**arguments))
            heard: CollectionVersion | str
            try:
                heard = await getattr(self.catalog, method)(**arguments)
            except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
                heard = type(failure).__name__
            self.reckoning.looks_at_appends(self.scheduler.min_ddl_ts)
            self.reckoning.has_ended(due, heard)
            self.told.append(f"{method} {heard}")
            self._look_at_what_is_known()

    def _look_at_what_is_known(self) -> None:
        """What the catalogue shows is what is stored, and caches are closed with their sessions."""
        known = self.reckoning.versions
        aliases = {name: one.alias_of for name, one in known.items() if one.alias_of and not one.gone}
        there = {name: one for name, one in known.items() if not (one.alias_of or one.gone)}
        if (self.catalog.meta.versions, self.catalog.aliases) != (known, aliases):
            self.reckoning.seems(ANSWERED_SO, f"the catalogue has {self.catalog.meta.versions}, not {known}")
        if self.catalog.collections != there:
            self.reckoning.seems(ANSWERED_SO, f"there are {self.catalog.collections}, not {there}")
        if self.catalog.meta.acknowledged != {name: one.version for name, one in known.items()}:
            unknown = f"{self.catalog.meta.acknowledged} are acknowledged"
            if not any("Error" in one for one in self.told):
                self.reckoning.seems(ANSWERED_SO, unknown)

    def _begin(self, proxy: int) -> None:
        self.caches[proxy] = MetaCache(source=NoMetadata(), preemption=NoPreemption())
        self.proxies.add(proxy, self.caches[proxy])

    def _placed(self, number: int, shards: int) -> tuple[str, ...]:
        self.reckoning.takes(number)
        return _place(number, shards)

    def _take_all_numbers(self) -> None:
        number: int | None = 0
        while number is not None and self.reckoning.wrong is None:
            try:
                number = self.catalog.take_number()
            except CollectionError:
                number = None
            self.reckoning.takes(number)

    async def _ask_for_little(self) -> None:
        """What a proxy without a source of metadata hears, and that a report is handed on."""
        heard = ""
        try:
            await NoMetadata().describe("things")
        except RpcError:
            heard = "RpcError"
        reports = _Reports()
        report = TimeTickReport(1, (), 1)
        await DirectRootCoordClient(cast("RootCoord", reports)).update_channel_time_tick(report, deadline=1.0)
        if heard != "RpcError" or reports.came != [report]:
            self.reckoning.seems(ANSWERED_SO, f"a proxy hears {heard!r}, and {reports.came} are reported")

    # The edges.

    async def _edge(self, question: str, *more: Any, answer: Any = None) -> Any:
        self.reckoning.looks_at_appends(self.scheduler.min_ddl_ts)
        self.reckoning.asks(question, *more)
        if await self.answer(self.process, question) == "fail":
            failure = _FAILURES[question]("an edge fails")
            self.reckoning.answers(question, *more, failure=type(failure).__name__)
            raise failure
        self.reckoning.answers(question, *more, answer=answer)
        return answer

    async def alloc(self, count: int) -> int:
        """See Oracle."""
        self.given += count
        return cast("int", await self._edge("alloc", answer=self.given))

    async def _announce(self, channel: str, ts: int, text: str) -> None:
        self.reckoning.appends.append(ts)
        try:
            await self._edge("announce", channel, ts, text)
        finally:
            self.reckoning.appends.remove(ts)

    def listed(self) -> Collection[str]:
        """See ProxyCaches. A loop that reads it again and again has no end."""
        self.lists += 1
        if self.lists > _OFTEN:
            self.reckoning.seems(DUE, "the proxies are listed again and again")
            raise RuntimeError("the proxies are listed again and again")
        return self.proxies.listed()

    async def invalidate(self, proxy: str, name: str, version: int) -> None:
        """See ProxyCaches."""
        self.reckoning.asks("invalidate", int(proxy), name, version)
        self.invalidations += 1
        await self.answer(self.process, "invalidate")
        await self.proxies.invalidate(proxy, name, version)
        if self.caches[int(proxy)].floors.get(name) != version:
            self.reckoning.seems(CACHES_END, f"proxy {proxy} does not know version {version} of {name!r}")
        if (leaver := self.script.get("leaves", {}).get(str(self.invalidations))) is not None:
            self._leave(leaver)
        if (joiner := self.script.get("joins", {}).get(str(self.invalidations))) is not None:
            self._join(joiner)
        self.reckoning.answers("invalidate", int(proxy), name, version)

    def _leave(self, proxy: int) -> None:
        self.reckoning.sessions.remove(proxy)
        del self.sync.entries[proxy]

    def _join(self, proxy: int) -> None:
        self.reckoning.sessions.append(proxy)
        self.sync.entries[proxy] = None
        self._begin(proxy)

    # What is looked at.

    def look(self) -> Hashable:
        """Return what clients were told."""
        return (tuple(self.told), self.reckoning.wrong)

    def wrong(self) -> str | None:
        """Return what the reckoning has found wrong."""
        return self.reckoning.wrong

    def wrong_after_a_step(self) -> str | None:
        """Return what the reckoning finds wrong."""
        return self.reckoning.left(self.scheduler.min_ddl_ts)

    def wrong_at_the_end(self) -> str | None:
        """Return what is not done."""
        closed = {proxy for proxy, cache in self.caches.items() if cache.closed}
        if closed != set(self.caches) - set(self.reckoning.sessions):
            return f"{CACHES_END}: the caches {closed} are closed, and {self.reckoning.sessions} last"
        calls = sum(map(len, self.script.get("clients", ())))
        if len(self.told) != calls:
            return f"{ANSWERED_SO}: {len(self.told)} of {calls} calls were answered"
        return self.reckoning.wrong


class _Store:
    """See CatalogStore."""

    def __init__(self, program: CatalogLife, stored: Sequence[CollectionVersion]) -> None:
        self._program = program
        self._stored = stored

    async def load(self) -> Sequence[CollectionVersion]:
        """What is stored at the start."""
        return self._stored

    async def save(self, record: CollectionVersion) -> None:
        """A version."""
        await self._program._edge("save", record)  # noqa: SLF001 - one edge of the program

    async def reserve(self, count: int) -> int:
        """Numbers."""
        self._program.reckoning.reserves(_FIRST, count)
        return _FIRST


class _Reports:
    """Takes reports."""

    def __init__(self) -> None:
        self.came: list[TimeTickReport] = []

    async def update_channel_time_tick(self, report: TimeTickReport) -> None:
        """See RootCoord."""
        await asyncio.sleep(0)
        self.came.append(report)


def _place(number: int, shards: int) -> tuple[str, ...]:
    return tuple(f"c{number}v{shard}" for shard in range(shards))


def life() -> CatalogLife:
    """Return the program of all scripts."""
    return CatalogLife(SCRIPTS, timers=0)
