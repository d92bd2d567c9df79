"""The sessions of proxies in etcd: keys under leases, which etcd ends by itself.

Below the prefix, ``last`` is the number of the last session, ``alive/N`` exists while session N lives, and
``known/N`` stays after its end: empty until the logs refuse it, then marked. A number is taken and both keys
are written in one transaction, so that no two sessions have one number.

The revisions are those of etcd, which grow with every change of any key.
"""

import asyncio
import math
from collections.abc import Sequence

from tidemark.impl.broker.ports import Fences
from tidemark.impl.errors import SessionEndedError, StoreError
from tidemark.impl.rootcoord.ports import SessionEvent
from tidemark.impl.storage.etcd_client import EtcdCalls, EtcdClient, Json, KeyRange, decode, encode
from tidemark.impl.values.report import SourceId

REFUSED = b"refused"
"""The value of ``known/N`` when the logs refuse session N."""
_WATCH_SECONDS = 1.0
"""A watch without events is renewed: a silent connection may be dead."""
_DIGITS = 20
"""Of the number in a key, so that keys are in the order of numbers."""


class EtcdSessions:
    """A ``SessionStore`` of one process; close it at the end. The process that has begun a session renews it.

    Every call raises StoreError if etcd fails; the call may have taken effect.

    Args:
        endpoint: ``http://host:port``.
        fences: the logs.
        prefix: before the names of all keys; stores with different prefixes are independent.
        timeout: seconds for one call.
        client: calls the endpoint.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        fences: Fences,
        prefix: str = "tidemark/sessions",
        timeout: float = 5.0,
        client: EtcdCalls | None = None,
    ) -> None:
        self._client = client if client is not None else EtcdClient(endpoint, timeout=timeout)
        self._fences = fences
        self._last = encode(f"{prefix}/last")
        self._alive = KeyRange(f"{prefix}/alive/")
        self._known = KeyRange(f"{prefix}/known/")
        self._leases: dict[SourceId, str] = {}

    async def start(self) -> None:
        """End the sessions of earlier processes, and make the logs refuse them.

        To be called once, by a process that knows that it is alone: no earlier one can have a session.
        """
        alive, known, _ = await self._list()
        for pair in alive.values():
            await self._revoke(pair["lease"])
        for source in known:
            await self.fence(source)

    async def run(self) -> None:
        """Leases run out in etcd: do nothing. Ends by cancellation."""
        await asyncio.Event().wait()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    # For proxies.

    async def register(self, name: str, *, lease: float) -> SourceId:
        """Begin a session under a new number. etcd counts leases in whole seconds, and has a least one."""
        granted = await self._client.call("/v3/lease/grant", {"TTL": str(math.ceil(lease)), "ID": "0"})
        while True:
            source = await self._register(name, granted["ID"])
            if source is not None:
                self._leases[source] = granted["ID"]
                return source

    async def _register(self, name: str, lease: str) -> SourceId | None:
        """Take the number that follows the last one; None if another process has taken it."""
        found = (await self._client.call("/v3/kv/range", {"key": self._last})).get("kvs", [])
        last, version = (int(decode(found[0]["value"])), found[0]["version"]) if found else (0, "0")
        source = last + 1
        answer = await self._transaction(
            compare=[{"key": self._last, "target": "VERSION", "result": "EQUAL", "version": version}],
            success=[
                _put(self._last, str(source)),
                _put(_key(self._known, source), ""),
                _put(_key(self._alive, source), name, lease=lease),
            ],
        )
        return source if answer.get("succeeded") else None

    async def renew(self, source: SourceId) -> None:
        """Begin the lease anew. Raise SessionEndedError if it has run out."""
        lease = self._leases.get(source)
        answer = {} if lease is None else await self._client.call("/v3/lease/keepalive", {"ID": lease})
        if int(answer.get("result", {}).get("TTL", "0")) <= 0:
            raise SessionEndedError(f"session {source} has run out; register again")

    async def end(self, source: SourceId) -> None:
        """End the session."""
        lease = self._leases.pop(source, None)
        if lease is not None:
            await self._revoke(lease)

    # For the root coordinator.

    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        """See SessionStore. The logs follow one coordinator at a time by themselves."""
        alive, known, revision = await self._list()
        for source, pair in known.items():
            if source not in alive and decode(pair.get("value", "")) != REFUSED:
                await self.fence(source)
        return list(alive), revision

    async def next_event(self, after: int) -> SessionEvent:
        """See SessionStore."""
        while True:
            change = await self._client.first_change(self._alive, after=after, seconds=_WATCH_SECONDS)
            if change is not None:
                return SessionEvent(change.revision, _source(change.key), change.there)

    async def fence(self, source: SourceId) -> None:
        """See SessionStore. It is noted after the logs refuse: a takeover in between fences again."""
        await self._fences.fence(source)
        await self._transaction(compare=[], success=[_put(_key(self._known, source), REFUSED)])

    async def _list(self) -> tuple[dict[SourceId, Json], dict[SourceId, Json], int]:
        """The keys of the live sessions, those of all, and the revision of both, by number."""
        ranges = [{"request_range": keys.request()} for keys in (self._alive, self._known)]
        answer = await self._transaction(compare=[], success=ranges)
        alive, known = (
            {_source(decode(pair["key"]).decode()): pair for pair in one["response_range"].get("kvs", [])}
            for one in answer["responses"]
        )
        return alive, known, int(answer["header"]["revision"])

    async def _transaction(self, *, compare: list[Json], success: list[Json]) -> Json:
        return await self._client.call("/v3/kv/txn", {"compare": compare, "success": success, "failure": []})

    async def _revoke(self, lease: str) -> None:
        try:
            await self._client.call("/v3/lease/revoke", {"ID": lease})
        except StoreError as failure:
            if "lease not found" not in str(failure):
                raise


def _key(keys: KeyRange, source: SourceId) -> str:
    return encode(f"{keys.prefix}{source:0{_DIGITS}}")


def _source(key: str) -> SourceId:
    return int(key.rpartition("/")[2])


def _put(key: str, value: str | bytes, **more: str) -> Json:
    return {"request_put": {"key": key, "value": encode(value), **more}}
