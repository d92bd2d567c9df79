"""Binlogs as Parquet files below one directory.

A file appears under its name only when it is complete: it is written under another name, forced to the disk
and renamed, and the directory is forced to the disk as well. Each put has an unfinished name of its own, so
that two puts of one path write different files.
"""

import os
from collections.abc import Sequence
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any

from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.storage.files import SYSTEM_FILES, Files, make_directories
from tidemark.impl.types import Row

SUFFIX = ".parquet"
_STORES = count(1)


def _schema() -> Any:
    """The columns. pyarrow is imported at the first use, so that other programs need not have it."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("ts", pa.int64(), nullable=False),
            pa.field("segment_id", pa.int64(), nullable=False),
            pa.field("key", pa.int64(), nullable=False),
            pa.field("value", pa.string(), nullable=False),
        ]
    )


class ParquetStore:
    """An object store in a directory. Paths are relative, with '/' between their parts.

    Milvus: MinIO

    Args:
        root: the directory; made when the first object is written.
        files: the file system that it is in.
        writer: distinguishes the unfinished files of this store from those of others; by default process and
            number.
    """

    def __init__(self, root: Path, *, files: Files = SYSTEM_FILES, writer: str = "") -> None:
        self.root = root
        self._files = files
        self._writer = writer or f"{os.getpid()}-{next(_STORES)}"
        self._unfinished: set[Path] = set()
        """Files being written."""
        self._forced: set[Path] = set()
        """Directories whose names are known to be durable."""

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """Write the rows as one file, durably, replacing one of the same path."""
        file, data = self.file_of(path), encode(rows)
        unfinished = self._beside(file)
        self._unfinished.add(unfinished)
        try:
            if file.parent not in self._forced:
                await make_directories(self._files, file.parent, root=self.root)
                self._forced.add(file.parent)
            await self._files.write(unfinished, data)
            await self._files.sync(unfinished)
            await self._files.rename(unfinished, file)
            await self._files.sync_directory(file.parent)
        except OSError as failure:
            raise StoreError(f"cannot write {file}: {failure}; check space and permissions") from failure
        finally:
            self._unfinished.discard(unfinished)

    def _beside(self, file: Path) -> Path:
        """A name that no other put uses now. Names are reused: failures leave a bounded number of files."""
        names = (file.with_name(f".{file.name}.{self._writer}.{number}.unfinished") for number in count())
        return next(name for name in names if name not in self._unfinished)

    async def get(self, path: str) -> tuple[Row, ...]:
        """Read a file back."""
        file = self.file_of(path)
        try:
            data = await self._files.read(file)
        except FileNotFoundError as absent:
            raise StoreError(f"there is no binlog {file}; it was never written") from absent
        except OSError as failure:
            raise StoreError(f"cannot read {file}: {failure}; check the disk") from failure
        return decode(data, where=file)

    def file_of(self, path: str) -> Path:
        """The file of an object. Raises ValueError for a path that leaves the directory."""
        parts = PurePosixPath(path).parts
        if not parts or PurePosixPath(path).is_absolute() or ".." in parts:
            raise ValueError(f"object path {path!r} must be relative and without '..'")
        return self.root.joinpath(*parts).with_name(parts[-1] + SUFFIX)

    def paths(self) -> tuple[str, ...]:
        """The paths of all complete objects, sorted. Only for a directory of the machine."""
        found = (file.relative_to(self.root).as_posix() for file in self.root.rglob(f"*{SUFFIX}"))
        return tuple(sorted(name.removesuffix(SUFFIX) for name in found))


def encode(rows: Sequence[Row]) -> bytes:
    """Rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "ts": [row.ts for row in rows],
        "segment_id": [row.segment_id for row in rows],
        "key": [row.key for row in rows],
        "value": [row.value for row in rows],
    }
    out = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, schema=_schema()), out)
    return bytes(out.getvalue())


def decode(data: bytes, *, where: Path) -> tuple[Row, ...]:
    """The rows of a Parquet file. Raises CorruptDataError, which names the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(data), schema=_schema(), use_threads=False)
    except (pa.ArrowException, OSError) as damage:
        raise CorruptDataError(f"binlog {where} is damaged: {damage}; restore it") from damage
    return tuple(
        Row(ts=row["ts"], segment_id=row["segment_id"], key=row["key"], value=row["value"])
        for row in table.to_pylist()
    )
