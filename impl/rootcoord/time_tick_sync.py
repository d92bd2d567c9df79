"""Collects one report of every session, and gives each complete set, a round, to the sender of ticks.

A round is complete when no known session is without a report. A round that finds the queue full is dropped
without loss: the next one is newer (hazard 29).
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from tidemark.impl.errors import FollowedError, UnknownSessionError
from tidemark.impl.logs import log_of
from tidemark.impl.ports import Preemption
from tidemark.impl.rootcoord.round_queue import RoundQueue
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.values.report import DDL_SOURCE, SourceId, TimeTickReport

_log = log_of(__package__)

Fence = Callable[[SourceId], Awaitable[None]]
"""Make the logs refuse a source."""

TakeOver = Callable[[], Awaitable[tuple[Sequence[SourceId], int]]]
"""Fence the ended sources; the live ones, and the revision of the list."""

Newest = Callable[[], Awaitable[bool]]
"""Whether no later coordinator has begun; the later one lists the sessions after the answer."""


class TimeTickSync:
    """The known sessions and their reports since the last round.

    Milvus: chanTimeTick

    entries: by session its report; None while it is awaited. Empty until ``init_sessions``.
    accepted: sources of which a report was accepted, in order: these may take writes.
    """

    def __init__(self, *, rounds: RoundQueue, is_newest: Newest, preemption: Preemption) -> None:
        self.entries: dict[SourceId, TimeTickReport | None] = {}
        self.accepted: tuple[SourceId, ...] = ()
        self.rounds = rounds
        self.lock = SteppedLock(preemption)
        self._is_newest = is_newest
        self._preemption = preemption

    def init_sessions(self, sources: Iterable[SourceId]) -> None:
        """Begin with these sessions and the DDL source; none has reported."""
        self.entries = dict.fromkeys((DDL_SOURCE, *sources))

    async def add_session(self, source: SourceId) -> None:
        """A session began: no round without its report."""
        async with self.lock.holding("sync.add"):
            self.entries[source] = None
            _log("Add session for timeticksync", serverID=source)

    async def del_session(self, source: SourceId, fence: Fence) -> None:
        """A session ended. From here on no round waits for it, so its messages may not come into the logs any
        more: it is fenced first (hazard 11). It may have been the only awaited one.
        """
        async with self.lock.holding("sync.del"):
            await fence(source)
            self.entries.pop(source, None)
            await self._close_if_complete()
            _log("Remove session from timeticksync", serverID=source)

    async def list_again(self, take_over: TakeOver) -> int:
        """Replace the sessions by those of a list, which fences all others. Return its revision.

        Reports wait until then: the logs refuse an ended session before rounds stop waiting for it. Earlier
        reports of a session that continues stay valid.
        """
        async with self.lock.holding("sync.list"):
            sources, revision = await take_over()
            self.entries = {source: self.entries.get(source) for source in (DDL_SOURCE, *sources)}
            await self._close_if_complete()
        return revision

    async def update(self, report: TimeTickReport) -> None:
        """Take a report. Raise UnknownSessionError if its session is not known, FollowedError if it is the
        first one of its source and a later coordinator has begun.
        """
        async with self.lock.holding("sync.update"):
            source = report.source
            if source not in self.entries:
                known = ", ".join(map(str, sorted(self.entries))) or "none"
                raise UnknownSessionError(
                    f"source {source} reports and has no session; known: {known}; register it first"
                )
            await self._ask_to_admit(source)
            self.entries[source] = report
            self.accepted = tuple(sorted(dict.fromkeys((*self.accepted, source))))
            await self._close_if_complete()

    async def _ask_to_admit(self, source: SourceId) -> None:
        """From its first accepted report on a proxy takes writes. A later coordinator waits for it only if it
        was in the list of sessions with which that one began.
        """
        if source in (DDL_SOURCE, *self.accepted) or await self._is_newest():
            return
        raise FollowedError(
            f"source {source} reports to a coordinator that was followed; report to the later"
        )

    async def _close_if_complete(self) -> None:
        """With the lock held. The next caller finds every entry empty again."""
        if not self.entries or None in self.entries.values():
            return
        await self._preemption.point("sync.close_round")
        self.rounds.put({source: report for source, report in self.entries.items() if report is not None})
        self.entries = dict.fromkeys(self.entries)
