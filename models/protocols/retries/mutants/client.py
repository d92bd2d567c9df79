"""Mutants of the client and of its connection, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.retries.client_life:life``, ``connection_life:life`` or ``client_beside:beside``.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from tidemark.impl.client.client import Client, Result
from tidemark.impl.client.connection import Connection, Json, RequestRefusedError, TcpConnection
from tidemark.impl.client.history import History
from tidemark.impl.client.schemas import Answer, SchemaCache
from tidemark.impl.client.session import Session
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.retries import client_beside, client_life, connection_life

ALONE = "retries-impl-client"
CONNECTION = "retries-impl-connection"
CARRIED = "a_session_knows_its_greatest_timestamp"


class _Latest(Session):
    def _note(self, ts: Timestamp) -> None:
        self.timestamp = ts


class _ForgetsWhatItKnew(Client):
    def __init__(self, connection: Connection, *, history: History | None = None) -> None:
        super().__init__(connection, history=history)
        self.session = _Latest()


@mutant(killer=CARRIED, source="facts 6.1", instance=ALONE)
def a_session_has_its_latest_timestamp(**scenario: Any) -> client_life.ClientProgram:
    """An answer at an older moment sets the session back."""
    return client_life.life(client_class=_ForgetsWhatItKnew, **scenario)


class _KeepsTheGuarantee(Client):
    async def _read(self, *asked: Any, **more: Any) -> Result:
        before = self.session.timestamp
        found = await super()._read(*asked, **more)
        self.session.timestamp = max(before, found.guarantee)
        return found


@mutant(killer=CARRIED, source="facts 6.1", instance=ALONE)
def a_session_carries_the_guarantee(**scenario: Any) -> client_life.ClientProgram:
    """A session knows what its read had to see at least, and not what it has seen."""
    return client_life.life(client_class=_KeepsTheGuarantee, **scenario)


class _TriesAgain(SchemaCache):
    async def retried(self, collection: str, request: Callable[[int], Awaitable[Answer]]) -> Answer:
        try:
            return await super().retried(collection, request)
        except RequestRefusedError as refusal:
            if refusal.kind != "RpcTimeoutError":
                raise
            return await super().retried(collection, request)


class _WritesTwice(Client):
    schema_cache = _TriesAgain


@mutant(killer="a_client_sends_what_its_user_asks_for", source="seed 002: retryIfSchemaError", instance=ALONE)
def an_insert_that_timed_out_is_sent_again(**scenario: Any) -> client_life.ClientProgram:
    """Rows that may be in the log are sent once more."""
    return client_life.life(client_class=_WritesTwice, **scenario)


class _ForgetsAll(SchemaCache):
    def evict(self, collection: str) -> None:
        del collection
        self.versions.clear()


class _AsksForAll(Client):
    schema_cache = _ForgetsAll


@mutant(killer="a_version_is_kept_until_it_is_refused", source="seed 002: retryIfSchemaError", instance=ALONE)
def a_refusal_evicts_every_collection(**scenario: Any) -> client_life.ClientProgram:
    """A schema that has changed makes the client ask for all others again."""
    return client_life.life(client_class=_AsksForAll, **scenario)


class _SaysItFailed(Client):
    async def _call(self, operation: str, collection: str, facts: Json, **arguments: Any) -> Json:
        try:
            return await super()._call(operation, collection, facts, **arguments)
        except RequestRefusedError as refused:
            raise RequestRefusedError("RpcError", str(refused)) from refused


@mutant(killer="a_caller_hears_what_was_answered", source="facts 6.1", instance=ALONE)
def every_refusal_says_that_nothing_has_happened(**scenario: Any) -> client_life.ClientProgram:
    """A write that may have happened is told as one that has not."""
    return client_life.life(client_class=_SaysItFailed, **scenario)


class _OneNumber(TcpConnection):
    async def call(self, method: str, **arguments: Any) -> Json:
        self._numbers = itertools.count(1, 0)
        return await super().call(method, **arguments)


@mutant(killer="each_call_is_a_line_with_its_own_number", source="facts 6.1", instance=CONNECTION)
def two_calls_have_one_number(**scenario: Any) -> connection_life.ConnectionProgram:
    """The answer of one call is given to another one."""
    return connection_life.life(connection_class=_OneNumber, **scenario)


class _HearsNothing(TcpConnection):
    async def close(self) -> None:
        self._open = {}
        await super().close()


@mutant(killer="a_connection_that_is_over_answers_all_calls", source="facts 6.1", instance=CONNECTION)
def who_waits_for_a_closed_connection_hears_nothing(**scenario: Any) -> connection_life.ConnectionProgram:
    """A call that is under way when the connection is closed waits for ever."""
    return connection_life.life(connection_class=_HearsNothing, **scenario)


class _KeepsTheFirst(SchemaCache):
    async def version_of(self, collection: str) -> int:
        if collection not in self.versions:
            return self.versions.setdefault(collection, await self._describe(collection))
        return self.versions[collection]


class _SendsForWhatOthersHeard(Client):
    schema_cache = _KeepsTheFirst


@mutant(
    killer="an_insert_is_for_the_version_that_it_was_told",
    source="seed 002: retryIfSchemaError",
    instance="retries-impl-beside",
)
def a_version_that_came_meanwhile_is_used(**scenario: Any) -> client_beside.BesideProgram:
    """Who asks again sends its rows for the version that another insert was told by a proxy that lags."""
    return client_beside.beside(client_class=_SendsForWhatOthersHeard, **scenario)
