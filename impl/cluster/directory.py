"""The directory of a cluster: where everything is, and the lock that keeps a second process out."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tidemark.impl.errors import ClusterLockedError


class ClusterDirectory:
    """Paths below one directory. Whoever holds its lock knows that every earlier process is dead.

    The kernel releases the lock with the process, also after SIGKILL.
    """

    def __init__(self, root: Path) -> None:
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
        lock = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as held:
            os.close(lock)
            raise ClusterLockedError(f"another process runs a cluster in {self.root}; end it first") from held
        self._lock = lock

    def give_back(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
