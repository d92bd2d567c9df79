"""The directory of a cluster: its paths, and the lock that keeps a second process out."""

import fcntl
import os
from pathlib import Path
from typing import Protocol

from tidemark.impl.errors import ClusterLockedError


class LockCalls(Protocol):
    """The calls of the system for the lock."""

    def open(self, path: Path, flags: int, mode: int, /) -> int:
        """Return a descriptor of a file. Raises OSError."""

    def flock(self, descriptor: int, operation: int, /) -> None:
        """Lock the file of a descriptor. Raises OSError if another process has it locked."""

    def close(self, descriptor: int, /) -> None:
        """Close a descriptor, and release its lock."""


class _SystemCalls:
    open = staticmethod(os.open)
    flock = staticmethod(fcntl.flock)
    close = staticmethod(os.close)


class ClusterDirectory:
    """Paths below one directory. The holder of its lock knows that every earlier process has ended.

    The kernel releases the lock with the process, also after SIGKILL. ``calls``: those of the system.
    """

    def __init__(self, root: Path, *, calls: LockCalls = _SystemCalls) -> None:
        self._calls = calls
        self.root = root
        self.logs = root / "log"
        self.binlogs = root / "binlogs"
        self.oracle = root / "oracle.sqlite"
        self.ids = root / "ids.sqlite"
        self.sessions = root / "sessions.sqlite"
        self.catalog = root / "catalog.sqlite"
        self.meta = root / "coordinator.sqlite"
        self.releases = root / "releases.sqlite"
        self._lock: int | None = None

    def take(self) -> None:
        """Make the directory and lock it. Raises ClusterLockedError."""
        self.root.mkdir(parents=True, exist_ok=True)
        lock = self._calls.open(self.root / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._calls.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as held:
            self._calls.close(lock)
            raise ClusterLockedError(f"another process runs a cluster in {self.root}; end it first") from held
        self._lock = lock

    def give_back(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._calls.close(self._lock)
            self._lock = None
