"""The catalogue over its real store in SQLite: each statement is a step, and the coordinator may die between.

What is stored is read from the file after each commit. What must be so is that of ``catalog``.
"""

import functools
import sqlite3
from collections.abc import Hashable
from pathlib import Path

from tidemark.impl.rootcoord.catalog import CatalogStore
from tidemark.impl.storage.sqlite_catalog import SqliteCatalogStore
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.protocols.meta.program.catalog import CLUSTER, KEPT, NUMBERS, CatalogProgram
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.world.database import DatabaseFile, DatabaseSnapshot
from tidemark.models.simulation.world.world import World

_FILE = Path("catalogue")


class RealCatalogProgram(CatalogProgram):
    """One coordinator and one proxy.

    Attributes:
        saving: what a coordinator is saving.
    """

    saving: CollectionVersion | None = None

    def build(self, world: World) -> None:
        """Store the first collection; its number is used."""
        self._file = DatabaseFile(world, CLUSTER, changed=self._changed)
        world.attach(self._file, machine=None)
        with self._file.directly() as database:
            store = SqliteCatalogStore(_FILE, database=database)
            for record in self.stored.values():
                finish(store.save(record))
            finish(store.reserve(self.reserved - 1))
        found, following = _content(self._file.copy())
        if (found, following) != (self.stored, self.reserved):
            self.wrong = f"{KEPT}: what is saved first, and the next number, are {found}, {following}"
        super().build(world)

    def catalog_store(self) -> CatalogStore:
        """Return the store of a coordinator that starts, on a connection of its own."""
        self.saving = None
        return _Telling(self, SqliteCatalogStore(_FILE, database=self._file.connect()))

    def on_start(self, state: Observation) -> str | None:
        """The file holds what was saved first."""
        del state
        return self.wrong

    def _changed(self, task: str, before: sqlite3.Connection) -> None:
        """What is committed is all of what is being saved, or what was there."""
        del task, before
        found, self.reserved = _content(self._file.copy())
        saved = self.stored if self.saving is None else {**self.stored, self.saving.name: self.saving}
        if found not in (self.stored, saved):
            self.wrong = f"{KEPT}: {self.saving} is saved, and {found} is stored"
        self.take_stock(found)

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next. The world has the file's."""
        return super().declared(), self.saving


class _Telling:
    """Says what is being saved, and that it is stored afterwards."""

    def __init__(self, program: RealCatalogProgram, adapter: SqliteCatalogStore) -> None:
        self._program = program
        self._adapter = adapter

    async def load(self) -> tuple[CollectionVersion, ...]:
        """See CatalogStore."""
        return await self._adapter.load()

    async def save(self, record: CollectionVersion) -> None:
        """See CatalogStore."""
        program = self._program
        program.saving = record
        await self._adapter.save(record)
        program.saving = None
        if program.stored.get(record.name) != record:
            program.wrong = f"{KEPT}: {record} is saved, and {program.stored} is stored"

    async def reserve(self, count: int) -> int:
        """See CatalogStore."""
        program = self._program
        before = program.reserved
        first = await self._adapter.reserve(count)
        if not before <= first <= program.reserved - count:
            program.wrong = (
                f"{NUMBERS}: {count} from {first} on are given, the next one was {before} "
                f"and is {program.reserved}"
            )
        return first


@functools.lru_cache(maxsize=256)
def _content(copy: sqlite3.Connection) -> tuple[dict[str, CollectionVersion], int]:
    """The collections by name, and the next number."""
    store = SqliteCatalogStore(_FILE, database=DatabaseSnapshot(copy))
    records = {record.name: record for record in finish(store.load())}
    return records, finish(store.reserve(0))
