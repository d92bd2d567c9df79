"""The file system for the adapters, and the one of the operating system.

The adapters in this folder never call ``os`` themselves: other ``Files`` see every operation, and may lose
data that was not forced to the disk.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class Files(Protocol):
    """A file system. A write, creation or renaming survives a power failure only once it was forced.

    Every method raises OSError on failure; a failed write may have left a part of the data. If the caller is
    cancelled, the operation ends, done or not, before the caller continues.
    """

    async def exists(self, path: Path) -> bool:
        """Return whether there is a file or a directory of this name."""

    async def read(self, path: Path, *, offset: int = 0) -> bytes:
        """Return the content of a file beyond an offset. Raise FileNotFoundError if there is none."""

    async def write(self, path: Path, data: bytes) -> None:
        """Replace the content of a file; create it if there is none."""

    async def append(self, path: Path, data: bytes) -> None:
        """Add to the end of a file; create it if there is none."""

    async def truncate(self, path: Path, size: int) -> None:
        """Cut a file off after so many bytes."""

    async def sync(self, path: Path) -> None:
        """Force the content of a file to the disk. Its name is not part of that."""

    async def rename(self, old: Path, new: Path) -> None:
        """Give a file another name in the same directory, replacing a file of that name. In one step."""

    async def make_directory(self, path: Path) -> None:
        """Create a directory, unless there is one. Its parent must exist."""

    async def sync_directory(self, path: Path) -> None:
        """Force the names in a directory to the disk."""


class SystemCalls(Protocol):
    """The calls of the module ``os`` for ``SystemFiles``; the rest are methods of the paths."""

    def open(self, path: Path, flags: int, /) -> int:
        """Return a descriptor of a file or a directory."""

    def fsync(self, descriptor: int, /) -> None:
        """Force a file or directory to the disk."""

    def close(self, descriptor: int, /) -> None:
        """Close a descriptor."""

    def truncate(self, path: Path, size: int, /) -> None:
        """Cut a file off after so many bytes."""


class SystemFiles:
    """The file system of the machine. Each operation runs in a thread. ``calls``: those of the system."""

    def __init__(self, calls: SystemCalls = os) -> None:
        self._calls = calls

    async def exists(self, path: Path) -> bool:
        """See Files."""
        return await in_thread(None, path.exists)

    async def read(self, path: Path, *, offset: int = 0) -> bytes:
        """See Files."""
        return await in_thread(None, lambda: _read(path, offset))

    async def write(self, path: Path, data: bytes) -> None:
        """See Files."""
        await in_thread(None, lambda: _write(path, "wb", data))

    async def append(self, path: Path, data: bytes) -> None:
        """See Files."""
        await in_thread(None, lambda: _write(path, "ab", data))

    async def truncate(self, path: Path, size: int) -> None:
        """See Files."""
        await in_thread(None, lambda: self._calls.truncate(path, size))

    async def sync(self, path: Path) -> None:
        """See Files. The kernel forces what any descriptor has written."""
        await in_thread(None, lambda: self._force(path))

    async def rename(self, old: Path, new: Path) -> None:
        """See Files."""
        await in_thread(None, lambda: old.replace(new))

    async def make_directory(self, path: Path) -> None:
        """See Files."""
        await in_thread(None, lambda: path.mkdir(exist_ok=True))

    async def sync_directory(self, path: Path) -> None:
        """See Files."""
        await in_thread(None, lambda: self._force(path))

    def _force(self, path: Path) -> None:
        descriptor = self._calls.open(path, os.O_RDONLY)
        try:
            self._calls.fsync(descriptor)
        finally:
            self._calls.close(descriptor)


SYSTEM_FILES = SystemFiles()
"""It has no state."""


async def in_thread(executor: Executor | None, work: Callable[[], Result]) -> Result:
    """Work in a thread, of the loop's executor by default. A cancelled caller waits for its end."""
    future = asyncio.get_running_loop().run_in_executor(executor, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        while not future.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([future])
        if not future.cancelled():
            future.exception()
        raise


async def make_directories(files: Files, directory: Path, *, root: Path) -> None:
    """Create missing directories down to this one, each level durably.

    From ``root`` down existing names are forced as well: their creator may not have done so yet, or may have
    crashed before.
    """
    above = []
    for level in root.parents:
        if await files.exists(level):
            break
        above.append(level)
    below = [level for level in (directory, *directory.parents) if level.is_relative_to(root)]
    for level in reversed([*below, *above]):
        await files.make_directory(level)
        await files.sync_directory(level.parent)


def _read(path: Path, offset: int) -> bytes:
    with path.open("rb") as data:
        data.seek(offset)
        return data.read()


def _write(path: Path, mode: str, data: bytes) -> None:
    with path.open(mode) as out:
        out.write(data)
