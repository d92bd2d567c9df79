"""A client that inserts, by a collection's name or an alias, while the schema or the alias changes, through
proxies of different age: the real client and gateways, proxies with their queues and caches, and catalogue.

No specification is followed here: what is looked at are the rows in the log, each with the version of the
schema that it was made for, and how the client's requests end. What caches and coordinator do is judged step
by step in ``program``.
"""

from collections.abc import Collection, Hashable, Sequence
from typing import Any, cast

from tidemark.impl.client.client import Client
from tidemark.impl.client.schemas import MISMATCH
from tidemark.impl.cluster.server import LocalConnection
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.gateway import Collections, Gateway
from tidemark.impl.proxy.ports import ProxyPorts
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.values import AppendOutcome, DmlTask, Message
from tidemark.impl.proxy.writes import WriteTask
from tidemark.impl.rootcoord.catalog import Catalog, CatalogStore
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.rootcoord.direct import DirectMetaSource, DirectProxyCaches
from tidemark.impl.rootcoord.round_queue import RoundQueue
from tidemark.impl.rootcoord.time_tick_sync import TimeTickSync
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.system.connection import Json, RequestRefusedError
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.report import SourceId
from tidemark.models.protocols.common.calls import Alone
from tidemark.models.protocols.meta.program.catalog import CLUSTER, CoordinatorProgram
from tidemark.models.protocols.meta.refinement import NAME, meta_view
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.world.process import Process

OF_ITS_TIME = "a_row_is_made_for_the_schema_of_its_time"
"""Claim id: a row with a greater timestamp than a change is made for what the change has brought."""
RETRY_ENDS = "a_retry_ends"
"""Claim id: a request is made once more at most for each change, and once with a version that is no newer."""
RETRY_SUCCEEDS = "a_retry_succeeds_when_the_schema_is_settled"
"""Claim id: a client hears that its schema is an old one only if a change came between, or was under way."""
KNOWS = "a_client_knows_what_it_has_changed"
"""Claim id: no request of a client is refused because of what it has changed itself before: each is made
once, and succeeds if there is what it names."""
CHANNEL = "dml_0_1v0"
OTHER, ALIAS = "others", "also"
POINTS = ("meta.insert",)
_SOURCES = (1, 2)
"""The proxies' sessions."""


