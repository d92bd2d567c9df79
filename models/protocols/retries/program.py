"""Clients that retry as a program under exploration: real clients, gateways, proxies with their queues and
caches, and the coordinator of the versions.

Each step must be a step of ``tidemark.spec.retries``, or change nothing of it. A proxy without an entry asks
in steps of its own before a call goes on: what it learns and what it answers are two steps.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from tidemark.impl.client.client import Client
from tidemark.impl.client.schemas import MISMATCH
from tidemark.impl.cluster.server import LocalConnection
from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.system.connection import Json, RequestRefusedError
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.instance import Instance
from tidemark.models.protocols.meta.program.catalog import CLUSTER
from tidemark.models.protocols.meta.program.clients import CHANNEL, ClientProgram
from tidemark.models.protocols.meta.refinement import NAME
from tidemark.models.protocols.retries.refinement import RequestView, abstract
from tidemark.models.refinement.program import Abstraction, RefiningProgram, frozen, thawed
from tidemark.models.refinement.scenario import Scenario, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

PROXIES = 2


class RetriesScenario(Scenario):
    """What happens.

    Attributes:
        requests: how many there are, each of a client of its own.
        changes: how often the schema changes.
    """

    requests: int = 1
    changes: int = 1

    def instance(self) -> Instance:
        """The bounded instance of the specification."""
        bounds = {
            "Proxy": PROXIES,
            "Request": self.requests,
            "Version": self.changes,
            "Attempt": self.changes + 3,
        }
        return Instance("tidemark.spec.retries:Retries", bounds, {}, "scheduled")


class Request:
    """One request and its client's connection. ``view``: what has gone over it."""

    def __init__(self, program: RetriesProgram, number: int, ways: Sequence[LocalConnection]) -> None:
        self.name = f"request {number}"
        self.view = RequestView()
        self._program, self._ways = program, ways
        self.client = Client(self)

    async def live(self, process: Process) -> None:
        """Insert once, for any version that the client may have kept."""
        await process.point("client.come")
        clients = self._program.clients
        kept = await self._program.world.draw(clients.meta.describe(NAME).version + 1, "kept")
        self.client.schemas.versions[NAME] = kept
        self.view.since = clients.meta.acknowledged[NAME]
        try:
            await self.client.insert(NAME, {1: "row"})
        except RequestRefusedError as refusal:
            if refusal.kind != MISMATCH:
                raise
            self.view.stage = "failed"
        else:
            self.view.stage = "accepted"

    async def call(self, method: str, **arguments: Any) -> Json:
        """See Connection: a call goes to any proxy."""
        self.view.stage = "reads" if method == "describe" else "tries"
        if method != "describe":
            self.view.sent.append(arguments["version"])
        way = self._ways[await self._program.world.draw(len(self._ways), "proxy")]
        try:
            answer = await way.call(method, **arguments)
        except RequestRefusedError:
            self.view.refused.append(arguments["version"])
            raise
        if method == "describe":
            self.view.read_in_calm = self._program.clients.meta.change is None
        return answer

    async def close(self) -> None:
        """See Connection."""


class Clients(ClientProgram):
    """Coordinator and proxies."""

    records = (CollectionVersion(NAME, 0, "", number=1, created=1, channels=(CHANNEL,), changed=1),)

    def __init__(self, program: RetriesProgram) -> None:
        super().__init__(inserts=0, changes=program.scenario.changes)
        self._program = program

    async def _run(self, process: Process) -> None:
        ways = self.start_proxies(process)
        for proxy in self.proxies:
            look = functools.partial(_look_up, process, proxy.meta, proxy.meta.get)
            setattr(proxy.meta, "get", look)  # noqa: B010
        for number in range(self._program.scenario.requests):
            request = Request(self._program, number, ways)
            self._program.requests.append(request)
            process.spawn(request.live(process), request.name)
        process.spawn(self._change(process), "changes")

    async def save(self, record: CollectionVersion) -> None:
        """See MetaVersions."""

        def store() -> None:
            for request in self._program.requests:
                request.view.read_in_calm = False

        await self.world.operation(f"store {record.version}", store)


async def _look_up(process: Process, cache: MetaCache, get: Any, name: str) -> CollectionVersion:
    """What a cache has, looked up in a step of its own. Without an entry it asks in steps before that."""
    while True:
        await process.point("cache.look")
        if name in cache.entries:
            return cache.entries[name]
        await get(name)


class RetriesProgram(RefiningProgram):
    """One process with a coordinator, two proxies, and clients with one request each."""

    table = "retries"
    settings = Settings(clock=ClockOrder.UNTIMED)

    def __init__(self, scenario: RetriesScenario) -> None:
        super().__init__(_abstraction(scenario))
        self.scenario = scenario
        self.clients = Clients(self)
        self.requests: list[Request] = []

    def populate(self, world: World) -> None:
        """Define the process."""
        self.clients.build(world)

    # What is looked at.

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each request has ended, and each change."""
        open_ones = [r for r, stage in values["stage"].items() if stage not in ("accepted", "failed")]
        if open_ones or values["changing"]:
            return f"request {open_ones[0]} has not ended" if open_ones else "a change has not ended"
        return None

    def observe(self) -> Observation:
        """Return the state of the specification that the process is in."""
        caches, views = [one.meta for one in self.clients.proxies], [one.view for one in self.requests]
        found = abstract(self.clients.meta, caches, views)
        return {CLUSTER: frozen(found)}


@functools.cache
def _abstraction(scenario: RetriesScenario) -> Abstraction:
    """A pure function of its arguments: it may outlive executions."""
    return Abstraction(scenario.instance(), lambda observation: thawed(observation[CLUSTER]))


retries = program(RetriesProgram, RetriesScenario)
