"""The oracle program over the real store in SQLite: each statement is a step, and the file says who leads.

What the program of ``program`` is given by a stand-in of the store is done here by ``SqliteOracleStore``: the
term, the lease, the condition of a save, the window that never falls. Of its own this file has only when
somebody campaigns, and when a lease has run out. After each commit the window and the leader are read from
the file. A server that dies loses its transaction; its machine goes on.
"""

import functools
from pathlib import Path
from typing import Any

from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.storage.transactions import Database
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.protocols.tso.ports import LEADER, NOBODY, SETTLED, STORE, WINDOW, SharedStore
from tidemark.models.protocols.tso.program.adapted import AdaptedProgram, AdaptedStore
from tidemark.models.protocols.tso.program.scenario import OracleScenario
from tidemark.models.protocols.tso.refinement import FIRST_SAVE
from tidemark.models.refinement.scenario import program
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


class RealStore(AdaptedStore):
    """The store as one server sees it. ``file``: where it is. ``clock``: by which it counts leases."""

    adapter: SqliteOracleStore

    def __init__(
        self, process: Process, place: int, *, file: DatabaseFile, clock: StoreClock, **rest: Any
    ) -> None:
        super().__init__(process, place, **rest)
        self._file = file
        self._clock = clock

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
                self.look()
            return True

        while not await self._do("expire", pass_lease, keys=(WINDOW, LEADER, SETTLED)):
            await self._file.wait()
        self.tell()


class RealOracleProgram(AdaptedProgram):
    """The oracle program over one SQLite file."""

    def populate(self, world: World) -> None:
        """Make the file, with its tables in it."""
        self._leases = StoreClock()
        self._file = DatabaseFile(world, STORE, changed=self._committed)
        world.attach(self._file, machine=None)
        with self._file.directly() as database:
            finish(self._adapter(database).load())
        super().populate(world)

    def _adapter(self, database: Database) -> SqliteOracleStore:
        return SqliteOracleStore(_FILE, steady=self._leases, database=database)

    def _edge_store(self, place: int, process: Process) -> SharedStore:
        made = RealStore(
            process,
            place,
            elected=functools.partial(self._elected, place, process),
            others=self.told_of_the_end(place),
            adapter=self._adapter(self._file.connect()),
            file=self._file,
            clock=self._leases,
            look=self.look,
            failed=self.failed,
        )
        self.stores[place] = made
        return made

    def _committed(self, task: str, before: Any) -> None:
        """A transaction has changed the file: an election, a save, or the end of a term."""
        del before
        self.look()
        store = self.stores[self.scenario.names.index(self.world.caller.name)]
        if task.endswith(" lead"):
            store.settles(FIRST_SAVE)
        elif " update " in task:
            store.settles(int(task.rpartition(" ")[2]))

    def shown(self) -> tuple[int, tuple[int, bool]]:
        """See AdaptedProgram: what is committed."""
        copy = self._file.copy()
        leader = NOBODY
        for server, renewed, expires in copy.execute(
            "SELECT server, renewed, expires FROM leader"
        ).fetchall():
            leader = (self.scenario.names.index(server), renewed <= self._leases.shown < expires)
        return finish(self._adapter(DatabaseSnapshot(copy)).load()), leader

    def declared(self) -> Any:
        """Return what the future depends on."""
        ready = tuple(
            (place, store.adapter._transactions._ready)  # noqa: SLF001  # all that it remembers
            for place, store in sorted(self.stores.items())
            if isinstance(store, RealStore)
        )
        return super().declared(), self._leases.shown, ready


over_sqlite = program(RealOracleProgram, OracleScenario)
