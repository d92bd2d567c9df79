"""The flush program over the real adapters: binlogs as Parquet files on the node's disk, metadata in SQLite.

When the node crashes the power of its machine fails. The coordinator's machine stays.
"""

import functools
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.ports import MetaStore, ObjectStore
from tidemark.impl.storage.parquet_store import ParquetStore, decode, encode
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.storage.transactions import Database
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import MetaSnapshot, Row
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.protocols.flush.ports import COORDINATOR, NODE
from tidemark.models.protocols.flush.program import FlushProgram
from tidemark.models.simulation.world.database import DatabaseFile, DatabaseSnapshot, outside
from tidemark.models.simulation.world.files import FileSystem, Image, Snapshot
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

_ROOT = Path("/data")


class RealStoresProgram(FlushProgram):
    """The flush program with the adapters of ``tidemark.impl.storage``.

    Attributes:
        files: between the object store and its files; a variant leaves something out.
    """

    files: ClassVar[Callable[[Any], Any]] = staticmethod(lambda operations: operations)

    def populate(self, world: World) -> None:
        """Add disk and database, with the channel in it."""
        _load_parquet()
        self._system = FileSystem(world, NODE)
        world.attach(self._system, machine=NODE)
        self._database = DatabaseFile(world, COORDINATOR, changed=_ignore)
        world.attach(self._database, machine=None)
        with self._database.directly() as database:
            finish(SqliteMetaStore(_ROOT, database=database).save_channels(self.first_channels()))
        super().populate(world)

    def metadata(self, process: Process) -> MetaStore:
        """Return the coordinator's metadata store."""
        del process
        return _Begun(_ROOT, database=self._database.connect(), copy=self._database.copy())

    def objects(self, process: Process) -> ObjectStore:
        """Return the node's object store."""
        del process
        return ParquetStore(_ROOT, files=type(self).files(self._system.operations()), writer=NODE)

    def objects_owner(self, path: str) -> str:
        """Return the mediated object that holds an object."""
        del path
        return self._system.owner

    def is_whole(self, path: str, positions: Sequence[Timestamp]) -> bool:
        """Whether the adapter finds the rows of the record, now and after any power failure."""
        rows = {row.ts: row for pack in self.scenario.packs() for row in pack.rows}
        expected = tuple(rows.get(ts) for ts in positions)
        return all(_rows(image, path) == expected for image in self._system.left())


class _Begun(SqliteMetaStore):
    """The metadata of a coordinator that has loaded them before the program begins: it runs all the time."""

    def __init__(self, file: Path, *, database: Database, copy: sqlite3.Connection) -> None:
        super().__init__(file, database=database)
        self._copy = copy

    async def load(self) -> MetaSnapshot:
        """Load at once."""
        return await SqliteMetaStore(_ROOT, database=DatabaseSnapshot(self._copy)).load()


async def _read(image: Image, path: str, found: list[tuple[Row, ...]]) -> None:
    try:
        found.append(await ParquetStore(_ROOT, files=Snapshot(image), writer=NODE).get(path))
    except (StoreError, CorruptDataError):
        found.append(())


@functools.lru_cache(maxsize=4096)
def _rows(image: Image, path: str) -> tuple[Row, ...]:
    found: list[tuple[Row, ...]] = []
    finish(_read(image, path, found))
    return found[0]


def _ignore(task: str, before: Any) -> None:
    """What was committed is read from the coordinator's memory, which follows it."""
    del task, before


@functools.cache
def _load_parquet() -> None:
    """Parquet loads parts of itself when it is first used, which a program under exploration may not."""
    with outside():
        decode(encode((Row(1, 1, 1),)), where=_ROOT)
