"""Users of one store as a program under exploration: each step must be a step of the specification.

All users are tasks of one machine, each with an adapter of its own; its power may fail between any two steps,
and the machine starts again with other users.
"""

import asyncio
import functools
from collections.abc import Callable, Coroutine, Hashable, Mapping
from typing import Any, TypeVar

from tidemark.impl.errors import CorruptDataError, NotLeaderError, StoreError
from tidemark.models.instance import Instance
from tidemark.models.protocols.store.program.cells import (
    MACHINE,
    Cell,
    Client,
    ElectorClient,
    EtcdWindow,
    Log,
    Metadata,
    Objects,
    Window,
)
from tidemark.models.protocols.store.refinement import Held, Looking, Saving, abstract
from tidemark.models.refinement.program import Abstraction, RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, program
from tidemark.models.simulation.errors import StorageFailedError, StorageUnknownError
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import Settings
from tidemark.models.simulation.world.files import InjectedDiskError
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CONTENTS_ARE_WHOLE = "contents_are_whole"
"""Claim id: a reader finds what was saved, whole, or nothing; never something else. A lasting reader counts
too: after any power failure."""

NO_FAILURE_WITHOUT_A_FAULT = "no_failure_without_a_fault"
"""Claim id: an adapter reports a failure only if an operation of its medium has failed in that call. That
another one has failed before, or the power, is no reason.
"""
_INJECTED = (InjectedDiskError, StorageFailedError, StorageUnknownError)

T = TypeVar("T")
STORES = "tidemark.spec.store.variants.other_rules"


class StoreScenario(FaultyScenario):
    """What the users of a store do.

    Attributes:
        values: what each save saves.
        users: by user the steps, in order: ``save N``, ``read N``, ``campaign``, ``resign``, ``lapse``. What
            comes after a campaign that was lost is left out.
        after: the users after a power failure.
        terms: how many terms may begin.
    """

    values: tuple[int, ...]
    users: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...], ...] = ()
    terms: int = 0

    @property
    def reads(self) -> int:
        """How many reads there are."""
        return max(1, sum(step.startswith("read") for user in (*self.users, *self.after) for step in user))

    def settings(self) -> Settings:
        """The bounds of the world."""
        return Settings(faults=self.faults, crashable=frozenset({MACHINE} if self.crashes else ()))

    def instance(self, protocol: str) -> Instance:
        """The instance of the specification that the steps must follow."""
        bounds = {
            "Save": len(self.values),
            "Read": self.reads,
            "Value": max(self.values),
            "Term": max(self.terms, 1),
        }
        return Instance(protocol=protocol, bounds=bounds, constants={"value": self.values})


