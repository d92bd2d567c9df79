"""An etcd in the controlled world: the part of its JSON gateway that the implementation uses.

Each call is one operation of a remote store: it may fail, be done and reported as failed, or be done after
its caller has died. ``tests/models/protocols/test_etcd.py`` compares the answers with those of a real server.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_client import Change, Json, KeyRange, decode, first_change_of
from tidemark.models.protocols.common.calls import known_as
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.storage import Store

KEYS, LEASES, REVISION, HISTORY, COMPACTED = "keys", "leases", "revision", "history", "compacted"
ALL = (KEYS, LEASES, REVISION)
Content = dict[str, Any]


class Pair(NamedTuple):
    """What is under a key: version 1 when it was created."""

    value: str
    version: int
    lease: int


class Written(NamedTuple):
    """One entry of the history: a key was written, or deleted, in a revision."""

    revision: int
    key: str
    there: bool


def begin(content: Content, *, watches: bool = False) -> None:
    """Fill a store with what an etcd holds at first. Keys and leases are tuples: values do not change.

    watches: the history of the keys is kept, too, for ``watched``.
    """
    content.update({KEYS: (), LEASES: (), REVISION: 1})
    if watches:
        content.update({HISTORY: (), COMPACTED: 0})


def answer(content: Content, path: str, request: Json) -> Json:
    """Do what a call asks for, and return its answer. Raise StoreError as the client does."""
    found = _CALLS.get(path)
    if found is None:
        raise StoreError(f"etcd at nowhere, {path}: status 404, Not Found")
    return found(content, request)


def end_lease(content: Content, number: int) -> None:
    """A lease is over: its keys go."""
    content[LEASES] = tuple(lease for lease in content[LEASES] if lease != number)
    gone = [key for key, pair in content[KEYS] if pair.lease == number]
    if gone:
        content[REVISION] += 1
    _note(content, gone, there=False)
    content[KEYS] = tuple(item for item in content[KEYS] if item[0] not in gone)


def compact(content: Content, revision: int) -> None:
    """Changes before a revision are forgotten, and with them the deletions in it."""
    content[COMPACTED] = revision
    content[HISTORY] = tuple(
        one for one in content[HISTORY] if one.revision > revision or (one.revision == revision and one.there)
    )


def watched(content: Content, keys: KeyRange, start: int) -> Json | None:
    """What a watch is told first that begins with a revision; None as long as there is nothing."""
    if start < content[COMPACTED]:
        return {"canceled": True, "compact_revision": str(content[COMPACTED])}
    events = [
        {
            "kv": {"key": one.key, "mod_revision": str(one.revision)},
            **({} if one.there else {"type": "DELETE"}),
        }
        for one in content[HISTORY]
        if one.revision >= start and decode(one.key).decode().startswith(keys.prefix)
    ]
    return {"events": events} if events else None


def _note(content: Content, keys: Sequence[str], *, there: bool) -> None:
    if HISTORY in content:
        revision = content[REVISION]
        content[HISTORY] = (*content[HISTORY], *(Written(revision, key, there) for key in keys))


def _range(content: Content, request: Json) -> Json:
    first, beyond = decode(request["key"]), decode(request.get("range_end", ""))
    pairs = [
        {"key": key, "version": str(pair.version), "value": pair.value}
        | ({"lease": str(pair.lease)} if pair.lease else {})
        for key, pair in sorted(content[KEYS], key=lambda item: decode(item[0]))
        if (first <= decode(key) < beyond if beyond else decode(key) == first)
    ]
    header = {"header": {"revision": str(content[REVISION])}}
    return header | ({"kvs": pairs, "count": str(len(pairs))} if pairs else {})


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
    _note(content, [request["key"]], there=True)
    return {}


def _transaction(content: Content, request: Json) -> Json:
    """All its operations are one revision."""
    before = content[REVISION]
    succeeded = all(_compare(content, condition) for condition in request.get("compare", ()))
    responses = []
    for operation in request["success" if succeeded else "failure"]:
        for name, inner in operation.items():
            given = _OPERATIONS[name](content, inner)
            responses.append({name.replace("request", "response"): given})
    content[REVISION] = min(content[REVISION], before + 1)
    if HISTORY in content:
        content[HISTORY] = tuple(
            one._replace(revision=min(one.revision, content[REVISION])) for one in content[HISTORY]
        )
    found: Json = {"header": {"revision": str(content[REVISION])}}
    found |= {"responses": responses} if responses else {}
    return found | ({"succeeded": True} if succeeded else {})


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
                found = self.answer(name, content, path, request)
            except StoreError as failure:
                return failure
            self._done(name, request, found)
            return found

        task = asyncio.current_task()
        name = task.get_name() if task is not None else ""
        verb = path.rpartition("/")[2]
        with known_as(StoreError):
            outlives = self.outlives(request)
            found = await self._store.transact(f"etcd {verb}", change, keys=ALL, remote=outlives)
        if isinstance(found, StoreError):
            raise found
        return found

    def outlives(self, request: Json) -> bool:
        """Whether a call may be carried out after its caller has died."""
        del request
        return True

    def answer(self, task: str, content: Content, path: str, request: Json) -> Json:
        """Carry out a call of a task. Raise StoreError."""
        del task
        return answer(content, path, request)

    async def wait_for_event(self, key: str, *, revision: int, seconds: float) -> None:
        """See EtcdCalls. It may return early."""
        del key, revision, seconds
        await self._process.point("etcd watch")

    async def first_change(self, keys: KeyRange, *, after: int, seconds: float) -> Change | None:
        """See EtcdCalls. Not of a store whose history is not kept."""
        raise NotImplementedError(f"{keys}: nobody follows keys after {after} for {seconds} s here")

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

    async def first_change(self, keys: KeyRange, *, after: int, seconds: float) -> Change | None:
        """See EtcdCalls."""
        del seconds
        told = watched(self._content, keys, after)
        return None if told is None else first_change_of(told, after=after)

    async def close(self) -> None:
        """See EtcdCalls."""
