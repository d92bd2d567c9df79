"""etcd's JSON gateway under the real ``EtcdClient``: HTTP as text over a socket that is answered here.

The client's ``http.client`` writes requests and reads answers as over a real connection; each call runs in a
thread and is one step. What is answered is that of ``tidemark.models.protocols.common.etcd``, which a test
compares with a real server.
"""

from __future__ import annotations

import http.client
import io
import json
from typing import Any

from tests.impl.storage.faults import DAMAGE, ERROR, FAIL, GARBAGE, LIST, LOSE, Faults
from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_client import Json
from tidemark.models.protocols.common import etcd

HOST, PORT = "etcd", 4001


_WORDS = {
    FAIL: "reset",
    LOSE: "timed out",
    DAMAGE: "503",
    GARBAGE: "<html>",
    LIST: "[1]",
    ERROR: "unavailable",
}
"""What an answer that is wrong in this way says."""
_MANY = 4
"""After so many watches a lease ends that should have ended in the first."""


class Gateway:
    """An etcd, and the connections to it.

    Attributes:
        content: what it holds.
        leaves: the lease that ends while a watch waits for an event; 0: none does.
        silent: so many watches hear nothing before.
        passed: the seconds for which watches have heard nothing.
        watches: how many there were.
        open: the ends of connections that are open.
        says: what the next watch hears, line by line, instead; an error is raised.
    """

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.content: dict[str, Any] = {}
        etcd.begin(self.content)
        self.leaves = 0
        self.silent = 0
        self.passed = 0.0
        self.watches = 0
        self.open: list[object] = []
        self.says: list[bytes | Exception] = []
        self._events: list[tuple[int, str]] = []

    def connect(self, host: str, port: int, *, timeout: float) -> http.client.HTTPConnection:
        """Make a connection, in place of ``http.client.HTTPConnection``."""
        return _Connection(self, host, port, timeout)

    def end_lease(self, number: int) -> None:
        """A lease is over, and its keys go: an event for whoever watches them."""
        gone = [key for key, pair in self.content[etcd.KEYS] if pair.lease == number]
        etcd.end_lease(self.content, number)
        self._events += [(self.content[etcd.REVISION], key) for key in gone]

    def answer(self, path: str, request: Json) -> tuple[int, list[Any]]:
        """Return the status and the objects, one a line, of a request."""
        before = dict(self.content[etcd.KEYS])
        try:
            found = etcd.answer(self.content, path, request)
        except StoreError as failure:
            known = "404" not in str(failure)
            return (400 if known else 404), [{"error": str(failure).rpartition(": ")[2], "code": 5}]
        after = dict(self.content[etcd.KEYS])
        changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        self._events += [(self.content[etcd.REVISION], key) for key in changed]
        return 200, [found, {"result": {"later": True}}]

    def hears(self, request: Json) -> list[Json]:
        """Return what a watch hears that has been told of everything before, and waits."""
        after = int(request["start_revision"])
        if not self._since(after, request["key"]) or self.watches > _MANY:
            if self.silent:
                self.silent -= 1
            elif self.leaves:
                self.end_lease(self.leaves)
                self.leaves = 0
        events = self._since(after, request["key"])
        return [{"result": {"events": events}}] if events else []

    def _since(self, revision: int, key: str) -> list[Json]:
        return [{"kv": {"key": key}} for at, changed in self._events if at >= revision and changed == key]


class _Connection(http.client.HTTPConnection):
    """A connection whose socket is answered here."""

    def __init__(self, gateway: Gateway, host: str, port: int, timeout: float) -> None:
        super().__init__(host, port, timeout=timeout)
        self._gateway = gateway
        self._seconds = timeout

    def connect(self) -> None:
        if (self.host, self.port) != (HOST, PORT):
            raise ConnectionRefusedError(f"nothing listens at {self.host}:{self.port}")
        if self._gateway.faults.strikes(FAIL) == FAIL:
            self._gateway.faults.words = "refused"
            raise ConnectionRefusedError("refused")
        self.sock = Socket(self._gateway, self._seconds)
        self._gateway.open.append(self.sock)


class Socket:
    """One end of a connection: requests go in as text, and answers come out."""

    def __init__(self, gateway: Gateway, seconds: float) -> None:
        self._gateway = gateway
        self._seconds = seconds
        self._sent = b""

    def sendall(self, data: bytes) -> None:
        self._sent += bytes(data)

    def makefile(self, mode: str, *options: Any, **named: Any) -> _Reader:
        del mode, options, named
        sent, self._sent = self._sent, b""
        head, _, body = sent.partition(b"\r\n\r\n")
        verb, path, _ = head.split(b"\r\n")[0].decode().split(" ")
        assert verb == "POST"
        request = json.loads(body)
        reader: _Reader
        if path == "/v3/watch":
            if self._gateway.faults.strikes(FAIL) == FAIL:
                self._gateway.faults.words = "reset"
                raise ConnectionResetError("reset")
            self._gateway.watches += 1
            reader = _Watch(self._gateway, request["create_request"], self._seconds)
        else:
            reader = self._answered(path, request)
        self._gateway.open.append(reader)
        return reader

    def _answered(self, path: str, request: Json) -> _Reader:
        fault = self._gateway.faults.strikes(*_WORDS)
        if fault is not None:
            self._gateway.faults.words = _WORDS[fault]
        if fault == FAIL:
            raise ConnectionResetError("reset")
        status, lines = self._gateway.answer(path, request)
        if fault == LOSE:
            raise TimeoutError("timed out")
        if fault == DAMAGE:
            status, lines = 503, [{"message": "unavailable"}]
        if fault in (LIST, ERROR):
            lines = [[1]] if fault == LIST else [{"error": "unavailable"}]
        text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return _Reader(self._gateway, status, b"<html>\n" if fault == GARBAGE else text)

    def setsockopt(self, *options: Any) -> None:
        """Options make no difference."""

    def close(self) -> None:
        if self in self._gateway.open:
            self._gateway.open.remove(self)


class _Reader(io.BytesIO):
    def __init__(self, gateway: Gateway, status: int, text: bytes, *, length: bool = True) -> None:
        head = f"HTTP/1.1 {status} Word\r\nContent-Type: application/json\r\n"
        told = f"Content-Length: {len(text)}\r\n" if length else ""
        super().__init__(f"{head}{told}\r\n".encode() + text)
        self._gateway = gateway

    def close(self) -> None:
        if self in self._gateway.open:
            self._gateway.open.remove(self)
        super().close()


class _Watch(_Reader):
    """An answer without an end: its reader waits for the next line, until its time-out."""

    def __init__(self, gateway: Gateway, request: Json, seconds: float) -> None:
        created = json.dumps({"result": {"created": True}}).encode() + b"\n"
        super().__init__(gateway, 200, created, length=False)
        self._request, self._seconds = request, seconds

    def readline(self, size: int | None = -1, /) -> bytes:
        found = super().readline(size)
        if found:
            return found
        if self._gateway.says:
            said = self._gateway.says.pop(0)
            if isinstance(said, Exception):
                raise said
            return said
        heard = self._gateway.hears(self._request)
        after = self._gateway.content[etcd.REVISION] + 1
        self._request = {**self._request, "start_revision": str(after)}
        if not heard:
            self._gateway.passed += self._seconds
            raise TimeoutError("timed out")
        return json.dumps(heard[0]).encode() + b"\n"
