"""Binlogs as Parquet files below one directory.

A file appears under its name only when it is complete: it is written beside, forced to the disk and renamed,
and the directory is forced to the disk as well.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.types import Row

SCHEMA = pa.schema(
    [
        pa.field("ts", pa.int64(), nullable=False),
        pa.field("segment_id", pa.int64(), nullable=False),
        pa.field("key", pa.int64(), nullable=False),
        pa.field("value", pa.string(), nullable=False),
    ]
)
SUFFIX = ".parquet"


class ParquetStore:
    """An object store in a directory. Paths are relative, with '/' between their parts."""

    def __init__(self, root: Path) -> None:
        self.root = root

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """Write the rows as one file, durably, replacing one of the same path."""
        await asyncio.to_thread(self._write, self.file_of(path), tuple(rows))

    async def get(self, path: str) -> tuple[Row, ...]:
        """Read a file back."""
        return await asyncio.to_thread(self._read, self.file_of(path))

    def file_of(self, path: str) -> Path:
        """The file of an object. Raises ValueError for a path that leaves the directory."""
        parts = PurePosixPath(path).parts
        if not parts or PurePosixPath(path).is_absolute() or ".." in parts:
            raise ValueError(f"object path {path!r} must be relative and without '..'")
        return self.root.joinpath(*parts).with_name(parts[-1] + SUFFIX)

    def paths(self) -> tuple[str, ...]:
        """The paths of all complete objects, sorted."""
        found = (file.relative_to(self.root).as_posix() for file in self.root.rglob(f"*{SUFFIX}"))
        return tuple(sorted(name.removesuffix(SUFFIX) for name in found))

    def _write(self, file: Path, rows: tuple[Row, ...]) -> None:
        columns = {
            "ts": [row.ts for row in rows],
            "segment_id": [row.segment_id for row in rows],
            "key": [row.key for row in rows],
            "value": [row.value for row in rows],
        }
        unfinished = file.with_name(f".{file.name}.unfinished")
        try:
            self._make_directory(file.parent)
            with unfinished.open("wb") as out:
                pq.write_table(pa.table(columns, schema=SCHEMA), out)
                out.flush()
                os.fsync(out.fileno())
            unfinished.replace(file)
            force_directory(file.parent)
        except OSError as failure:
            raise StoreError(f"cannot write {file}: {failure}; check space and permissions") from failure

    def _make_directory(self, directory: Path) -> None:
        """Create what is missing of the directory, each level durably."""
        missing = [level for level in (directory, *directory.parents) if not level.exists()]
        for level in reversed(missing):
            level.mkdir(exist_ok=True)
            force_directory(level.parent)

    def _read(self, file: Path) -> tuple[Row, ...]:
        try:
            table = pq.read_table(file, schema=SCHEMA)
        except FileNotFoundError as absent:
            raise StoreError(f"there is no binlog {file}; it was never written") from absent
        except pa.ArrowException as damage:
            raise CorruptDataError(f"binlog {file} is damaged: {damage}; restore it") from damage
        return tuple(
            Row(ts=row["ts"], segment_id=row["segment_id"], key=row["key"], value=row["value"])
            for row in table.to_pylist()
        )


def force_directory(directory: Path) -> None:
    """Force a directory's entries to the disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
