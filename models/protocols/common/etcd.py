"""An etcd in the controlled world: the part of its JSON gateway that the implementation uses.

Each call is one operation of a remote store: it may fail, be done and reported as failed, or be done after
its caller has died. ``tests/models/protocols/test_etcd.py`` compares the answers with those of a real server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_client import Json, decode
from tidemark.models.simulation.errors import StorageFailedError, StorageUnknownError
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.storage import Store

KEYS, LEASES, REVISION = "keys", "leases", "revision"
ALL = (KEYS, LEASES, REVISION)
Content = dict[str, Any]


class Pair(NamedTuple):
    """What is under a key: version 1 when it was created."""

    value: str
    version: int
    lease: int


def begin(content: Content) -> None:
    """Fill a store with what an etcd holds at first. Keys and leases are tuples: values do not change."""
    content.update({KEYS: (), LEASES: (), REVISION: 1})


def answer(content: Content, path: str, request: Json) -> Json:
    """Do what a call asks for, and return its answer. Raise StoreError as the client does."""
    found = _CALLS.get(path)
    if found is None:
        raise StoreError(f"etcd at nowhere, {path}: status 404, Not Found")
    return found(content, request)


def end_lease(content: Content, number: int) -> None:
    """A lease is over: its keys go."""
    content[LEASES] = tuple(lease for lease in content[LEASES] if lease != number)
    kept = {key: pair for key, pair in content[KEYS] if pair.lease != number}
    if len(kept) < len(content[KEYS]):
        content[REVISION] += 1
    content[KEYS] = tuple(sorted(kept.items()))


def _range(content: Content, request: Json) -> Json:
    pair = dict(content[KEYS]).get(request["key"])
    header = {"header": {"revision": str(content[REVISION])}}
    if pair is None:
        return header
    found = {"key": request["key"], "version": str(pair.version), "value": pair.value}
    return header | {"kvs": [found | ({"lease": str(pair.lease)} if pair.lease else {})], "count": "1"}


def _grant(content: Content, request: Json) -> Json:
    number = 1 + max(content[LEASES], default=content.get("granted", 0))
    content["granted"] = number
    content[LEASES] = (*content[LEASES], number)
    return {"ID": str(number), "TTL": request["TTL"]}


def _keep_alive(content: Content, request: Json) -> Json:
    number = int(request["ID"])
    alive = number in content[LEASES]
    return {"result": {"ID": str(number), **({"TTL": "1"} if alive else {})}}


def _revoke(content: Content, request: Json) -> Json:
    number = int(request["ID"])
    if number not in content[LEASES]:
        raise StoreError("etcd at nowhere, /v3/lease/revoke: requested lease not found")
    end_lease(content, number)
    return {}


def _put(content: Content, request: Json) -> Json:
    keys = dict(content[KEYS])
    lease = int(request.get("lease", "0"))
    if lease and lease not in content[LEASES]:
        raise StoreError("etcd at nowhere, /v3/kv/put: requested lease not found")
    before = keys.get(request["key"])
    keys[request["key"]] = Pair(request["value"], 1 if before is None else before.version + 1, lease)
    content[KEYS] = tuple(sorted(keys.items()))
    content[REVISION] += 1
    return {}


def _transaction(content: Content, request: Json) -> Json:
    succeeded = all(_compare(content, condition) for condition in request.get("compare", ()))
    for operation in request["success" if succeeded else "failure"]:
        for name, inner in operation.items():
            _OPERATIONS[name](content, inner)
    return {"succeeded": True} if succeeded else {}


def _compare(content: Content, condition: Json) -> bool:
    """A key that is not there has version and lease 0; no comparison of its value succeeds."""
    pair = dict(content[KEYS]).get(condition["key"])
    target, result = condition["target"], condition["result"]
    here: Any
    given: Any
    if target == "VALUE":
        if pair is None:
            return False
        here, given = decode(pair.value), decode(condition["value"])
    elif target == "VERSION":
        here, given = 0 if pair is None else pair.version, int(condition["version"])
    elif target == "LEASE":
        here, given = 0 if pair is None else pair.lease, int(condition["lease"])
    else:
        raise StoreError(f"etcd at nowhere: target {target}")
    return bool({"EQUAL": here == given, "GREATER": here > given, "LESS": here < given}[result])


_OPERATIONS: dict[str, Callable[[Content, Json], Json]] = {
    "request_put": _put,
    "request_range": _range,
    "request_txn": _transaction,
}
_CALLS: dict[str, Callable[[Content, Json], Json]] = {
    "/v3/kv/range": _range,
    "/v3/kv/put": _put,
    "/v3/kv/txn": _transaction,
    "/v3/lease/grant": _grant,
    "/v3/lease/keepalive": _keep_alive,
    "/v3/lease/revoke": _revoke,
}


class SimulatedCalls:
    """``tidemark.impl.storage.etcd_client.EtcdCalls`` of one process.

    Args:
        process: the caller.
        store: the etcd.
        done: told of each call that was carried out: the task that made it, what it asked, what was answered.
    """

    def __init__(self, process: Process, store: Store, done: Callable[[str, Json, Json], None]) -> None:
        self._process = process
        self._store = store
        self._done = done

    async def call(self, path: str, request: Json) -> Json:
        """See EtcdCalls."""

        def change(content: Content) -> Json | StoreError:
            try:
                found = answer(content, path, request)
            except StoreError as failure:
                return failure
            self._done(name, request, found)
            return found

        task = asyncio.current_task()
        name = task.get_name() if task is not None else ""
        verb = path.rpartition("/")[2]
        try:
            found = await self._store.transact(f"etcd {verb}", change, keys=ALL, remote=True)
        except (StorageFailedError, StorageUnknownError) as failure:
            raise StoreError(str(failure)) from failure
        if isinstance(found, StoreError):
            raise found
        return found

    async def wait_for_event(self, key: str, *, revision: int, seconds: float) -> None:
        """See EtcdCalls. It may return early."""
        del key, revision, seconds
        await self._process.point("etcd watch")

    async def close(self) -> None:
        """See EtcdCalls."""


class DirectCalls:
    """The same at once, for a reader that must not wait."""

    def __init__(self, content: Content) -> None:
        self._content = content

    async def call(self, path: str, request: Json) -> Json:
        """See EtcdCalls."""
        return answer(self._content, path, request)

    async def wait_for_event(self, key: str, *, revision: int, seconds: float) -> None:
        """See EtcdCalls."""
        del key, revision, seconds

    async def close(self) -> None:
        """See EtcdCalls."""