class StoreProgram(RefiningProgram):
    """Users of one store on one machine.

    Args:
        scenario: what happens.
        cell: the store.
        protocol: the specification.
    """

    claims = (CONTENTS_ARE_WHOLE, NO_FAILURE_WITHOUT_A_FAULT)

    def __init__(self, scenario: StoreScenario, *, cell: type[Cell], protocol: str) -> None:
        super().__init__(_abstraction(scenario, protocol))
        self.scenario = scenario
        self.settings = scenario.settings()
        self._cell_class = cell
        self._saves = [Saving("new", 0)] * len(scenario.values)
        self._reads = [Looking("new", 0, 0)] * scenario.reads
        self._applied: frozenset[int] = frozenset()
        self._last_term = self._inherited = 0
        self._clients: dict[str, Client] = {}
        self._terms: dict[str, int] = {}
        self._wrong: list[str] = []
        self._busy: set[str] = set()
        self._lapsed: asyncio.Event | None = None

    def populate(self, world: World) -> None:
        """Define the machine."""
        self.cell = self._cell_class(world, applied=self._was_applied)
        world.process(MACHINE, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        first = process.incarnation == 1
        if not first:
            self._saves = [s._replace(stage=_ended(s.stage)) for s in self._saves]
            self._reads = [_over(r) for r in self._reads]
        self._clients, self._terms = {}, {}
        self._busy = set()
        self._lapsed = asyncio.Event()
        for number, steps in enumerate(self.scenario.users if first else self.scenario.after):
            process.spawn(self._user(process, f"user {number}", steps), f"user {number}")

    def _was_applied(self, task: str, before: int) -> None:
        """A medium tells of a change that a task has made, of its save, or of a term that it has begun. What
        is more than the value ``before`` was lost in a power failure.
        """
        kept = frozenset(n for n in self._applied if self.scenario.values[n] <= before)
        mine = task.removeprefix("save ")
        self._applied = kept | ({int(mine)} if mine != task else frozenset())
        visible, _, term, _ = self.cell.held()
        if term > self._last_term:
            self._last_term, self._inherited = term, visible

    async def _user(self, process: Process, name: str, steps: tuple[str, ...]) -> None:
        client = self._clients[name] = self.cell.client(process)
        for step in steps:
            verb, _, number = step.partition(" ")
            if verb == "save":
                await self._save(process, name, client, int(number))
            elif verb == "read":
                await self._read(process, client, int(number))
            elif verb == "lapse":
                await process.point("lease.ends")
                self._touch(write=True)
                self.cell.lapse()
                self._ended()
            elif not await self._elect(process, name, client, verb):
                return

    # Terms.

    async def _elect(self, process: Process, name: str, client: Client, verb: str) -> bool:
        assert isinstance(client, ElectorClient)
        assert self._lapsed is not None
        await process.point(f"{verb} {name}")
        try:
            if verb == "resign":
                await client.resign()
                self._ended()
                return True
            if verb == "renew":
                await client.renew()
                return True
            while not await self._call(name, client.campaign()):
                await self._lapsed.wait()
            self._lapsed.clear()
        except NotLeaderError:
            return False
        except StoreError as failure:
            self._complain(failure)
            return False
        self._touch(write=False)
        self._terms[name] = self.cell.term_of(client)
        return True

    def _ended(self) -> None:
        assert self._lapsed is not None
        self._lapsed.set()

    # Saves and reads.

    async def _save(self, process: Process, name: str, client: Client, number: int) -> None:
        await process.point(f"begin save {number}")
        self._saves[number] = Saving("open", self._terms.get(name, 0))
        stage = "answered"
        task = asyncio.current_task()
        assert task is not None
        task.set_name(f"save {number}")
        try:
            await self._call(name, client.save(self.scenario.values[number]))
        except NotLeaderError:
            stage = "refused"
        except (StoreError, CorruptDataError) as failure:
            stage = "failed"
            self._complain(failure)
        await process.point(f"end save {number}")
        task.set_name(name)
        self._saves[number] = self._saves[number]._replace(stage=stage)

    async def _read(self, process: Process, client: Client, number: int) -> None:
        await process.point(f"begin read {number}")
        visible, _, _, _ = await self._look()
        self._reads[number] = Looking("open", visible, 0)
        try:
            got = await self._call(f"read {number}", client.read())
        except (StoreError, CorruptDataError) as failure:
            self._complain(failure)
            self._reads[number] = self._reads[number]._replace(stage="failed")
            return
        self._reads[number] = self._reads[number]._replace(stage="seen", got=got)
        await process.point(f"end read {number}")
        self._reads[number] = self._reads[number]._replace(stage="answered")

    async def _call(self, name: str, work: Coroutine[Any, Any, T]) -> T:
        """Note that a call of an adapter is under way."""
        self._busy.add(name)
        try:
            return await work
        finally:
            self._busy.discard(name)

    def check_final(self) -> str | None:
        """At the end every call of an adapter is over."""
        if self._busy and self.world.lanes[MACHINE].alive:
            return f"{NO_FAILURE_WITHOUT_A_FAULT}: a call of {min(self._busy)} never ends"
        return None

    async def _look(self) -> tuple[int, int, int, bool]:
        """Look at the store. A coroutine of its own: what it handles leaves its caller's frame as it is."""
        self._touch(write=False)
        return self.cell.held()

    def _complain(self, failure: Exception) -> None:
        if isinstance(failure, CorruptDataError):
            self._wrong.append(f"{CONTENTS_ARE_WHOLE}: {failure}")
        elif not _is_injected(failure):
            self._wrong.append(f"{NO_FAILURE_WITHOUT_A_FAULT}: {failure}")

    def _touch(self, *, write: bool) -> None:
        bit = self.world.interner.bit(self.cell.owner)
        self.world.touch(reads=0 if write else bit, writes=bit if write else 0)

    # What is looked at.

    def observe(self) -> Observation:
        """Return the notes of the users, and what the store holds."""
        alive = self.world.lanes[MACHINE].alive
        saves = tuple(s if alive else s._replace(stage=_ended(s.stage)) for s in self._saves)
        reads = tuple(r if alive else _over(r) for r in self._reads)
        return {
            MACHINE: (saves, reads),
            self.cell.owner: (Held(*self.cell.held()), self._inherited, self._applied),
        }

    def declared(self) -> Hashable:
        """Return the mutable data that influence what the users do next."""
        clients = tuple((name, client.declared()) for name, client in sorted(self._clients.items()))
        lapsed = self._lapsed is not None and self._lapsed.is_set()
        terms = tuple(sorted(self._terms.items()))
        return (clients, lapsed, terms, self.cell.declared(), self._last_term, self.final())

    def complaint(self) -> str | None:
        """Return what is wrong with what was read, or could be read after a power failure."""
        if not self._wrong and min(self.cell.held()[:2]) < 0:
            return f"{CONTENTS_ARE_WHOLE}: a reader finds damage, now or after a power failure"
        return self._wrong[0] if self._wrong else None


def _is_injected(failure: BaseException) -> bool:
    """Whether a failure comes from one that the simulation has made happen."""
    cause: BaseException | None = failure
    while cause is not None and not isinstance(cause, _INJECTED):
        cause = cause.__cause__
    return cause is not None


def _ended(stage: str) -> str:
    return "failed" if stage == "open" else stage


def _over(read: Looking) -> Looking:
    return Looking("failed", read.least, 0) if read.stage in ("open", "seen") else read


@functools.cache
def _abstraction(scenario: StoreScenario, protocol: str) -> Abstraction:
    """A pure function of its arguments: it may outlive executions."""

    def values(observation: Observation) -> Mapping[str, Any]:
        notes: Any = observation[MACHINE]
        store: Any = next(value for key, value in observation.items() if key != MACHINE)
        return abstract(*notes, *store, values=scenario.values)

    return Abstraction(scenario.instance(protocol), values)


PLAIN = "tidemark.spec.store:Store"

TRANSACTIONAL = f"{STORES}:Transactional"

KNOWN = f"{STORES}:KnownObjects"


def _with(cell: type[Cell], protocol: str) -> Callable[..., StoreProgram]:
    return program(lambda scenario: StoreProgram(scenario, cell=cell, protocol=protocol), StoreScenario)


objects = _with(Objects, KNOWN)

log = _with(Log, PLAIN)

metadata = _with(Metadata, TRANSACTIONAL)

window = _with(Window, TRANSACTIONAL)

etcd_window = _with(EtcdWindow, TRANSACTIONAL)
