"""The real adapters for binlogs and metadata over media of the controlled world, and what these store."""

import functools
import sqlite3
from pathlib import Path

from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.storage.parquet_store import ParquetStore, decode, encode
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import MetaSnapshot, Row
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.simulation.world.database import DatabaseFile, DatabaseSnapshot, outside
from tidemark.models.simulation.world.files import Image, Snapshot

ROOT = Path("/data")
"""The folder of the adapters."""


def metadata_in(copy: sqlite3.Connection) -> MetaSnapshot:
    """What the coordinator's store finds in a copy of its database."""
    return finish(SqliteMetaStore(ROOT, database=DatabaseSnapshot(copy)).load())


class LoadedMetaStore(SqliteMetaStore):
    """The metadata of a coordinator that has loaded them before the program begins: it runs all the time."""

    def __init__(self, file: DatabaseFile) -> None:
        super().__init__(ROOT, database=file.connect())
        self._copy = file.copy()

    async def load(self) -> MetaSnapshot:
        """Load at once."""
        return metadata_in(self._copy)


@functools.lru_cache(maxsize=4096)
def rows_in(image: Image, path: str) -> tuple[Row, ...]:
    """The rows of a binlog that the object store finds in an image of its files; empty if it finds none."""
    return finish(_read(ParquetStore(ROOT, files=Snapshot(image), writer="reader"), path))


async def _read(store: ParquetStore, path: str) -> tuple[Row, ...]:
    try:
        return await store.get(path)
    except (StoreError, CorruptDataError):
        return ()


@functools.cache
def load_parquet() -> None:
    """Parquet loads parts of itself when it is first used, which a program under exploration may not."""
    with outside():
        decode(encode((Row(1, 1, 1),)), where=ROOT)
