"""Slips in the way to a query node in another process."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch, patches

QUERY = "querynode/remote.py:RemoteReplica.query"

MUTANTS = patches(
    __name__,
    Patch(
        "a-node-that-stands-still-holds-up-its-readers",
        at=QUERY,
        old="asyncio.timeout(deadline)",
        new="asyncio.timeout(None)",
        source="facts 6.1",
        says="Only the node keeps the deadline of a read: a process that is stopped is waited for.",
    ),
    Patch(
        "a-node-is-told-another-deadline",
        at=QUERY,
        old='"deadline": deadline',
        new='"deadline": 10 * deadline',
        source="facts 6.1",
        says="The node waits longer than its caller does.",
    ),
    Patch(
        "a-time-out-is-told-as-a-refusal",
        at=QUERY,
        old='raise RpcTimeoutError(f"query',
        new='raise NotServableError(f"query',
        source="facts 6.1",
        says="A caller whose answer may still come is told that there is none.",
    ),
    Patch(
        "each-read-makes-a-connection",
        at="querynode/remote.py:RemoteReplica._connect",
        old="if self._connection is None or self._connection.ended:",
        new="if True:",
        source="facts 6.1",
        says="All connections but the last stay open.",
    ),
)
