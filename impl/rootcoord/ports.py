"""The edges of the root coordinator: DDL, the session store and the streams that carry ticks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tidemark.impl.ports import Clock, Preemption
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.report import SourceId


class DdlReporter(Protocol):
    """The DDL source of the time tick."""

    async def minimum(self) -> Timestamp:
        """Every DDL message still to come is above this; 0 while it is unknown."""

    async def run_dummy(self) -> None:
        """Move the minimum when there is no DDL. Raise RpcError when the oracle does not answer."""


@dataclass(frozen=True)
class SessionEvent:
    """A session began or ended. Revisions grow with each change of the store."""

    revision: int
    source: SourceId
    alive: bool


class SessionStore(Protocol):
    """The registered sessions of proxies, which are keys with a lease, and the refused sources.

    Both in one store: the end of a session must not depend on which component learns of it first.
    """

    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        """Fence every source without a live session, and the DDL source of every earlier coordinator.

        Returns the live ones, and the revision of both.
        """

    async def next_event(self, after: int) -> SessionEvent:
        """Wait for the first change after a revision.

        Raise WatchCompactedError if the store has forgotten it: call ``take_over`` then.
        """

    async def fence(self, source: SourceId) -> None:
        """From now on the logs refuse appends of the source. Returns when they do."""


class TickStreams(Protocol):
    """The physical channels as the sender of ticks sees them."""

    async def send_tick(self, channel: ChannelName, ts: Timestamp) -> None:
        """Append a tick. Raise RpcError when it is not in the log and will not be."""

    async def last_tick(self, channel: ChannelName) -> Timestamp:
        """The greatest tick in the channel's log; 0 if there is none.

        No tick of an earlier incarnation is appended from now on, and none is the newest.
        """

    async def is_newest(self) -> bool:
        """Whether no later incarnation has asked for a last tick. Raise RpcError without an answer."""


@dataclass(frozen=True, kw_only=True)
class RootCoordPorts:
    """The world as the root coordinator sees it."""

    ddl: DdlReporter
    sessions: SessionStore
    ticks: TickStreams
    clock: Clock
    preemption: Preemption = field(default_factory=NoPreemption)
