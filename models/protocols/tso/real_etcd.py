"""The oracle program over the real adapter of etcd: its client writes HTTP to a socket that is answered here.

What the program of ``program`` is given by a stand-in of the store is done here by ``EtcdOracleStore`` and
``EtcdClient``: the lease and its key, the condition of a save, the window that never falls. Each call runs in
a thread, and is one step; what is answered is that of ``tidemark.models.protocols.common.etcd``. As in the
stand-in a save outlives its sender: when a server dies, the request may be on its way, and arrive later.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from tidemark.impl.storage.etcd_client import Change, EtcdClient, Json, KeyRange, decode, encode
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.models.protocols.common import etcd
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.protocols.common.etcd_gateway import HOST, PORT, Gateway
from tidemark.models.protocols.common.faults import Faults
from tidemark.models.protocols.tso.adapted import AdaptedProgram, AdaptedStore
from tidemark.models.protocols.tso.ports import LEADER, SETTLED, STORE, WINDOW, SharedStore
from tidemark.models.protocols.tso.refinement import FIRST_SAVE
from tidemark.models.protocols.tso.scenario import OracleScenario
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.loop.lane import Event, Lane
from tidemark.models.simulation.world.media import Outcome
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

_ENDPOINT = f"http://{HOST}:{PORT}"
_PREFIX = "oracle"
_LEADER, _WINDOW = encode(f"{_PREFIX}/leader"), encode(f"{_PREFIX}/window")


@dataclass(eq=False)
class _Sent:
    """A request under way: from which process and server, by which task, and what it asks.

    late: the event of its arrival after the death of its process.
    """

    lane: Lane
    place: int
    task: str
    path: str
    request: Json
    late: str = ""

    @property
    def saves(self) -> bool:
        """It is a save of the window."""
        return self.path == "/v3/kv/txn" and _WINDOW in str(self.request["success"])

    @property
    def updater(self) -> int:
        """Whose save it is."""
        return int(self.task.rpartition(" ")[2]) if " update " in self.task else FIRST_SAVE


class EtcdMachine(Gateway):
    """The machine of etcd, as a medium of the world: what it holds, and what is on the way to it."""

    def __init__(self, program: EtcdOracleProgram) -> None:
        super().__init__(Faults())
        self._program = program
        self._world = program.world
        self.under_way: list[_Sent] = []

    def answer(self, path: str, request: Json) -> tuple[int, list[Any]]:
        """A request arrives over a socket, from the process that runs now."""
        lane = self._world.caller
        for sent in self.under_way:
            if (sent.lane, sent.path, sent.request) == (lane, path, request):
                return self._arrives(sent)
        raise ConnectionResetError("the request is lost")

    def _arrives(self, sent: _Sent) -> tuple[int, list[Any]]:
        self.under_way.remove(sent)
        found = super().answer(sent.path, sent.request)
        if sent.saves and (found[1][0].get("succeeded") or sent.updater == FIRST_SAVE):
            self._program.stores[sent.place].settles(sent.updater)
        self._program.look()
        return found

    def end_term(self) -> None:
        """The lease of the leader is over."""
        self.end_lease(dict(self.content[etcd.KEYS])[_LEADER].lease)
        self._program.look()

    def lose_first_save(self, place: int) -> None:
        """What a server sent when it started does not arrive any more."""
        for sent in list(self.under_way):
            if sent.place == place and sent.saves and sent.updater == FIRST_SAVE:
                self.under_way.remove(sent)
                self._world.events.pop(sent.late, None)

    # As a medium.

    def state(self) -> Hashable:
        """See Medium."""
        under_way = sorted((s.place, s.task, s.path, repr(s.request), bool(s.late)) for s in self.under_way)
        return (
            tuple(sorted((key, repr(value)) for key, value in self.content.items())),
            tuple(under_way),
        )

    def crash_outcomes(self) -> list[Outcome]:
        """See Medium. It does not fail."""
        return []

    def caller_died(self, lane: Lane) -> None:
        """See Medium: a save that is under way arrives at any later time; nothing else does."""
        self.under_way = [sent for sent in self.under_way if sent.lane is not lane or sent.saves]
        for sent in self.under_way:
            if sent.lane is lane:
                sent.late = f"late save {lane.title}#{lane.next_number()}"
                late = functools.partial(self._late, sent)
                self._world.events[sent.late] = Event(sent.late, self._world.environment, late)

    def _late(self, sent: _Sent) -> None:
        del self._world.events[sent.late]
        self._arrives(sent)

    def dismantle(self) -> None:
        """See Medium."""


class _Door:
    """The real client of one server; each request is noted before it is sent."""

    def __init__(self, machine: EtcdMachine, lane: Lane, place: int) -> None:
        self._machine = machine
        self._lane = lane
        self._place = place
        self._client = EtcdClient(_ENDPOINT, connect=machine.connect)

    async def call(self, path: str, request: Json) -> Json:
        """See EtcdCalls."""
        task = asyncio.current_task()
        name = task.get_name() if task is not None else ""
        self._machine.under_way.append(_Sent(self._lane, self._place, name, path, request))
        return await self._client.call(path, request)

    async def wait_for_event(self, key: str, *, revision: int, seconds: float) -> None:
        """See EtcdCalls."""
        raise NotImplementedError(f"{key}: a standby waits for its turn, and watches nothing")

    async def first_change(self, keys: KeyRange, *, after: int, seconds: float) -> Change | None:
        """See EtcdCalls."""
        raise NotImplementedError(f"{keys}: an oracle follows no keys")

    async def close(self) -> None:
        """See EtcdCalls."""
        await self._client.close()


class EtcdStore(AdaptedStore):
    """The store as one server sees it. ``machine``: of etcd."""

    def __init__(self, process: Process, place: int, *, machine: EtcdMachine, **rest: Any) -> None:
        super().__init__(process, place, **rest)
        self._machine = machine

    def _forget_first_save(self, content: dict[str, Any]) -> None:
        self._machine.lose_first_save(self._place)
        super()._forget_first_save(content)

    async def expire(self) -> None:
        """See AdaptedStore. etcd deletes the key with its lease."""

        def end(content: dict[str, Any]) -> None:
            if content[LEADER] == (self._place, True):
                self._machine.end_term()

        await self._do("expire", end, keys=(WINDOW, LEADER, SETTLED))
        self.tell()


class EtcdOracleProgram(AdaptedProgram):
    """The oracle program over one etcd."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.settings = replace(self.settings, virtual=True)

    def populate(self, world: World) -> None:
        """Make the etcd."""
        self._machine = EtcdMachine(self)
        world.attach(self._machine, machine=None)
        super().populate(world)

    def _edge_store(self, place: int, process: Process) -> SharedStore:
        door = _Door(self._machine, self.world.caller, place)
        made = EtcdStore(
            process,
            place,
            elected=functools.partial(self._elected, place, process),
            others=self.told_of_the_end(place),
            adapter=EtcdOracleStore("http://elsewhere", prefix=_PREFIX, client=door),
            machine=self._machine,
            look=self.look,
            failed=self.failed,
        )
        self.stores[place] = made
        return made

    def shown(self) -> tuple[int, tuple[int, bool]]:
        """See AdaptedProgram: the window as the adapter reads it, and whose key is there."""
        content = self._machine.content
        reader = EtcdOracleStore("http://elsewhere", prefix=_PREFIX, client=etcd.DirectCalls(content))
        pair = dict(content[etcd.KEYS]).get(_LEADER)
        if pair is None:
            leader = (self.world.store(STORE).content()[LEADER][0], False)
        else:
            leader = (self.scenario.names.index(decode(pair.value).decode()), True)
        return finish(reader.load()), leader


over_etcd = program(EtcdOracleProgram, OracleScenario)
