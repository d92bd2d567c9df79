"""Slips in the client and in its connection."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.retries.program import retries

DRIVEN = Host("retries-driven", retries)

RETRY = "seed 002: retryIfSchemaError"

SLIPS = (
    Patch(
        "a-session-carries-the-guarantee",
        at="client/client.py:Client._found",
        old="found.moment",
        new="found.guarantee",
        source="facts 6.1",
        says="A session knows what its read had to see at least, and not what it has seen.",
    ),
    Patch(
        "an-insert-that-timed-out-is-sent-again",
        at="client/schemas.py:SchemaCache.retried",
        old="if refusal.kind != MISMATCH or",
        new='if refusal.kind not in (MISMATCH, "RpcTimeoutError") or',
        source=RETRY,
        says="Rows that may be in the log are sent once more.",
    ),
    Patch(
        "a-refusal-evicts-every-collection",
        at="client/schemas.py:SchemaCache.evict",
        old="self.versions.pop(collection, None)",
        new="self.versions.clear()",
        source=RETRY,
        says="A schema that has changed makes the client ask for all others again.",
    ),
    Patch(
        "every-refusal-says-that-nothing-has-happened",
        at="client/client.py:Client._call",
        old="error = str(refused)\n            raise",
        new='error = str(refused)\n            raise RequestRefusedError("RpcError", error) from refused',
        source="facts 6.1",
        says="A write that may have happened is reported as one that has not.",
    ),
    Patch(
        "two-calls-have-one-number",
        at="system/connection.py:TcpConnection.call",
        old="next(self._numbers)",
        new="1",
        source="facts 6.1",
        says="The answer of one call is given to another one.",
    ),
    Patch(
        "who-waits-for-a-closed-connection-hears-nothing",
        at="system/connection.py:TcpConnection.close",
        old="self._receiving.cancel()",
        new="self._open = {}\n        self._receiving.cancel()",
        source="facts 6.1",
        says="A call that is under way when the connection is closed waits for ever.",
    ),
    Patch(
        "a-version-that-came-meanwhile-is-used",
        at="client/schemas.py:SchemaCache.version_of",
        old="self.versions[collection] = await self._describe(collection)",
        new="self.versions.setdefault(collection, await self._describe(collection))",
        source=RETRY,
        says="An insert asks for the version, and uses the one that another insert was told.",
    ),
)
MUTANTS = patches(
    __name__,
    Patch(
        "goes-on-unless-it-is-the-last",
        at="client/schemas.py:SchemaCache._goes_on",
        old="version > refused",
        new="version != refused",
        walked=DRIVEN,
        source=RETRY,
        says="The rule of Milvus' client: it makes a request again unless its version was refused last.",
    ),
    Patch(
        "a-version-is-compared-once",
        at="proxy/gateway.py:Gateway._write",
        old="collection, known, proxy.meta",
        new="collection, None, None",
        walked=DRIVEN,
        source="seed 002, DDL",
        says="A proxy does not look again when the write has its timestamp.",
    ),
)
