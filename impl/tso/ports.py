"""The edges of the oracle: clocks, and the store that holds the window and the leader key."""

from dataclasses import dataclass
from typing import Protocol

from tidemark.impl.ports import Clock, Preemption

NEVER_SAVED = 0
"""The answer of a store without a window: before any time that a clock shows."""


class WallClock(Protocol):
    """The present time. It may jump, forward and back, and differs from process to process."""

    def now(self) -> int:
        """Nanoseconds since 1970."""


class SteadyClock(Protocol):
    """Elapsed time. It never jumps; its origin means nothing."""

    def monotonic(self) -> float:
        """Seconds."""


@dataclass(frozen=True, kw_only=True)
class Leadership:
    """One term of one leader, as the store knows it.

    ``term``: distinguishes the terms, also two of the same server. ``lease``: seconds granted by the store.
    """

    server: str
    term: int
    lease: float


class LeaderElection(Protocol):
    """One key, which exists as long as its lease is renewed. Every method raises StoreError on failure."""

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        """Create the leader key under a new lease. None if it exists."""

    async def renew(self, leadership: Leadership) -> None:
        """Begin the lease anew. Raise NotLeaderError if it has run out: it cannot come back."""

    async def resign(self, leadership: Leadership) -> None:
        """Remove the key, if it is still that of this term."""

    async def wait_vacant(self) -> None:
        """Return when the key may be absent. It may return early: ``campaign`` decides."""


class WindowStore(Protocol):
    """The end of the window, which outlives every leader. Linearisable.

    Milvus: loadTimestamp
    """

    async def load(self) -> int:
        """The saved end in nanoseconds, or NEVER_SAVED. Raise StoreError if the read fails (B1)."""

    async def save(self, end: int, leadership: Leadership) -> None:
        """Raise the end if the leader key is still that of this term, in one transaction. It never falls.

        Raise NotLeaderError if it is not. Raise StoreError on failure; it may have been saved all the same.
        """


class OracleStore(LeaderElection, WindowStore, Protocol):
    """Both in one store: the condition of a save speaks of the key."""

    async def close(self) -> None:
        """Close files and connections."""


@dataclass(frozen=True, kw_only=True)
class OraclePorts:
    """The world as one oracle process sees it."""

    store: OracleStore
    wall: WallClock
    steady: SteadyClock
    clock: Clock
    preemption: Preemption
