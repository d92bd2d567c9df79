"""The oracle's window and leader key in etcd: a key under a lease, and saves that compare before they put.

The leader key is created by a transaction that finds its version to be 0, as Milvus does. Each save is a
transaction too, on the condition that the key is still that of this term: Milvus has no such condition (facts
2.4, hazard 43). The end of the window is stored as 8 bytes, big-endian, so that etcd's comparison of bytes is
that of numbers.
"""

import math

from tidemark.impl.errors import CorruptDataError, NotLeaderError, StoreError
from tidemark.impl.storage.etcd_client import EtcdCalls, EtcdClient, Json, decode, encode
from tidemark.impl.tso.ports import NEVER_SAVED, Leadership

_BYTES = 8
_WATCH_SECONDS = 1.0
"""A watch without events is renewed: a silent connection may be dead."""


class EtcdOracleStore:
    """The store of one process.

    Milvus: txnKV

    Args:
        endpoint: ``http://host:port``.
        prefix: before the names of the two keys; oracles with different prefixes are independent.
        timeout: seconds for one call.
        client: calls the endpoint.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        prefix: str = "tidemark/oracle",
        timeout: float = 5.0,
        client: EtcdCalls | None = None,
    ) -> None:
        self._client = client if client is not None else EtcdClient(endpoint, timeout=timeout)
        self._window = encode(f"{prefix}/window")
        self._leader_name = f"{prefix}/leader"
        self._leader = encode(self._leader_name)

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        """See LeaderElection. etcd counts leases in whole seconds, and has a least one."""
        granted = await self._client.call("/v3/lease/grant", {"TTL": str(math.ceil(lease)), "ID": "0"})
        number = int(granted["ID"])
        put = {"key": self._leader, "value": encode(server), "lease": str(number)}
        answer = await self._transaction(
            compare={"key": self._leader, "target": "VERSION", "result": "EQUAL", "version": "0"},
            success=[{"request_put": put}],
        )
        if answer.get("succeeded"):
            return Leadership(server=server, term=number, lease=float(granted["TTL"]))
        await self._revoke(number)
        return None

    async def renew(self, leadership: Leadership) -> None:
        """See LeaderElection."""
        answer = await self._client.call("/v3/lease/keepalive", {"ID": str(leadership.term)})
        if int(answer.get("result", {}).get("TTL", "0")) <= 0:
            raise NotLeaderError(f"the lease of {leadership.server}, term {leadership.term}, has run out")

    async def resign(self, leadership: Leadership) -> None:
        """See LeaderElection. The key goes with its lease."""
        await self._revoke(leadership.term)

    async def wait_vacant(self) -> None:
        """See LeaderElection: a watch from the revision at which the key was seen."""
        while True:
            answer = await self._client.call("/v3/kv/range", {"key": self._leader})
            if not answer.get("kvs"):
                return
            after = int(answer["header"]["revision"]) + 1
            await self._client.wait_for_event(self._leader_name, revision=after, seconds=_WATCH_SECONDS)

    async def load(self) -> int:
        """See WindowStore."""
        answer = await self._client.call("/v3/kv/range", {"key": self._window})
        pairs = answer.get("kvs", [])
        if not pairs:
            return NEVER_SAVED
        value = decode(pairs[0]["value"])
        if len(value) != _BYTES:
            raise CorruptDataError(f"the window in etcd is {value!r}; it must be {_BYTES} bytes: restore it")
        return int.from_bytes(value, "big")

    async def save(self, end: int, leadership: Leadership) -> None:
        """See WindowStore. An absent window compares as not greater."""
        value = encode(end.to_bytes(_BYTES, "big"))
        greater = {"key": self._window, "target": "VALUE", "result": "GREATER", "value": value}
        put: Json = {"request_put": {"key": self._window, "value": value}}
        answer = await self._transaction(
            compare={
                "key": self._leader,
                "target": "LEASE",
                "result": "EQUAL",
                "lease": str(leadership.term),
            },
            success=[{"request_txn": {"compare": [greater], "success": [], "failure": [put]}}],
        )
        if not answer.get("succeeded"):
            raise NotLeaderError(f"{leadership.server} holds no leader key in term {leadership.term}")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _transaction(self, *, compare: Json, success: list[Json]) -> Json:
        request = {"compare": [compare], "success": success, "failure": []}
        return await self._client.call("/v3/kv/txn", request)

    async def _revoke(self, lease: int) -> None:
        try:
            await self._client.call("/v3/lease/revoke", {"ID": str(lease)})
        except StoreError as failure:
            if "lease not found" not in str(failure):
                raise
