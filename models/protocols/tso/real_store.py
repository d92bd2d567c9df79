"""The oracle program over the real store in SQLite: each statement is a step, and the file says who leads.

What the program of ``program`` is given by a stand-in of the store is done here by ``SqliteOracleStore``: the
term, the lease, the condition of a save, the window that never falls. Of its own this file has only when
somebody campaigns, and when a lease has run out. After each commit the window and the leader are read from
the file. A server that dies loses its transaction; its machine goes on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from tidemark.impl.errors import NotLeaderError, StoreError
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.storage.transactions import Database
from tidemark.impl.tso.ports import Leadership
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.protocols.tso.ports import (
    LEADER,
    NOBODY,
    SETTLED,
    STORE,
    WINDOW,
    SharedStore,
    updater_of_task,
)
from tidemark.models.protocols.tso.program import OracleProgram
from tidemark.models.protocols.tso.refinement import FIRST_SAVE
from tidemark.models.protocols.tso.scenario import OracleScenario
from tidemark.models.simulation.settings import FaultBudget
from tidemark.models.simulation.world.database import DatabaseFile, DatabaseSnapshot
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

_FILE = Path("oracle")
_LEASE = 10.0


class StoreClock:
    """The clock by which the store counts leases: it moves when a lease ends."""

    def __init__(self) -> None:
        self.shown = 1.0

    def monotonic(self) -> float:
        """See SteadyClock."""
        return self.shown

    def pass_lease(self) -> None:
        """Whatever lease runs is over."""
        self.shown += 1000 * _LEASE


class RealStore(SharedStore):
    """The store as one server sees it: the real one.

    Args:
        adapter: on the file.
        file: which that is.
        clock: of the store.
        look: to be called when more has changed than the file.
    """

    def __init__(
        self,
        process: Process,
        place: int,
        *,
        elected: Callable[[], None],
        others: tuple[str, ...],
        adapter: SqliteOracleStore,
        file: DatabaseFile,
        clock: StoreClock,
        look: Callable[[], None],
    ) -> None:
        super().__init__(process, place, elected=elected, others=others)
        self.adapter = adapter
        self._file = file
        self._clock = clock
        self._look = look

    def led(self) -> None:
        """The store has taken this server as the leader."""
        self._elected()

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        """See tidemark.impl.tso.ports.LeaderElection. A standby waits for its turn."""
        await self.vacant.wait()
        found = await self.adapter.campaign(server, lease=lease)
        if found is None:
            self.vacant.clear()
        return found

    async def resign(self, leadership: Leadership) -> None:
        """See tidemark.impl.tso.ports.LeaderElection."""
        if self.first_save_is_open:
            await self._lose_first_save()
        await self.adapter.resign(leadership)
        self._tell()

    async def load(self) -> int:
        """See tidemark.impl.tso.ports.WindowStore."""
        return await self.adapter.load()

    async def save(self, end: int, leadership: Leadership) -> None:
        """See tidemark.impl.tso.ports.WindowStore. A save that was refused never arrives."""
        updater = updater_of_task()
        self._saves += 1
        self.sent[updater] = self._saves
        self.first_save_is_open = updater == FIRST_SAVE
        try:
            await self.adapter.save(end, leadership)
        except NotLeaderError:
            self.first_save_is_open = False
            if updater == FIRST_SAVE:
                self.settles(updater)
                self._look()
            raise
        except StoreError:
            self.first_save_is_open = False
            del self.sent[updater]
            raise
        self.first_save_is_open = False

    def settles(self, updater: int) -> None:
        """The last save of an updater has arrived, or never will."""
        content = self._store.content()
        settled = {**dict(content[SETTLED]), (self._place, updater): self.sent[updater]}
        content[SETTLED] = tuple(sorted(settled.items()))

    async def expire(self) -> None:
        """The lease of this server runs out, if it is the leader, and the next one is told.

        Not within a transaction: a save that has found the lease running is saved although it ends meanwhile.
        Nobody else leads before that, which is judged of the store alone (``store-sqlite-window-lapse``).
        """

        def pass_lease(content: dict[str, Any]) -> bool:
            if any(connection.in_transaction for connection in self._file.connections):
                return False
            if content[LEADER] == (self._place, True):
                self._clock.pass_lease()
                self._look()
            return True

        while not await self._do("expire", pass_lease, keys=(WINDOW, LEADER, SETTLED)):
            await self._file.wait()
        self._tell()

    def _tell(self) -> None:
        for other in self._others:
            self._process.post(other, "vacant")


class RealOracleProgram(OracleProgram):
    """The oracle program over one SQLite file.

    Attributes:
        adapter: the store's class; a variant has another.
    """

    table = None  # type: ignore[assignment]  # its events have other names
    adapter: ClassVar[type[SqliteOracleStore]] = SqliteOracleStore

    def populate(self, world: World) -> None:
        """Make the file, with its tables in it."""
        self._leases = StoreClock()
        self._stores: dict[int, RealStore] = {}
        self._file = DatabaseFile(world, STORE, changed=self._committed)
        world.attach(self._file, machine=None)
        with self._file.directly() as database:
            finish(self._adapter(database).load())
        super().populate(world)

    def _adapter(self, database: Database) -> SqliteOracleStore:
        return self.adapter(_FILE, steady=self._leases, database=database)

    def _edge_store(self, place: int, process: Process) -> SharedStore:
        made = RealStore(
            process,
            place,
            elected=functools.partial(self._elected, place, process),
            others=self.told_of_the_end(place),
            adapter=self._adapter(self._file.connect()),
            file=self._file,
            clock=self._leases,
            look=self._look,
        )
        self._stores[place] = made
        return made

    def _committed(self, task: str, before: Any) -> None:
        """A transaction has changed the file: an election, a save, or the end of a term."""
        del before
        led_before = self.world.store(STORE).content()[LEADER]
        self._look()
        place, led = self.world.store(STORE).content()[LEADER]
        if led and (place, led) != led_before:
            self._stores[place].led()
        store = self._stores[self.scenario.names.index(self.world.caller.name)]
        if task.endswith(" lead"):
            store.settles(FIRST_SAVE)
        elif " update " in task:
            store.settles(int(task.rpartition(" ")[2]))

    def _look(self) -> None:
        """Read what the store holds from what is committed."""
        content = self.world.store(STORE).content()
        copy = self._file.copy()
        content[WINDOW] = finish(self._adapter(DatabaseSnapshot(copy)).load())
        rows = copy.execute("SELECT server, renewed, expires FROM leader").fetchall()
        content[LEADER] = NOBODY
        for server, renewed, expires in rows:
            runs = renewed <= self._leases.shown < expires
            content[LEADER] = (self.scenario.names.index(server), runs)
        for key in (WINDOW, LEADER, SETTLED):
            self.world.touch(writes=self.world.interner.bit(self.world.store(STORE).owner(key)))

    def declared(self) -> Any:
        """Return what the future depends on."""
        ready = tuple(
            (place, store.adapter._transactions._ready)  # noqa: SLF001  # all that it remembers
            for place, store in sorted(self._stores.items())
        )
        return super().declared(), self._leases.shown, ready


def over_sqlite(
    *,
    clocks: Any,
    calls: Any = (),
    updates: int = 0,
    crashes: int = 0,
    step_downs: int = 0,
    lease_rule: bool = True,
    protocol: str = "tidemark.spec.tso:Tso",
    adapter: type[SqliteOracleStore] = SqliteOracleStore,
) -> RealOracleProgram:
    """Return the program. See ``programs.oracle``; ``adapter``: a wrong one."""
    scenario = OracleScenario(
        clocks=tuple((tuple(clock[0]), tuple(clock[-1])) for clock in clocks),
        calls=tuple((server, count) for server, count in calls),
        updates=updates,
        faults=FaultBudget(crashes=crashes),
        step_downs=step_downs,
        lease_rule=lease_rule,
    )
    program = RealOracleProgram if adapter is SqliteOracleStore else _with(adapter)
    return program(scenario, protocol=protocol)


def _with(wrong: type[SqliteOracleStore]) -> type[RealOracleProgram]:
    class Wrong(RealOracleProgram):
        adapter = wrong

    return Wrong
