"""Lists and deletes the binlogs of a ``ParquetStore``.

A deletion is not forced to the disk: a file that returns after a power failure is found again.
"""

from pathlib import Path

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.files import in_thread
from tidemark.impl.storage.parquet_store import SUFFIX, ParquetStore


class ParquetFolder:
    """See ``impl.datacoord.garbage.ObjectFolder``. Unfinished files are not listed."""

    def __init__(self, store: ParquetStore) -> None:
        self._store = store

    async def paths(self, folder: str) -> tuple[str, ...]:
        """See ObjectFolder. Raises ValueError for a path that leaves the store's directory."""
        below = self._store.file_of(folder).with_name(folder.rpartition("/")[2])
        try:
            found = await in_thread(None, lambda: [*below.rglob(f"*{SUFFIX}")])
        except OSError as failure:
            raise StoreError(f"cannot list {below}: {failure}; check permissions") from failure
        return tuple(sorted(self._path_of(file) for file in found))

    async def delete(self, path: str) -> None:
        """See ObjectFolder. Raises ValueError for a path that leaves the store's directory."""
        file = self._store.file_of(path)
        try:
            await in_thread(None, lambda: file.unlink(missing_ok=True))
        except OSError as failure:
            raise StoreError(f"cannot delete {file}: {failure}; check permissions") from failure

    def _path_of(self, file: Path) -> str:
        return file.relative_to(self._store.root).as_posix().removesuffix(SUFFIX)
