"""Collects one report of every session, and hands each complete set, a round, to the sender of ticks.

A round is complete when no known session is without a report. It goes into a queue that holds one round; if
that is full, the round is dropped, and so is nothing that matters: the next one is newer (hazard 29).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from impl.errors import UnknownSessionError
from impl.ports import Preemption
from impl.rootcoord.report import DDL_SOURCE, SourceId, TimeTickReport
from impl.stepped_lock import SteppedLock

Round = Mapping[SourceId, TimeTickReport]


class TimeTickSync:
    """The known sessions and what they have reported since the last round.

    entries: by session its report; None while it is awaited. Empty until ``init_sessions``.
    rounds: complete sets on their way to the sender.
    dropped: how many rounds found the queue full.
    """

    def __init__(self, *, preemption: Preemption, capacity: int = 1) -> None:
        self.entries: dict[SourceId, TimeTickReport | None] = {}
        self.rounds: asyncio.Queue[Round] = asyncio.Queue(capacity)
        self.dropped = 0
        self._preemption = preemption
        self._lock = SteppedLock(preemption)

    async def init_sessions(self, sources: Iterable[SourceId]) -> None:
        """Begin with these sessions and the DDL source; nobody has reported."""
        async with self._lock.holding("sync.init"):
            self.entries = dict.fromkeys((self._ddl_key(), *sources))

    async def add_session(self, source: SourceId) -> None:
        """A session came: no round without its report."""
        async with self._lock.holding("sync.add"):
            self.entries[source] = None

    async def del_session(self, source: SourceId) -> None:
        """A session went. Perhaps it was the only one that was awaited."""
        async with self._lock.holding("sync.del"):
            self.entries.pop(source, None)
            await self._close_if_complete()

    async def update(self, report: TimeTickReport) -> None:
        """Take a report. Raise UnknownSessionError if its session is not known."""
        async with self._lock.holding("sync.update"):
            source = self._key(report)
            if source not in self.entries:
                known = ", ".join(map(str, sorted(self.entries))) or "none"
                raise UnknownSessionError(
                    f"source {report.source} reports and has no session; known: {known}; register it first"
                )
            self.entries[source] = report
            await self._close_if_complete()

    def _key(self, report: TimeTickReport) -> SourceId:
        """The session that a report belongs to (B45)."""
        return self._ddl_key() if report.source == DDL_SOURCE else report.source

    def _ddl_key(self) -> SourceId:
        return DDL_SOURCE

    async def _close_if_complete(self) -> None:
        """With the lock held. Whoever comes next finds every entry empty again."""
        if not self.entries or None in self.entries.values():
            return
        await self._preemption.point("sync.close_round")
        complete = {source: report for source, report in self.entries.items() if report is not None}
        await self._hand_over(complete)
        self.entries = dict.fromkeys(self.entries)

    async def _hand_over(self, complete: Round) -> None:
        """Never waits: a sender that is late must not hold up the reports (B9)."""
        try:
            self.rounds.put_nowait(complete)
        except asyncio.QueueFull:
            self.dropped += 1
