"""The data coordinator over its real metadata store in SQLite: each statement is a step.

What is stored is read from the file after each commit. The contract is that of ``records``.
"""

import functools
import sqlite3
from collections.abc import Sequence

from tidemark.impl.ports import MetaStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.models.protocols.channels.claims import RECORDS_ARE_STORED
from tidemark.models.protocols.channels.contract import Records
from tidemark.models.protocols.channels.records import RecordsProgram, Script, difference, records
from tidemark.models.protocols.channels.scenario import COORDINATOR
from tidemark.models.protocols.common.adapters import ROOT, metadata_in
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.simulation.world.database import DatabaseFile
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World


class RealRecordsProgram(RecordsProgram):
    """One coordinator and its clients."""

    def fill(self, world: World) -> None:
        """Store what is stored at the start."""
        self._file = DatabaseFile(world, COORDINATOR, changed=self._changed)
        world.attach(self._file, machine=None)
        with self._file.directly() as database:
            store = SqliteMetaStore(ROOT, database=database)
            finish(store.save_channels(self.first.channels))
            for record in self.first.segments:
                finish(store.save_segment(record))
        if self.stored() != self.first:
            self.wrong = (
                f"{RECORDS_ARE_STORED}: of what is saved first, {difference(self.first, self.stored())}"
            )

    def metadata(self, process: Process) -> MetaStore:
        """Return the coordinator's metadata store."""
        del process
        return SqliteMetaStore(ROOT, database=self._file.connect())

    def stored(self) -> Records:
        """Return what is committed."""
        return _records(self._file.copy())

    def _changed(self, task: str, before: sqlite3.Connection) -> None:
        del task, before
        self.take_stock()


@functools.lru_cache(maxsize=256)
def _records(copy: sqlite3.Connection) -> Records:
    return Records.of(metadata_in(copy))


def records_in_sqlite(*, before: Script = (), clients: Sequence[Script]) -> RecordsProgram:
    """Return the program of ``records`` over the real store."""
    return records(before=before, clients=clients, program=RealRecordsProgram)
