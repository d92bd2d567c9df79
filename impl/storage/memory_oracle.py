"""The oracle's window and leader key in memory, for tests and for runs that need no durability."""

import asyncio

from tidemark.impl.errors import NotLeaderError
from tidemark.impl.tso.ports import NEVER_SAVED, Leadership, SteadyClock


class MemoryOracleStore:
    """One window and one leader key. ``steady`` is the clock by which leases run out."""

    def __init__(self, *, steady: SteadyClock, poll: float = 0.05) -> None:
        self.saved = NEVER_SAVED
        self.saves = 0
        self._steady = steady
        self._poll = poll
        self._leader: Leadership | None = None
        self._expires = 0.0
        self._terms = 0

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        """See LeaderElection."""
        if self._holder() is not None:
            return None
        self._terms += 1
        self._leader = Leadership(server=server, term=self._terms, lease=lease)
        self._expires = self._steady.monotonic() + lease
        return self._leader

    async def renew(self, leadership: Leadership) -> None:
        """See LeaderElection."""
        self._check(leadership)
        self._expires = self._steady.monotonic() + leadership.lease

    async def resign(self, leadership: Leadership) -> None:
        """See LeaderElection."""
        if self._holder() == leadership:
            self._leader = None

    async def wait_vacant(self) -> None:
        """See LeaderElection."""
        if self._holder() is not None:
            await asyncio.sleep(self._poll)

    async def load(self) -> int:
        """See WindowStore."""
        return self.saved

    async def save(self, end: int, leadership: Leadership) -> None:
        """See WindowStore."""
        self._check(leadership)
        self.saved = max(self.saved, end)
        self.saves += 1

    async def close(self) -> None:
        """Do nothing."""

    def _holder(self) -> Leadership | None:
        return self._leader if self._steady.monotonic() < self._expires else None

    def _check(self, leadership: Leadership) -> None:
        if self._holder() != leadership:
            raise NotLeaderError(f"{leadership.server} holds no leader key in term {leadership.term}")
