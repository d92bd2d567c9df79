"""The oracle program over the real adapter of etcd: each of its calls is a step of its own.

What the program of ``program`` is given by a stand-in of the store is done here by ``EtcdOracleStore``: the
lease and its key, the condition of a save, the window that never falls. What is answered is that of
``tidemark.models.protocols.common.etcd``. As in the stand-in a save outlives its sender: when a server dies,
the request may be on its way, and arrive later.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_client import Json, decode, encode
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.models.protocols.common import etcd
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.protocols.tso.ports import LEADER, SETTLED, STORE, WINDOW, SharedStore, updater_of
from tidemark.models.protocols.tso.program.adapted import AdaptedProgram, AdaptedStore
from tidemark.models.protocols.tso.program.scenario import OracleScenario
from tidemark.models.protocols.tso.refinement import FIRST_SAVE
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.storage import Store
from tidemark.models.simulation.world.world import World

_ETCD = "etcd"
_PREFIX = "oracle"
_LEADER, _WINDOW = encode(f"{_PREFIX}/leader"), encode(f"{_PREFIX}/window")


def _saves(request: Json) -> bool:
    """Whether a request is a save of the window."""
    return _WINDOW in str(request.get("success"))


@dataclass(eq=False)
class Machine:
    """etcd. ``lost``: places of the servers whose first save does not arrive any more."""

    store: Store
    lost: set[int] = field(default_factory=set)


class _Calls(etcd.SimulatedCalls):
    """The calls of one server."""

    def __init__(
        self, process: Process, place: int, machine: Machine, done: Callable[[str, Json, Json], None]
    ) -> None:
        super().__init__(process, process.store(_ETCD), done)
        self._place = place
        self._machine = machine

    def outlives(self, request: Json) -> bool:
        """See SimulatedCalls. Else a dead server would be elected, and its lease would not end."""
        return _saves(request)

    def answer(self, task: str, content: dict[str, Any], path: str, request: Json) -> Json:
        """See SimulatedCalls."""
        if self._place in self._machine.lost and _saves(request) and updater_of(task) == FIRST_SAVE:
            raise StoreError("the request is lost")
        return super().answer(task, content, path, request)


class EtcdStore(AdaptedStore):
    """The store as one server sees it. ``machine``: of etcd."""

    def __init__(self, process: Process, place: int, *, machine: Machine, **rest: Any) -> None:
        super().__init__(process, place, **rest)
        self._machine = machine

    def _forget_first_save(self, content: dict[str, Any]) -> None:
        self._machine.lost.add(self._place)
        super()._forget_first_save(content)

    async def expire(self) -> None:
        """See AdaptedStore. etcd deletes the key with its lease."""

        def end(content: dict[str, Any]) -> None:
            if content[LEADER] == (self._place, True):
                held = self._machine.store.content()
                etcd.end_lease(held, dict(held[etcd.KEYS])[_LEADER].lease)
                self.look()

        await self._do("expire", end, keys=(WINDOW, LEADER, SETTLED))
        self.tell()


class EtcdOracleProgram(AdaptedProgram):
    """The oracle program over one etcd."""

    def populate(self, world: World) -> None:
        """Make the etcd."""
        self._machine = Machine(world.store(_ETCD))
        etcd.begin(self._machine.store.content())
        super().populate(world)

    def _edge_store(self, place: int, process: Process) -> SharedStore:
        client = _Calls(process, place, self._machine, functools.partial(self._done, place))
        made = EtcdStore(
            process,
            place,
            elected=functools.partial(self._elected, place, process),
            others=self.told_of_the_end(place),
            adapter=EtcdOracleStore("http://elsewhere", prefix=_PREFIX, client=client),
            machine=self._machine,
            look=self.look,
            failed=self.failed,
        )
        self.stores[place] = made
        return made

    def _done(self, place: int, task: str, request: Json, answer: Json) -> None:
        """A call was carried out."""
        if _saves(request):
            updater = updater_of(task)
            if answer.get("succeeded") or updater == FIRST_SAVE:
                self.stores[place].settles(updater)
        self.look()

    def shown(self) -> tuple[int, tuple[int, bool]]:
        """See AdaptedProgram: the window as the adapter reads it, and whose key is there."""
        content = self._machine.store.content()
        reader = EtcdOracleStore("http://elsewhere", prefix=_PREFIX, client=etcd.DirectCalls(content))
        pair = dict(content[etcd.KEYS]).get(_LEADER)
        if pair is None:
            leader = (self.world.store(STORE).content()[LEADER][0], False)
        else:
            leader = (self.scenario.names.index(decode(pair.value).decode()), True)
        return finish(reader.load()), leader


over_etcd = program(EtcdOracleProgram, OracleScenario)
