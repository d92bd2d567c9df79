"""Wrong root coordinators for conformance, each with one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.rootcoord.root_coord import RootCoordParts
from tidemark.impl.rootcoord.session_watch import SessionWatch
from tidemark.models.protocols.timetick.driver import TimeTickAdapter
from tidemark.models.protocols.timetick.mutants.implementation import Greatest, KeepsEntries


class TickIsTheGreatestReport(TimeTickAdapter):
    """The tick is the maximum over the sessions."""

    parts: ClassVar[RootCoordParts] = RootCoordParts(sender=Greatest)


class EntriesStayAfterARound(TimeTickAdapter):
    """The reports of a round count for the next one too."""

    parts: ClassVar[RootCoordParts] = RootCoordParts(sync=KeepsEntries)


class _Skips(SessionWatch):
    async def run(self) -> None:
        while True:
            event = await self._sessions.next_event(self.revision)
            self.revision = event.revision + 1
            if event.alive:
                await self._sync.add_session(event.source)
            else:
                await self._sync.del_session(event.source, self._sessions.fence)


class WatchSkipsAChange(TimeTickAdapter):
    """The watch counts a change twice: the next one is never passed on."""

    parts: ClassVar[RootCoordParts] = RootCoordParts(watch=_Skips)
