"""Drives the real clients, gateways, proxies and coordinator by the actions of ``tidemark.spec.retries``, in
the controlled world.

Each request has a client of its own, and the driver says which proxy a call goes to. A call goes through
before anything else happens; by chance an insert waits for its timestamp while its proxy is told of a change,
a client that has kept nothing asks first, and a proxy learns of a change because another client asks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidemark.impl.client.client import Client
from tidemark.impl.client.schemas import MISMATCH
from tidemark.impl.cluster.server import LocalConnection
from tidemark.impl.system.connection import Json, RequestRefusedError
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.meta.clients import CHANNEL, ClientProgram
from tidemark.models.protocols.meta.refinement import NAME
from tidemark.models.protocols.retries.refinement import RequestView, abstract, known_to
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.world.process import Process

_MANY = 60
_STOPS = ("draw proxy", "resume client.", "store", "invalidate", "resume meta.acknowledge")
"""Labels of the events that wait for the driver."""
_PAUSE = "allocate"
"""Where a write waits for its timestamp: its version was compared once, and will be once more."""
_OWN = ("refuse", "accept")


class DrivenRequest:
    """One request and its client's connection. ``view``: what has gone over it."""

    def __init__(self, program: DrivenClients, number: int, ways: Sequence[LocalConnection]) -> None:
        self.name = f"request {number}"
        self.view = RequestView()
        self._program, self._ways = program, ways
        self.client = Client(self)

    async def live(self, process: Process) -> None:
        """Insert once."""
        await process.point("client.come")
        self.view.since = self._program.meta.acknowledged[NAME]
        try:
            await self.client.insert(NAME, {1: "row"})
        except RequestRefusedError as refusal:
            if refusal.kind != MISMATCH:
                raise
            self.view.stage = "failed"
        else:
            self.view.stage = "accepted"

    async def call(self, method: str, **arguments: Any) -> Json:
        """See Connection: the driver says which proxy it is."""
        self.view.stage = "reads" if method == "describe" else "tries"
        if method != "describe":
            self.view.sent.append(arguments["version"])
        way = self._ways[await self._program.world.draw(len(self._ways), "proxy")]
        try:
            answer = await way.call(method, **arguments)
        except RequestRefusedError:
            self.view.refused.append(arguments["version"])
            raise
        if method == "describe" and self.view.refused:
            self.view.read_in_calm = self._program.meta.change is None
        return answer

    async def close(self) -> None:
        """See Connection."""


class DrivenClients(ClientProgram):
    """Clients with one request each.

    Args:
        requests: how many. changes: how often the schema changes.
    """

    records = (CollectionVersion(NAME, 0, "", number=1, created=1, channels=(CHANNEL,), changed=1),)

    def __init__(self, *, requests: int, changes: int) -> None:
        super().__init__(inserts=0, changes=changes)
        self._number = requests

    async def _run(self, process: Process) -> None:
        ways = self.start_proxies(process)
        self.requests = [DrivenRequest(self, number, ways) for number in range(self._number)]
        for request in self.requests:
            process.spawn(request.live(process), request.name)
        process.spawn(self._change(process), "changes")
        process.spawn(self._look_on(process), "another client")

    async def _look_on(self, process: Process) -> None:
        """Somebody else asks a proxy for the schema."""
        while True:
            await process.point("client.ask")
            proxy = self.proxies[await self.world.draw(len(self.proxies), "proxy")]
            await proxy.meta.resolve(NAME)

    async def save(self, record: CollectionVersion) -> None:
        """See MetaVersions."""

        def store() -> None:
            for request in self.requests:
                request.view.read_in_calm = False

        await self.world.operation(f"store {record.version}", store)


