"""The catalogue of the root coordinator: collections come, change and go, while rows are written.

The real catalogue, its versions and the DDL scheduler, and the cache of one proxy. No specification is
followed here: what is looked at are the messages and rows in the logs, what is stored, and what callers are
answered. What versions and caches do is judged step by step in ``program``.
"""

from collections.abc import Collection, Hashable, Sequence
from functools import partial

from tidemark.impl.errors import CollectionError
from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.rootcoord.catalog import Catalog, CatalogStore
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.rootcoord.direct import DirectMetaSource
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.protocols.meta.refinement import NAME
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CLUSTER = "cluster"
OF_ITS_TIME = "a_row_is_of_the_collection_of_its_time"
"""Claim id: no row of a collection has a greater timestamp than its drop, or than a change that the row does
not know, or a smaller one than its creation; no request with a greater one than its creation hears that there
is no collection."""
NUMBERS = "two_collections_have_two_numbers"
"""Claim id: a collection of the same name is another one, over crashes, too."""
STORED = "a_collection_is_stored_after_its_messages"
"""Claim id: a creation that has its timestamp has its message in each channel of the collection."""
ANSWERED = "what_is_answered_is_in_the_logs"
"""Claim id: the caller of a change is answered when it is stored, and in each channel, at its timestamp."""
FINISHED = "a_change_that_is_stored_is_finished"
"""Claim id: at the end the last change of a collection has its timestamp, and its place in each channel."""
KEPT = "what_is_stored_is_kept"
"""Claim id: a collection is stored as it was saved, and stays so until a later version of it is stored."""

Logged = tuple[str, int, str, int]
"""A message of a change: channel, timestamp, what it is, version of the collection (0: it is not stored)."""


