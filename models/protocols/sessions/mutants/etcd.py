"""Mutants of the store of sessions in etcd, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.sessions.real_etcd:over_etcd``, or of ``calls``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tidemark.impl.broker.etcd_sessions import EtcdSessions
from tidemark.impl.errors import SessionEndedError
from tidemark.impl.rootcoord.report import SourceId
from tidemark.impl.storage.etcd_client import Json, KeyRange
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.sessions.calls import EtcdCallsProgram, calls
from tidemark.models.protocols.sessions.program import SessionsProgram
from tidemark.models.protocols.sessions.real_etcd import EtcdShared, over_etcd

BEHIND = "sessions-etcd-falls-behind"
BACK = "sessions-etcd-comes-back"
TWO = "sessions-etcd-two-nodes"
CALLS = "sessions-etcd-calls"


class _FromTheNext(EtcdShared):
    def request_of(self, keys: KeyRange, after: int) -> Json:
        return super().request_of(keys, after) | {"start_revision": str(after + 1)}


@mutant(killer="refinement", source="hazard 10; seed 004: service discovery", instance=BEHIND)
def a_watch_begins_behind_what_is_known(**scenario: Any) -> SessionsProgram:
    """A watch begins with the next revision; etcd is compacted to it, and tells nothing of its deletion."""
    return over_etcd(store=_FromTheNext, **scenario)


class _ListsTwice(EtcdSessions):
    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        live, _ = await super().take_over()
        _, _, revision = await self._list()
        return live, revision


@mutant(killer="sessions.the_view_is_the_store_of_its_revision", source="hazard 10", instance=BACK)
def the_revision_is_read_after_the_list(**scenario: Any) -> SessionsProgram:
    """The watch begins with the revision of a second list: changes between the two are missed."""
    return over_etcd(adapter=_ListsTwice, **scenario)


class _NotesFirst(EtcdSessions):
    async def fence(self, source: SourceId) -> None:
        fences, self._fences = self._fences, _NoFences()
        await super().fence(source)
        self._fences = fences
        await fences.fence(source)


class _NoFences:
    async def fence(self, source: SourceId) -> None:
        """See Fences."""


@mutant(killer="refinement", source="hazard 11", instance=BEHIND)
def a_fence_in_etcd_is_noted_before_it_is_there(**scenario: Any) -> SessionsProgram:
    """A coordinator that crashes in between leaves a session that is never fenced."""
    return over_etcd(adapter=_NotesFirst, **scenario)


class _TakesTheNumber(EtcdSessions):
    async def _transaction(self, *, compare: list[Json], success: list[Json]) -> Json:
        del compare
        return await super()._transaction(compare=[], success=success)


@mutant(killer="refinement", source="facts 3.4", instance=TWO)
def a_number_is_taken_without_a_look(**scenario: Any) -> SessionsProgram:
    """Two nodes that come at once get one number."""
    return over_etcd(adapter=_TakesTheNumber, **scenario)


class _AsLongAsAsked(EtcdSessions):
    async def register(self, name: str, *, lease: float) -> SourceId:
        return await super().register(name, lease=math.floor(lease) or 1)


@mutant(killer="etcd_holds_the_sessions_and_no_more", source="facts 3.4", instance=CALLS)
def a_lease_is_shorter_than_asked(**scenario: Any) -> EtcdCallsProgram:
    """A lease of a second and a half is granted for one second."""
    return calls(adapter=_AsLongAsAsked, **scenario)


class _KeepsTheLease(EtcdSessions):
    async def end(self, source: SourceId) -> None:
        self._leases.pop(source, None)


@mutant(killer="etcd_holds_the_sessions_and_no_more", source="facts 3.4", instance=CALLS)
def who_leaves_keeps_its_lease(**scenario: Any) -> EtcdCallsProgram:
    """A node that leaves in good order is waited for until its lease has run out."""
    return calls(adapter=_KeepsTheLease, **scenario)


class _RenewsWhatIsGone(EtcdSessions):
    async def renew(self, source: SourceId) -> None:
        with suppress(SessionEndedError):
            await super().renew(source)


@mutant(killer="a_session_lives_as_long_as_its_lease", source="facts 3.4", instance=CALLS)
def a_holder_does_not_hear_of_the_end(**scenario: Any) -> EtcdCallsProgram:
    """A renewal of a session that is over succeeds, and its holder goes on."""
    return calls(adapter=_RenewsWhatIsGone, **scenario)
