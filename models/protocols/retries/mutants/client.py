"""Mutants of the client and of its connection."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.retries import client_beside, client_life, connection_life

ALONE = Host("retries-impl-client", client_life.life)
CONNECTION = Host("retries-impl-connection", connection_life.life)
BESIDE = Host("retries-impl-beside", client_beside.beside)

RETRY = "seed 002: retryIfSchemaError"
CARRIED = "a_session_knows_its_greatest_timestamp"

MUTANTS = patches(
    __name__,
    Patch(
        "a-session-has-its-latest-timestamp",
        at="client/session.py:Session._note",
        old="max(self.timestamp, ts)",
        new="ts",
        killer=CARRIED,
        on=ALONE,
        source="facts 6.1",
        says="An answer at an older moment sets the session back.",
    ),
    Patch(
        "a-session-carries-the-guarantee",
        at="client/client.py:Client._found",
        old="found.moment",
        new="found.guarantee",
        killer=CARRIED,
        on=ALONE,
        source="facts 6.1",
        says="A session knows what its read had to see at least, and not what it has seen.",
    ),
    Patch(
        "an-insert-that-timed-out-is-sent-again",
        at="client/schemas.py:SchemaCache.retried",
        old="if refusal.kind != MISMATCH or",
        new='if refusal.kind not in (MISMATCH, "RpcTimeoutError") or',
        killer="a_client_sends_what_its_user_asks_for",
        on=ALONE,
        source=RETRY,
        says="Rows that may be in the log are sent once more.",
    ),
    Patch(
        "a-refusal-evicts-every-collection",
        at="client/schemas.py:SchemaCache.evict",
        old="self.versions.pop(collection, None)",
        new="self.versions.clear()",
        killer="a_version_is_kept_until_it_is_refused",
        on=ALONE,
        source=RETRY,
        says="A schema that has changed makes the client ask for all others again.",
    ),
    Patch(
        "every-refusal-says-that-nothing-has-happened",
        at="client/client.py:Client._call",
        old="error = str(refused)\n            raise",
        new='error = str(refused)\n            raise RequestRefusedError("RpcError", error) from refused',
        killer="a_caller_hears_what_was_answered",
        on=ALONE,
        source="facts 6.1",
        says="A write that may have happened is reported as one that has not.",
    ),
    Patch(
        "two-calls-have-one-number",
        at="system/connection.py:TcpConnection.call",
        old="next(self._numbers)",
        new="1",
        killer="each_call_is_a_line_with_its_own_number",
        on=CONNECTION,
        source="facts 6.1",
        says="The answer of one call is given to another one.",
    ),
    Patch(
        "who-waits-for-a-closed-connection-hears-nothing",
        at="system/connection.py:TcpConnection.close",
        old="self._receiving.cancel()",
        new="self._open = {}\n        self._receiving.cancel()",
        killer="a_connection_that_is_over_answers_all_calls",
        on=CONNECTION,
        source="facts 6.1",
        says="A call that is under way when the connection is closed waits for ever.",
    ),
    Patch(
        "a-version-that-came-meanwhile-is-used",
        at="client/schemas.py:SchemaCache.version_of",
        old="self.versions[collection] = await self._describe(collection)",
        new="self.versions.setdefault(collection, await self._describe(collection))",
        killer="an_insert_is_for_the_version_that_it_was_told",
        on=BESIDE,
        source=RETRY,
        says="An insert asks for the version, and uses the one that another insert was told.",
    ),
)