class RetriesAdapter(DrivenRun):
    """One run of the clients."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._program = DrivenClients(
            requests=int(str(instance.bounds["Request"])),
            changes=int(str(instance.bounds["Version"])),
        )
        self._late: tuple[int, int] | None = None
        """The request whose insert waits for its timestamp, and its proxy."""
        super().__init__(self._program)

    # What is looked at.

    def _look(self) -> State:
        program = self._program
        caches, views = [one.meta for one in program.proxies], [one.view for one in program.requests]
        return self._checker.encode(abstract(program.meta, caches, views))

    def _knows(self, proxy: int) -> int:
        return known_to(self._program.proxies[proxy].meta)

    def _asks(self, proxy: int) -> bool:
        """The proxy would learn of a change because it is asked."""
        known = NAME in self._program.proxies[proxy].meta.entries
        return not known and self._knows(proxy) < self._program.meta.describe(NAME).version

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. Proxies are told in the order of their names. While a request waits for its
        timestamp its proxy takes no other, and no other gets one.

        The last proxy is told when a request has begun, and every second one is over; those are accepted
        where no proxy would refuse them, the others where nobody is to be told: or else hardly any would go
        back and forth, or meet a change.
        """
        args = tuple(map(int, step.args))
        match step.action:
            case "change":
                return bool(self._enabled("resume client.alter"))
            case "learn":
                if self._late is not None and self._late[1] == args[0] and not self._asks(args[0]):
                    return False
                if self._is_last(args[0]) and self._others_come_first():
                    return False
                return self._asks(args[0]) or bool(self._told(args[0]))
            case "acknowledge":
                return bool(self._enabled("resume meta.acknowledge"))
            case "begin":
                return bool(self._enabled("resume client.come", self._owner(args[0])))
        request, proxy = args
        if self._late is not None and (step.action in _OWN or proxy == self._late[1]):
            return (request, proxy) == self._late and not self._asks(proxy)
        if step.action == "accept" and not self._is_due(request, proxy):
            return False
        waits = self._enabled(f"draw proxy={proxy}", self._owner(request))
        return bool(waits) and not self._asks(proxy)

    @property
    def _count(self) -> int:
        return len(self._program.requests)

    def _others_come_first(self) -> bool:
        """Fewer requests have begun than there were changes, or one may still be refused that is to be."""
        begun = sum(request.view.stage != "new" for request in self._program.requests)
        meets = min(self._program.meta.describe(NAME).version, self._count)
        return begun < meets or any(self._may_be_refused(r) for r in range(1, self._count, 2))

    def _is_due(self, request: int, proxy: int) -> bool:
        if request % 2:
            return not self._may_be_refused(request)
        return self._knows(proxy) == self._program.meta.describe(NAME).version

    def _is_last(self, proxy: int) -> bool:
        """All others know the change."""
        current = self._program.meta.describe(NAME).version
        return all(self._knows(p) == current for p in range(len(self._program.proxies)) if p != proxy)

    def _may_be_refused(self, number: int) -> bool:
        """The request is under way, and proxies do not agree, or none has what it was made for."""
        request = self._program.requests[number]
        known = {self._knows(p) for p in range(len(self._program.proxies))}
        if request.view.stage == "reads":
            return len(known) > 1
        return request.view.stage == "tries" and known != {request.view.sent[-1]}

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        args = tuple(map(int, step.args))
        match step.action:
            case "change":
                self._must_fire("resume client.alter")
                self._must_fire("store")
            case "learn":
                self._learn(args[0], chance)
            case "acknowledge":
                self._must_fire("resume meta.acknowledge")
            case "begin":
                self._come(args[0], args[1], chance)
            case _:
                self._call(*args)
        self._settle()
        self._state = self._look()

    def _learn(self, proxy: int, chance: int) -> None:
        told = self._told(proxy)
        if self._asks(proxy) and (chance % 2 or not told):
            self._ask(proxy)
            return
        if chance and self._late is None:
            self._pause_an_insert(proxy)
        self._fire(told[0])

    def _ask(self, proxy: int) -> None:
        """Another client asks the proxy."""
        self._must_fire("resume client.ask")
        self._must_fire(f"draw proxy={proxy}", "another client")

    def _pause_an_insert(self, proxy: int) -> None:
        """A request comes to the proxy, and waits there for its timestamp."""
        for number, request in enumerate(self._program.requests):
            if (
                request.view.stage == "tries"
                and request.view.sent[-1] == self._knows(proxy)
                and not self._asks(proxy)
            ):
                self._late = (number, proxy)
                self._must_fire(f"draw proxy={proxy}", self._owner(number))
                self._settle()
                return

    def _come(self, number: int, version: int, chance: int) -> None:
        """The client has kept the version, or nothing, and asks a proxy that has this one."""
        request = self._program.requests[number]
        serve = [p for p in range(len(self._program.proxies)) if self._serves(p, version)]
        if chance % 2 and serve:
            self._must_fire("resume client.come", request.name)
            self._must_fire(f"draw proxy={serve[0]}", request.name)
        else:
            request.client.schemas.versions[NAME] = version
            self._must_fire("resume client.come", request.name)

    def _serves(self, proxy: int, version: int) -> bool:
        late = self._late is not None and self._late[1] == proxy
        return not late and self._knows(proxy) == version and not self._asks(proxy)

    def _call(self, request: int, proxy: int) -> None:
        """A call goes to the proxy, and is answered."""
        if (request, proxy) == self._late:
            self._late = None
        else:
            self._must_fire(f"draw proxy={proxy}", self._owner(request))

    # Letting things happen.

    def _settle(self) -> None:
        """Let everything happen that does not wait for the driver."""
        for _ in range(_MANY):
            event = next((one for one in self._world.enabled() if not self._waits(one)), None)
            if event is None:
                self._raise_failures()
                return
            self._fire(event)
        raise BrokenRunError("the implementation does not come to rest")

    def _waits(self, event: Event) -> bool:
        """Whether an event is the driver's to choose. Who is told what he knows already is told at once."""
        if event.label.startswith("invalidate"):
            current = self._program.meta.describe(NAME).version
            return self._knows(_proxy_of(event)) < current
        stops = _STOPS if self._late is None else (*_STOPS, _PAUSE)
        return event.label.startswith(stops)

    def _told(self, proxy: int) -> list[Event]:
        """The coordinator tells the proxy."""
        return [event for event in self._enabled("invalidate") if _proxy_of(event) == proxy]

    def _owner(self, request: int) -> str:
        return self._program.requests[request].name


def _proxy_of(event: Event) -> int:
    """The proxy that is told, by its session."""
    return int(event.label.split()[1]) - 1