class CoordinatorProgram(Program):
    """One process with a coordinator, and properties of what is observed. ``wrong``: what was seen first."""

    settings = Settings(clock=ClockOrder.UNTIMED)
    wrong: str | None = None
    given = 0

    def build(self, world: World) -> None:
        """Define the process."""
        self.world = world
        world.process(CLUSTER, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        raise NotImplementedError

    async def alloc(self, count: int) -> int:
        """See Oracle."""

        def give() -> int:
            self.given += count
            return self.given

        return int(await self.world.operation("allocate", give))

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Return what was found wrong."""
        del before, after, label
        return self.wrong

    def on_stutter(self, label: str) -> str | None:
        """Return what was found wrong."""
        del label
        return self.wrong

    def final(self) -> Hashable:
        """Return how it has ended."""
        return tuple((self.observe() or {}).values())


class CatalogProgram(CoordinatorProgram):
    """One coordinator and one proxy in one process; one collection is there already.

    Args:
        calls: for each client what it asks for, one after another: ``create``, ``alter``, ``drop``.
        writes: how many rows are written, one after another.
        shards: channels of a collection.
        crashes: how often the process may crash.
        again: a call that was not answered before a crash is made again.
    """

    claims: tuple[str, ...] = (OF_ITS_TIME, NUMBERS, STORED, ANSWERED, FINISHED, KEPT)

    def __init__(
        self,
        *,
        calls: Sequence[Sequence[str]],
        writes: int = 1,
        shards: int = 1,
        crashes: int = 0,
        again: bool = True,
    ) -> None:
        self.settings = Settings(
            clock=ClockOrder.UNTIMED, faults=FaultBudget(crashes=crashes), crashable=frozenset({CLUSTER})
        )
        self.calls, self.writes, self.shards = calls, writes, shards
        channels = _place(1, shards)
        first = CollectionVersion(NAME, 1, "", number=1, created=1, channels=channels, changed=1)
        self.stored: dict[str, CollectionVersion] = {NAME: first}
        self.messages: list[Logged] = [(channel, 1, "create", 1) for channel in channels]
        self.rows: list[tuple[str, int, int]] = []
        self.refused: list[tuple[int, int]] = []
        self.outcomes: list[str] = []
        self.tried = [0] * len(calls)
        self.written = 0
        self.reserved, self.given, self.first = 2, 1, 0
        self.again = again

    def catalog_store(self) -> CatalogStore:
        """Return the store of a coordinator that starts."""
        return self

    async def _run(self, process: Process) -> None:
        self.scheduler = DdlScheduler(oracle=self, preemption=NoPreemption())
        self.catalog = Catalog(
            store=self.catalog_store(),
            scheduler=self.scheduler,
            announce=self._announce,
            place=self._placed,
            proxies=self,
            preemption=NoPreemption(),
        )
        self.cache = MetaCache(source=self, preemption=process)
        await self.catalog.load()
        await self.catalog.finish_changes()
        for number in range(len(self.calls)):
            process.spawn(self._call(process, number), f"client {number}")
        process.spawn(self._write(process), "writer")

    async def _call(self, process: Process, client: int) -> None:
        while self.tried[client] < len(self.calls[client]):
            await process.point("client.come")
            call = self.calls[client][self.tried[client]]
            self.tried[client] += not self.again
            try:
                self._answered(call, await self._ask(call))
            except CollectionError:
                self.outcomes.append(f"{call} refused")
            self.tried[client] += self.again

    async def _ask(self, call: str) -> CollectionVersion:
        if call == "create":
            return await self.catalog.create(NAME, shards=self.shards)
        if call == "alter":
            return await self.catalog.alter(NAME, schema="another")
        return await self.catalog.drop(NAME)

    def _answered(self, call: str, record: CollectionVersion) -> None:
        self.outcomes.append(f"{call} {record.version}")
        logged = {(channel, ts) for channel, ts, text, _ in self.messages if text == call}
        missing = [channel for channel in record.channels if (channel, record.changed) not in logged]
        if missing or self.stored[NAME].version < record.version:
            self.wrong = f"{ANSWERED}: {call} of version {record.version}, missing in {missing}"

    async def _write(self, process: Process) -> None:
        """Rows as the proxy's write tasks make them: checked, given a timestamp, checked again, appended."""
        while self.written < self.writes:
            await process.point("writer.come")
            self.written += 1
            known = await self.cache.get(NAME)
            ts = await self.alloc(1)
            if not known.exists:
                self._refuse(await self.cache.get(NAME), ts)
            elif (await self.cache.get(NAME)).version == known.version:
                await self.world.operation(f"row {ts}", partial(self._append_row, known, ts))

    def _refuse(self, known: CollectionVersion, ts: int) -> None:
        """A request that looks when it has its timestamp, as reads do."""
        if not known.exists:
            self.refused.append((known.number, ts))
            self._compare()

    def _append_row(self, known: CollectionVersion, ts: int) -> None:
        self.rows.append((known.channels[0], known.version, ts))
        self._compare()

    def _compare(self) -> None:
        """Each row with each message of its channel, and each refusal with the creation of what is stored."""
        record = self.stored[NAME]
        for number, ts in self.refused:
            for channel, at, text, _ in self.messages:
                if text == "create" and channel in record.channels and number != record.number and ts > at:
                    self.wrong = f"{OF_ITS_TIME}: request {ts} finds nothing, {channel} is created at {at}"
        for channel, version, ts in self.rows:
            for place, at, text, changed in self.messages:
                early = text == "create" and ts < at
                late = text != "create" and ts > at and version < changed
                if place == channel and (early or late):
                    self.wrong = f"{OF_ITS_TIME}: row {ts} of version {version}, {text} at {at} ({changed})"

    # The edges.

    async def load(self) -> Sequence[CollectionVersion]:
        """See CatalogStore."""
        return tuple(await self.world.operation("load", lambda: tuple(self.stored.values())))

    async def save(self, record: CollectionVersion) -> None:
        """See CatalogStore."""

        def store() -> None:
            self.take_stock({**self.stored, record.name: record})

        await self.world.operation(f"store {record.version}", store)

    def take_stock(self, stored: dict[str, CollectionVersion]) -> None:
        """The store holds something else from now on: by name the versions."""
        created = {channel for channel, _, text, _ in self.messages if text == "create"}
        for record in stored.values():
            missing = [channel for channel in record.channels if channel not in created]
            if missing and not record.is_being_created:
                self.wrong = f"{STORED}: version {record.version}, not in {missing}"
        for name, before in self.stored.items():
            after = stored.get(name)
            if after != before and (after is None or after.version < before.version):
                self.wrong = f"{KEPT}: version {before.version} of {name!r}, and then {after}"
        self.stored = stored
        self._compare()

    async def reserve(self, count: int) -> int:
        """See CatalogStore."""

        def take() -> int:
            self.reserved += count
            return self.reserved - count

        self.first = int(await self.world.operation("reserve", take))
        return self.first

    def _placed(self, number: int, shards: int) -> tuple[str, ...]:
        if not self.first <= number < self.reserved:
            self.wrong = f"{NUMBERS}: {number} is given, and {self.first} to {self.reserved - 1} are reserved"
        return _place(number, shards)

    async def _announce(self, channel: str, ts: int, text: str) -> None:
        record = self.stored.get(NAME)
        version = record.version if record is not None and channel in record.channels else 0

        def put() -> None:
            if text == "create" and any(
                channel == known and of != version for known, *_, of in self.messages
            ):
                self.wrong = f"{NUMBERS}: {channel} is created again"
            self.messages.append((channel, ts, text, version))
            self._compare()

        await self.world.operation(f"append {text} {ts} to {channel}", put)

    async def describe(self, name: str) -> CollectionVersion:
        """See MetaSource."""
        await self.world.operation("describe", lambda: None)
        return await DirectMetaSource(self.catalog.meta).describe(name)

    def listed(self) -> Collection[str]:
        """See ProxyCaches."""
        return ["0"]

    async def invalidate(self, proxy: str, name: str, version: int) -> None:
        """See ProxyCaches."""
        await self.world.operation(f"invalidate {proxy}", lambda: self.cache.invalidate(name, version))

    # What is looked at.

    def observe(self) -> Observation:
        """Return what is in the logs, what is stored, and what was answered."""
        stored = tuple(self.stored.values())
        requests = (tuple(self.rows), tuple(self.refused), tuple(self.outcomes))
        return {CLUSTER: (tuple(self.messages), requests, stored, self.wrong)}

    def check_final(self) -> str | None:
        """Each call was made, and the last change of the collection is finished."""
        record = self.stored[NAME]
        last = {channel: ts for channel, ts, _, _ in sorted(self.messages, key=lambda message: message[1])}
        open_in = [channel for channel in record.channels if last[channel] != record.changed]
        if self.wrong is None and open_in:
            return f"{FINISHED}: version {record.version} at {record.changed}, not in {open_in}"
        left = [client for client, calls in enumerate(self.calls) if self.tried[client] < len(calls)]
        if self.wrong is None and left:
            return f"{FINISHED}: client {left[0]} has made {self.tried[left[0]]} calls"
        return self.wrong

    def covered(self) -> frozenset[str]:
        """Return what has happened."""
        found = {outcome.partition(" ")[0] for outcome in self.outcomes if "refused" not in outcome}
        rows = {"a row"} if self.rows else set()
        refusals = {"a request finds no collection"} if self.refused else set()
        return frozenset({f"{call} is answered" for call in found} | rows | refusals)

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        meta, cache = self.catalog.meta, self.cache
        change = None if meta.change is None else tuple(sorted(meta.change.told))
        return (
            tuple(self._observed.values()),
            (self.reserved, self.first, self.given, tuple(self.tried), self.written),
            (tuple(sorted(meta.versions.items())), tuple(sorted(meta.acknowledged.items())), change),
            tuple((task.ts, task.phase.value) for task in self.scheduler.heap),
            (tuple(cache.entries.items()), tuple(cache.floors.items()), tuple(cache.shared)),
            tuple((flight.leader, flight.answer) for flight in cache.flights),
        )


def _place(number: int, shards: int) -> tuple[str, ...]:
    return tuple(f"c{number}v{shard}" for shard in range(shards))
