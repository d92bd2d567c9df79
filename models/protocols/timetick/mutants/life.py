"""Mutants of the root coordinator that its life shows: slips of the kind that people make.

The functions return the program of ``tidemark.models.protocols.timetick.life:life`` with the fault in it.
"""

from __future__ import annotations

from tidemark.impl.errors import WatchCompactedError
from tidemark.impl.rootcoord.report import TimeTickReport
from tidemark.impl.rootcoord.root_coord import RootCoord, RootCoordParts
from tidemark.impl.rootcoord.round_queue import Round
from tidemark.impl.rootcoord.session_watch import SessionWatch
from tidemark.impl.rootcoord.tick_sender import TickSender
from tidemark.impl.rootcoord.time_tick_sync import TimeTickSync
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.timetick.life import CoordinatorLife, life
from tidemark.models.protocols.timetick.reckoning import SESSIONS_ARE_FOLLOWED, TICKS_FOLLOW_ROUNDS

_LIFE = "timetick-impl-life"


class _KeepsTheFirst(TimeTickSync):
    async def update(self, report: TimeTickReport) -> None:
        await super().update(self.entries.get(self._key(report)) or report)


@mutant(killer=TICKS_FOLLOW_ROUNDS, source="facts 4", instance=_LIFE)
def the_first_report_of_a_round_counts() -> CoordinatorLife:
    """A proxy that reports again before the round is complete is not heard: its channels are ticked late."""
    return life(parts=RootCoordParts(sync=_KeepsTheFirst))


class _Counts(SessionWatch):
    async def run(self) -> None:
        while True:
            try:
                event = await self._sessions.next_event(self.revision)
            except WatchCompactedError:
                await self._list_again()
                continue
            self.revision += 1
            if event.alive:
                await self._sync.add_session(event.source)
            else:
                await self._sync.del_session(event.source, self._sessions.fence)


@mutant(killer=SESSIONS_ARE_FOLLOWED, source="B46", instance=_LIFE)
def revisions_are_counted() -> CoordinatorLife:
    """The watch takes revisions to rise by one: where they do not, it is told of a change again."""
    return life(parts=RootCoordParts(watch=_Counts))


class _AsksWhoNamesIt(TickSender):
    def _tick_of(self, channel: ChannelName, complete: Round) -> Timestamp:
        naming = {source: report for source, report in complete.items() if channel in dict(report.channels)}
        return super()._tick_of(channel, naming or complete)


@mutant(killer=TICKS_FOLLOW_ROUNDS, source="facts 4", instance=_LIFE)
def the_least_is_of_those_who_name_a_channel() -> CoordinatorLife:
    """A proxy that has no task for a channel is left out of its minimum: its next task is below the tick."""
    return life(parts=RootCoordParts(sender=_AsksWhoNamesIt))


class _ReportsWhatHasGrown(RootCoord):
    async def report_ddl(self) -> None:
        if self.reporting is None or await self.ddl.minimum() > self.reporting.default:
            await super().report_ddl()


@mutant(killer=TICKS_FOLLOW_ROUNDS, source="facts 4", instance=_LIFE)
def an_old_minimum_is_not_reported_again() -> CoordinatorLife:
    """The DDL source reports only what has grown: until then no round is complete, and no proxy is ticked."""
    return life(coordinator=_ReportsWhatHasGrown)
