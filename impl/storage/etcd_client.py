"""The part of etcd's interface that oracle and sessions need, over its JSON gateway (``/v3``).

Numbers of 64 bits travel as text, bytes in base 64. Every failure is a StoreError; after one, a change may
have been made or not.
"""

import asyncio
import base64
import http.client
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

from tidemark.impl.errors import StoreError, WatchCompactedError

Json = dict[str, Any]
Result = TypeVar("Result")
Connect = Callable[..., http.client.HTTPConnection]
_WORKERS = 4
"""Calls at the same time: a save, a renewal, a watch, and one to spare."""


class KeyRange(NamedTuple):
    """All keys with a prefix."""

    prefix: str

    def request(self) -> Json:
        """As requests name it: the first key, and the first one that is beyond."""
        beyond = self.prefix[:-1] + chr(ord(self.prefix[-1]) + 1)
        return {"key": encode(self.prefix), "range_end": encode(beyond)}


class Change(NamedTuple):
    """A key was written, or deleted."""

    revision: int
    key: str
    there: bool


class EtcdCalls(Protocol):
    """Calls of one endpoint."""

    async def call(self, path: str, request: Json) -> Json:
        """Send a request and return the answer. Raise StoreError on failure."""

    async def wait_for_event(self, key: str, *, revision: int, seconds: float) -> None:
        """Return when the key has changed at or after a revision, and after ``seconds`` at the latest."""

    async def first_change(self, keys: KeyRange, *, after: int, seconds: float) -> Change | None:
        """Return the first change of some keys after a revision; None if there is none within ``seconds``.

        Raise WatchCompactedError if etcd has forgotten changes after that revision.
        """

    async def close(self) -> None:
        """Close the connections."""


class EtcdClient:
    """Calls one endpoint. Each thread keeps one connection; close the client at the end.

    Args:
        endpoint: ``http://host:port``.
        timeout: seconds for one call.
        connect: makes a connection to host and port, with a time-out in seconds.
    """

    def __init__(
        self, endpoint: str, *, timeout: float = 5.0, connect: Connect = http.client.HTTPConnection
    ) -> None:
        parts = urlsplit(endpoint)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"etcd endpoint {endpoint!r}; write it like http://127.0.0.1:2379")
        self.endpoint = endpoint
        self._host, self._port = parts.hostname, parts.port or 2379
        self._timeout = timeout
        self._connect = connect
        self._workers = ThreadPoolExecutor(max_workers=_WORKERS, thread_name_prefix="etcd")
        self._local = threading.local()
        self._open: list[http.client.HTTPConnection] = []

    async def call(self, path: str, request: Json) -> Json:
        """Send a request and return the answer. Raise StoreError on failure."""
        return await self._in_thread(partial(self._call, path, request))

    async def wait_for_event(self, key: str, *, revision: int, seconds: float) -> None:
        """Return when the key has changed at or after a revision, and after ``seconds`` at the latest."""
        create = {"key": encode(key), "start_revision": str(revision)}
        await self._in_thread(partial(self._watch, create, seconds, _any_event))

    async def first_change(self, keys: KeyRange, *, after: int, seconds: float) -> Change | None:
        """See EtcdCalls."""
        create = watch_of(keys, after=after)
        return await self._in_thread(
            partial(self._watch, create, seconds, partial(first_change_of, after=after))
        )

    async def close(self) -> None:
        """Close the connections and end the threads, after a watch under way."""
        await asyncio.get_running_loop().run_in_executor(None, self._workers.shutdown)
        for connection in self._open:
            connection.close()

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._workers, work)

    def _call(self, path: str, request: Json) -> Json:
        connection = self._connection()
        try:
            connection.request("POST", path, json.dumps(request), {"Content-Type": "application/json"})
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as failure:
            connection.close()
            raise StoreError(f"etcd at {self.endpoint}, {path}: {failure!r}; is it running?") from failure
        return self._answer(path, response.status, text)

    def _answer(self, path: str, status: int, text: bytes) -> Json:
        try:
            # A streaming method answers with one object a line.
            answer = json.loads(text.partition(b"\n")[0])
        except ValueError as error:
            raise StoreError(f"etcd at {self.endpoint}, {path}: no JSON but {text[:80]!r}") from error
        if status != http.client.OK or not isinstance(answer, dict) or "error" in answer:
            raise StoreError(f"etcd at {self.endpoint}, {path}: status {status}, {answer}")
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        known = getattr(self._local, "connection", None)
        if known is None:
            known = self._connect(self._host, self._port, timeout=self._timeout)
            self._local.connection = known
            self._open.append(known)
        assert isinstance(known, http.client.HTTPConnection)
        return known

    def _watch(self, create: Json, seconds: float, found: Callable[[Json], Result | None]) -> Result | None:
        """Return the first event that is found in the answer, None if none comes in time.

        A watch has a connection of its own: its answer has no end; the first line is no event.
        """
        connection = self._connect(self._host, self._port, timeout=seconds)
        request = json.dumps({"create_request": create})
        try:
            connection.request("POST", "/v3/watch", request, {"Content-Type": "application/json"})
            # The response keeps the socket open, too.
            with connection.getresponse() as response:
                while line := response.readline():
                    told = found(self._answer("/v3/watch", response.status, line).get("result", {}))
                    if told is not None:
                        return told
        except TimeoutError:
            pass  # nothing has changed
        except (OSError, http.client.HTTPException) as failure:
            raise StoreError(f"etcd at {self.endpoint}: the watch failed: {failure!r}") from failure
        finally:
            connection.close()
        return None


def _any_event(result: Json) -> bool | None:
    return True if result.get("events") else None


def watch_of(keys: KeyRange, *, after: int) -> Json:
    """Return the request for a watch of some keys that is refused if a change after a revision is forgotten.

    It begins with ``after``, which the caller knows already. A watch from the next revision is accepted even
    if etcd was compacted to that one, and misses a deletion in it.
    """
    return keys.request() | {"start_revision": str(after)}


def first_change_of(result: Json, *, after: int) -> Change | None:
    """Return the first change after a revision in the answer of a watch. Raise WatchCompactedError."""
    if result.get("canceled"):
        raise WatchCompactedError(
            f"etcd has forgotten changes after {after}, up to {result.get('compact_revision', 'another')}; "
            "list again"
        )
    for event in result.get("events", ()):
        pair = event["kv"]
        revision = int(pair["mod_revision"])
        if revision > after:
            return Change(revision, decode(pair["key"]).decode(), event.get("type") != "DELETE")
    return None


def encode(value: str | bytes) -> str:
    """Return bytes or text in base 64."""
    return base64.b64encode(value.encode() if isinstance(value, str) else value).decode()


def decode(value: str) -> bytes:
    """Return the bytes of base 64."""
    return base64.b64decode(value)