class ClientProgram(CoordinatorProgram):
    """One client, two proxies, one collection, whose first version each of them knows.

    Args:
        inserts: how many rows the client inserts, one after another.
        changes: how often the schema changes.
        calls: instead of inserts, what the client does with an alias of the collection: ``insert``,
            ``alter_alias`` (to a second collection), ``drop_alias``, ``create_alias`` (of the first).
    """

    claims: tuple[str, ...] = (OF_ITS_TIME, RETRY_ENDS, RETRY_SUCCEEDS, KNOWS)
    records: tuple[CollectionVersion, ...] = (
        CollectionVersion(NAME, 1, "", number=1, created=1, channels=(CHANNEL,), changed=1),
    )
    """What is stored at the start."""

    def __init__(self, *, inserts: int = 1, changes: int = 0, calls: Sequence[str] = ()) -> None:
        self.by_alias = bool(calls)
        self.calls = tuple(calls) or ("insert",) * inserts
        self.changes = changes
        if calls:
            self.given = 1
            self.records = (
                *self.records,
                CollectionVersion(OTHER, 2, "", number=2, created=1, channels=(CHANNEL,), changed=1),
                CollectionVersion(ALIAS, 3, "", number=1, changed=1, alias_of=NAME),
            )
        self.rows: list[tuple[int, int]] = []
        self.changed: list[tuple[int, int]] = []
        self.outcomes: list[str] = []
        self.attempts = 0
        self.calm = True
        self.sent = 0

    async def _run(self, process: Process) -> None:
        self.client = Client(_EitherWay(self, self.start_proxies(process)))
        self.client.schemas.versions[self.records[0].name] = 1
        process.spawn(self._call(process), "client")
        process.spawn(self._change(process), "changes")

    def start_proxies(self, process: Process) -> list[LocalConnection]:
        """Start coordinator and proxies. Returns a client's way to each of the proxies."""
        catalog = Catalog(
            store=cast("CatalogStore", self),
            scheduler=DdlScheduler(oracle=self, preemption=NoPreemption()),
            announce=_Nothing(),
            place=_Nothing(),
            proxies=self,
            preemption=process,
        )
        self.meta = catalog.meta
        self.meta.load(self.records)
        self.source = DirectMetaSource(self.meta)
        sync = TimeTickSync(rounds=RoundQueue(1), is_newest=Alone().is_newest, preemption=process)
        sync.init_sessions(_SOURCES)
        self.caches = DirectProxyCaches(sync)
        self.proxies = [self._proxy(process, source) for source in _SOURCES]
        return [
            LocalConnection(
                Gateway(
                    host=_Host(proxy), oracle=self, collections=cast("Collections", catalog), segments=self,
                    reader=_Nothing(), flushes=_Nothing(),
                )
            )
            for proxy in self.proxies
        ]  # fmt: skip

    def _proxy(self, process: Process, source: SourceId) -> Proxy:
        ports = ProxyPorts(
            oracle=self,
            streams=self,
            root_coord=_Nothing(),
            clock=_Nothing(),
            metadata=self,
            preemption=_SomePoints(process),
        )
        proxy = Proxy(source=source, ports=ports, config=ProxyConfig(parallel_tasks=2))
        proxy.queues.start()
        proxy.serving.set()
        for record in self.records:
            proxy.meta.insert(record)
        self.caches.add(source, proxy.meta)
        return proxy

    async def _call(self, process: Process) -> None:
        for key, call in enumerate(self.calls):
            await process.point("client.come")
            self.attempts, self.calm = 0, self.meta.change is None
            try:
                await self._ask(call, key)
            except RequestRefusedError as refused:
                self.outcomes.append(refused.kind)
                if refused.kind == MISMATCH and self.calm:
                    self.wrong = f"{RETRY_SUCCEEDS}: insert {key} is refused, and nothing has changed"
            else:
                self.outcomes.append("ok")
            if self.by_alias:
                self._compare(call)

    async def _ask(self, call: str, key: int) -> None:
        match call:
            case "insert":
                await self.client.insert(ALIAS if self.by_alias else NAME, {key: "row"})
            case "drop_alias":
                await self.client.drop_alias(ALIAS)
            case "alter_alias":
                await self.client.alter_alias(ALIAS, OTHER)
            case _:
                await self.client.create_alias(ALIAS, NAME)

    def _compare(self, call: str) -> None:
        """A call by the alias has ended."""
        there = self.meta.describe(ALIAS).is_alias
        expected = "ok" if there or call == "drop_alias" else "CollectionError"
        if self.outcomes[-1] != expected or self.attempts > 1:
            self.wrong = f"{KNOWS}: {call} ends with {self.outcomes[-1]} after {self.attempts} attempts"

    async def _change(self, process: Process) -> None:
        for _ in range(self.changes):
            await process.point("client.alter")
            version = await self.meta.alter(NAME, "schema")
            self.given += 1
            self.changed.append((version, self.given))

    # The edges.

    async def append(self, message: Message, *, deadline: float) -> None:
        """See MessageStream: the row is for the version that its request has named."""
        del deadline
        self.rows.append((message.ts, self.sent))
        for version, ts in self.changed:
            if message.ts > ts and self.sent < version:
                self.wrong = f"{OF_ITS_TIME}: row {message.ts}, for version {self.sent}, after change {ts}"

    async def settle(self, message: Message) -> AppendOutcome:
        """See MessageStream."""
        raise NotImplementedError(f"{message} has no unknown outcome")

    def allocate(self, channel: str, rows: int, *, deletes: bool = False) -> int:
        """See SegmentSource."""
        del channel, rows, deletes
        return 1

    async def describe(self, name: str) -> CollectionVersion:
        """See MetaSource."""
        await self.world.operation("describe", lambda: None)
        return await self.source.describe(name)

    async def save(self, record: CollectionVersion) -> None:
        """See CatalogStore."""

        def store() -> None:
            self.calm = False
            if record.alias_of and record.changed:
                self.changed.append((record.version, record.changed))

        await self.world.operation(f"store {record.version}", store)

    def listed(self) -> Collection[str]:
        """See ProxyCaches."""
        return self.caches.listed()

    async def invalidate(self, proxy: str, name: str, version: int) -> None:
        """See ProxyCaches."""
        await self.world.operation(f"invalidate {proxy}", lambda: None)
        await self.caches.invalidate(proxy, name, version)

    def begins(self, method: str, version: int | None) -> None:
        """The client calls: with an insert, an attempt begins; with a question for the schema, before it."""
        if method == "describe" or version is None:
            self.calm = self.meta.change is None
            return
        self.sent = version
        self.attempts += 1
        if self.attempts > self.changes + 2:
            self.wrong = f"{RETRY_ENDS}: {self.attempts} attempts and {self.changes} changes"

    # What is looked at.

    def observe(self) -> Observation:
        """Return rows and outcomes."""
        return {CLUSTER: (tuple(self.rows), tuple(self.outcomes), self.wrong)}

    def check_final(self) -> str | None:
        """Each call has ended."""
        if self.wrong is None and len(self.outcomes) < len(self.calls):
            return f"{RETRY_ENDS}: {len(self.outcomes)} of {len(self.calls)} calls have ended"
        return self.wrong

    def covered(self) -> frozenset[str]:
        """Return what has happened."""
        found = {"an insert is made again"} if self.attempts > 1 else set()
        if self.by_alias:
            found |= {
                f"{call} is {outcome}" for call, outcome in zip(self.calls, self.outcomes, strict=False)
            }
        if MISMATCH in self.outcomes:
            found.add("a client hears that its schema is an old one")
        return frozenset(found)

    def final(self) -> Hashable:
        """Return how it has ended."""
        return (tuple(self.rows), tuple(self.outcomes))

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        told = tuple(sorted(self.meta.change.told)) if self.meta.change is not None else None
        return (
            (self.given, self.sent, self.attempts, self.calm, self.wrong),
            (tuple(self.rows), tuple(self.changed), tuple(self.outcomes)),
            (meta_view([self.meta], stored_at=0, given=self.given), told),
            tuple(sorted(self.meta.versions.items())),
            (tuple(sorted(self.client.schemas.versions.items())), self.client.session.timestamp),
            tuple(_memory(proxy) for proxy in self.proxies),
        )


