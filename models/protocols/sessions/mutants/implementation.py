"""Mutants of the store of sessions and of who follows it, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.sessions.program:sessions``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidemark.impl.broker.sessions import CHANGE, FENCE, SqliteSessions
from tidemark.impl.rootcoord.report import SourceId
from tidemark.impl.rootcoord.session_watch import SessionWatch
from tidemark.impl.rootcoord.time_tick_sync import Fence, TakeOver, TimeTickSync
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.sessions.program import SessionsParts, SessionsProgram, sessions

BEHIND = "sessions-impl-falls-behind"
BACK = "sessions-impl-comes-back"
VIEW = "sessions.the_view_is_the_store_of_its_revision"


class _GoesOn(SessionWatch):
    async def _list_again(self) -> None:
        self.revision += 1


@mutant(killer="refinement", source="seed 004: service discovery", instance=BEHIND)
def a_refused_watch_goes_on(**scenario: Any) -> SessionsProgram:
    """A watch that is refused goes on behind what is forgotten."""
    return sessions(parts=SessionsParts(watch=_GoesOn), **scenario)


class _KeepsTheOld(TimeTickSync):
    async def list_again(self, take_over: TakeOver) -> int:
        async with self.lock.holding("sync.list"):
            sources, revision = await take_over()
            self.entries.update({source: None for source in sources if source not in self.entries})
        return revision


@mutant(killer="refinement", source="hazard 11", instance=BEHIND)
def a_list_adds_only(**scenario: Any) -> SessionsProgram:
    """A second list adds what is new, and what is gone is waited for for ever."""
    return sessions(parts=SessionsParts(sync=_KeepsTheOld), **scenario)


class _ListsOnly(SqliteSessions):
    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        async with self._transactions.begin() as database:
            live = await database.execute("SELECT source FROM sessions WHERE state = 'alive' ORDER BY source")
            revision = await self._last(database)
        return [int(source) for (source,) in live], revision


@mutant(killer="refinement", source="B46; hazard 30", instance=BEHIND)
def a_list_fences_nothing(**scenario: Any) -> SessionsProgram:
    """Who takes over fences nothing: what ended before is not refused."""
    return sessions(parts=SessionsParts(sessions=_ListsOnly), **scenario)


class _ForgetsFirst(TimeTickSync):
    async def del_session(self, source: SourceId, fence: Fence) -> None:
        async with self.lock.holding("sync.del"):
            self.entries.pop(source, None)
            await self._fence(source, fence)


@mutant(killer="sessions.who_serves_is_known_or_refused", source="hazard 11", instance=BACK)
def a_session_is_forgotten_before_it_is_fenced(**scenario: Any) -> SessionsProgram:
    """No round waits for a session that the logs do not refuse yet."""
    return sessions(parts=SessionsParts(sync=_ForgetsFirst), **scenario)


class _NotesFirst(SqliteSessions):
    async def fence(self, source: SourceId) -> None:
        async with self._transactions.begin() as database:
            await database.execute(FENCE, (source,))
        await self._fences.fence(source)


@mutant(killer="refinement", source="hazard 11", instance=BEHIND)
def a_fence_is_noted_before_it_is_there(**scenario: Any) -> SessionsProgram:
    """A coordinator that crashes in between leaves a session that is never fenced."""
    return sessions(parts=SessionsParts(sessions=_NotesFirst), **scenario)


class _RevisionOfNow(SqliteSessions):
    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        live, _ = await super().take_over()
        async with self._transactions.begin() as database:
            return live, await self._last(database)


@mutant(killer=VIEW, source="hazard 10", instance=BACK)
def the_watch_begins_with_what_is_new(**scenario: Any) -> SessionsProgram:
    """The watch begins with the revision after the list: changes between the two are missed."""
    return sessions(parts=SessionsParts(sessions=_RevisionOfNow), **scenario)


class _SameNumber(SqliteSessions):
    async def register(self, name: str, *, lease: float) -> SourceId:
        async with self._transactions.begin() as database:
            known = await database.execute("SELECT source FROM sessions WHERE name = ?", (name,))
            for (source,) in known:
                await database.execute("UPDATE sessions SET state = 'alive' WHERE source = ?", (source,))
                await database.execute(CHANGE, (source, 1))
        return int(known[0][0]) if known else await super().register(name, lease=lease)


@mutant(killer="sessions.the_view_is_the_store_of_its_revision", source="facts 3.4; B45", instance=BACK)
def a_node_that_comes_back_has_its_old_number(**scenario: Any) -> SessionsProgram:
    """A node comes back under the number that the logs refuse."""
    return sessions(parts=SessionsParts(sessions=_SameNumber), **scenario)
