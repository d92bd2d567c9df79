"""A disk under the real ``SystemFiles``: paths and system calls that reach the simulated file system.

Each operation of ``SystemFiles`` is a function in a thread, and one step. What it asks of ``os`` and of its
paths is done on the simulated file system, where nothing lasts that was not forced.
"""

import errno
from collections.abc import Generator
from pathlib import Path, PosixPath
from typing import Any, ClassVar, Self

from tests.impl.storage.faults import FAIL, TEAR, Faults
from tidemark.models.simulation.world.files import FileSystem

_FIRST_DESCRIPTOR = 3


class Machine:
    """One simulated file system as a process sees it.

    Attributes:
        open: what was opened and is not closed, by descriptor.
    """

    def __init__(self, system: FileSystem, faults: Faults) -> None:
        self.system = system
        self.faults = faults
        self.open_files: dict[int, str] = {}

    def path(self, text: str) -> Path:
        """Return a path in this file system, and so are all that are made of it."""
        kind: Any = type("DiskPath", (DiskPath,), {"machine": self})
        made: Path = kind(text)
        return made

    def strikes(self, verb: str, path: Path) -> str | None:
        """Raise the error if the operation is the one that fails. Return TEAR if it does so half-way."""
        kinds = (FAIL, TEAR) if verb == "write" else (FAIL,)
        found = self.faults.strikes(*kinds)
        if found is not None:
            self.faults.words = f"{verb} failed"
        if found == FAIL:
            raise OSError(errno.EIO, self.faults.words, str(path))
        return found

    # What ``SystemFiles`` asks of ``os``.

    def open(self, path: Path, flags: int, /) -> int:
        assert flags == 0
        self.strikes("open", path)
        self.system.inode_of(str(path))
        descriptor = max(self.open_files, default=_FIRST_DESCRIPTOR - 1) + 1
        self.open_files[descriptor] = str(path)
        return descriptor

    def fsync(self, descriptor: int, /) -> None:
        path = self.open_files.get(descriptor)
        if path is None:
            raise OSError(errno.EBADF, "Bad file descriptor")
        self.strikes("fsync", Path(path))
        self.system.force(path)

    def close(self, descriptor: int, /) -> None:
        if self.open_files.pop(descriptor, None) is None:
            raise OSError(errno.EBADF, "Bad file descriptor")

    def truncate(self, path: Path, size: int, /) -> None:
        self.strikes("truncate", path)
        self.system.inode_of(str(path))
        self.system.change(str(path), size, b"")


class DiskPath(PosixPath):
    __slots__ = ()
    machine: ClassVar[Machine]

    def exists(self, **options: Any) -> bool:
        del options
        self.machine.strikes("stat", self)
        return str(self) in self.machine.system.names()

    def open(self, mode: str = "r", *options: Any, **named: Any) -> Any:
        """What is written takes effect when the file is closed: a step has no inside."""
        del options, named
        self.machine.strikes("open", self)
        return _Opened(self.machine, self, mode)

    def replace(self, target: Any) -> Any:
        self.machine.strikes("rename", self)
        self.machine.system.rename(str(self), str(target))
        return target

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:  # as Path
        del mode
        self.machine.strikes("mkdir", self)
        if parents and str(self.parent) not in self.machine.system.names():
            self.parent.mkdir(parents=True)
        if not exist_ok and str(self) in self.machine.system.names():
            raise FileExistsError(errno.EEXIST, "File exists", str(self))
        self.machine.system.make_directory(str(self))

    def unlink(self, missing_ok: bool = False) -> None:  # as Path
        self.machine.strikes("unlink", self)
        if not missing_ok or str(self) in self.machine.system.names():
            self.machine.system.unlink(str(self))

    def rglob(self, pattern: str, **options: Any) -> Generator[Any, None, None]:
        """See Path; the pattern is ``*`` and a suffix. The names are in no order that a user would like."""
        del options
        self.machine.strikes("list", self)
        suffix = str(pattern).removeprefix("*")
        for name in sorted(self.machine.system.names(), reverse=True):
            path = type(self)(name)
            if name.endswith(suffix) and path.is_relative_to(self):
                yield path


class _Opened:
    """A file that is open for reading, writing or appending, in binary."""

    def __init__(self, machine: Machine, path: Path, mode: str) -> None:
        self._machine, self._path, self._mode = machine, str(path), mode
        self._at = 0
        if mode == "rb":
            self._content = machine.system.content_of(self._path)
        elif mode == "wb" or self._path not in machine.system.names():
            machine.system.change(self._path, 0, b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind, error, trace):
        """Close it."""

    def seek(self, offset: int) -> int:
        self._at = offset
        return offset

    def read(self) -> bytes:
        return self._content[self._at :]

    def write(self, data: bytes) -> int:
        torn = self._machine.strikes("write", Path(self._path)) == TEAR
        part = data[: len(data) // 2] if torn else data
        self._machine.system.change(self._path, None, part)
        if torn:
            raise OSError(errno.ENOSPC, "write failed", self._path)
        return len(data)
