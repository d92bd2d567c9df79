"""Mutants of the oracle's store in etcd, each one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.tso.real_etcd:over_etcd``.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_client import encode
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.tso.ports import Leadership
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.tso.real_etcd import EtcdOracleProgram, over_etcd


class _DoesNotWait(EtcdOracleStore):
    async def save(self, end: int, leadership: Leadership) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.saving = asyncio.create_task(super().save(end, leadership), name=task.get_name())


@mutant(killer="tso.windows_are_saved", source="facts 2.2: on save error return", instance="tso-over-etcd")
def saves_are_not_waited_for(**scenario: Any) -> EtcdOracleProgram:
    """The window counts as saved when the request is sent."""
    return over_etcd(adapter=_DoesNotWait, **scenario)


class _PutsWithoutCondition(EtcdOracleStore):
    async def save(self, end: int, leadership: Leadership) -> None:
        put = {"key": self._window, "value": encode(end.to_bytes(8, "big"))}
        request = {"compare": [], "success": [{"request_put": put}], "failure": []}
        await self._client.call("/v3/kv/txn", request)


@mutant(killer="refinement", source="H43", instance="tso-over-etcd-early")
def saves_have_no_condition(**scenario: Any) -> EtcdOracleProgram:
    """A deposed leader saves, and etcd takes it (H43)."""
    return over_etcd(adapter=_PutsWithoutCondition, **scenario)


class _ComparesWithAnotherLease(EtcdOracleStore):
    async def save(self, end: int, leadership: Leadership) -> None:
        await super().save(end, replace(leadership, term=leadership.term + 1))


@mutant(killer="work_is_done", source="facts 2.4", instance="tso-over-etcd")
def no_save_is_taken(**scenario: Any) -> EtcdOracleProgram:
    """A save is compared with a lease that is not the leader's: no server ever serves."""
    return over_etcd(adapter=_ComparesWithAnotherLease, **scenario)


class _ReportsAnUpdate(EtcdOracleStore):
    _saved = False

    async def save(self, end: int, leadership: Leadership) -> None:
        await super().save(end, leadership)
        if self._saved:
            raise StoreError("the window was there before")
        self._saved = True


@mutant(killer="refinement", source="facts 2.2: on save error return", instance="tso-over-etcd-early")
def the_save_of_an_update_is_reported_as_failed(**scenario: Any) -> EtcdOracleProgram:
    """A window that was replaced is reported as not saved; the oracle goes on with what it has."""
    return over_etcd(adapter=_ReportsAnUpdate, **scenario)