def _memory(proxy: Proxy) -> Hashable:
    meta = proxy.meta
    return (
        tuple((name, entry.version) for name, entry in sorted(meta.entries.items())),
        tuple(sorted(meta.floors.items())),
        tuple(
            (flight.leader, tuple(flight.waiting), flight.answer and flight.answer.version,
             flight in meta.shared.values())
            for flight in meta.flights
        ),
        tuple(_task(task) for task in proxy.queues.pending.values()),
        tuple((queue.entered, tuple(task.ts for task in queue.unissued), tuple(sorted(queue.active)),
               tuple(queue.stats_lock.users)) for queue in proxy.queues.queues.values()),
        tuple(scheduler.free_slots for scheduler in proxy.queues.schedulers.values()),
    )  # fmt: skip


def _task(task: DmlTask) -> Hashable:
    known = task.known.version if isinstance(task, WriteTask) and task.known is not None else None
    return (task.number, task.ts, task.phase.value, task.left, type(task.error).__name__, known)


class _Nothing:
    """An edge that is not asked."""

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(f"{name} is not part of this program")

    def __call__(self, *arguments: Any) -> Any:
        raise NotImplementedError(f"nobody is called with {arguments} in this program")


class _Host(_Nothing):
    """One proxy that serves."""

    name = "proxy"

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    async def serving(self) -> Proxy:
        return self._proxy


class _SomePoints:
    """Preemption where a cache takes an answer; the queues' own points are passed."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def point(self, name: str) -> None:
        if name in POINTS:
            await self._process.point(name)


class _EitherWay:
    """The client's connection: each call goes to one of the proxies."""

    def __init__(self, program: ClientProgram, ways: Sequence[LocalConnection]) -> None:
        self._program = program
        self._ways = ways

    async def call(self, method: str, **arguments: Any) -> Json:
        """See Connection."""
        self._program.begins(method, arguments.get("version"))
        way = self._ways[await self._program.world.draw(len(self._ways), "proxy")]
        return await way.call(method, **arguments)

    async def close(self) -> None:
        """Nothing to let go of."""
