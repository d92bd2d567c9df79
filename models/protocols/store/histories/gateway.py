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

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_client import Json
from tidemark.models.protocols.common import etcd
from tidemark.models.protocols.store.histories.faults import DAMAGE, FAIL, GARBAGE, LOSE, Faults

HOST, PORT = "etcd", 4001


class Gateway:
    """An etcd, and the connections to it.

    Attributes:
        content: what it holds.
        leaves: the lease that ends while the next watch is open; 0: none does.
        passed: the seconds for which watches have heard nothing.
        open: the sockets that are open.
    """

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.content: dict[str, Any] = {}
        etcd.begin(self.content)
        self.leaves = 0
        self.passed = 0.0
        self.open: list[Socket] = []
        self._events: list[tuple[int, str]] = []

    def connect(self, host: str, port: int, *, timeout: float) -> http.client.HTTPConnection:
        """Make a connection, in place of ``http.client.HTTPConnection``."""
        return _Connection(self, host, port, timeout)

    def end_lease(self, number: int) -> None:
        """A lease is over, and its keys go: an event for whoever watches them."""
        gone = [key for key, pair in self.content[etcd.KEYS] if pair.lease == number]
        etcd.end_lease(self.content, number)
        self._events += [(self.content[etcd.REVISION], key) for key in gone]

    def answer(self, path: str, request: Json) -> tuple[int, list[Json]]:
        """Return the status and the objects, one a line, of a request."""
        if path == "/v3/watch":
            return 200, self._watched(request["create_request"])
        try:
            return 200, [etcd.answer(self.content, path, request), {"result": {"later": True}}]
        except StoreError as failure:
            found = "404" not in str(failure)
            return (400 if found else 404), [{"error": str(failure).rpartition(": ")[2], "code": 5}]

    def _watched(self, request: Json) -> list[Json]:
        """The first line says that there is a watch; an event comes if one does while it is open."""
        if self.leaves:
            self.end_lease(self.leaves)
            self.leaves = 0
        after = int(request["start_revision"])
        events = [
            {"type": "DELETE"}
            for revision, key in self._events
            if revision >= after and key == request["key"]
        ]
        return [{"result": {"created": True}}, *([{"result": {"events": events}}] if events else [])]


class _Connection(http.client.HTTPConnection):
    """A connection whose socket is answered here."""

    def __init__(self, gateway: Gateway, host: str, port: int, timeout: float) -> None:
        super().__init__(host, port, timeout=timeout)
        self._gateway = gateway
        self._seconds = timeout

    def connect(self) -> None:
        """Open the socket."""
        if (self.host, self.port) != (HOST, PORT):
            raise ConnectionRefusedError(f"nothing listens at {self.host}:{self.port}")
        if self._gateway.faults.strikes(FAIL) == FAIL:
            raise ConnectionRefusedError("refused")
        self.sock = Socket(self._gateway, self._seconds)


class Socket:
    """One end of a connection: requests go in as text, and answers come out."""

    def __init__(self, gateway: Gateway, seconds: float) -> None:
        self._gateway = gateway
        self._seconds = seconds
        self._sent = b""
        gateway.open.append(self)

    def sendall(self, data: bytes) -> None:
        """Take a part of a request."""
        self._sent += bytes(data)

    def makefile(self, mode: str, *options: Any, **named: Any) -> _Reader:
        """Return what is answered to what was sent."""
        del mode, options, named
        sent, self._sent = self._sent, b""
        head, _, body = sent.partition(b"\r\n\r\n")
        verb, path, _ = head.split(b"\r\n")[0].decode().split(" ")
        assert verb == "POST"
        watches = path == "/v3/watch"
        fault = self._gateway.faults.strikes(*((FAIL,) if watches else (FAIL, LOSE, DAMAGE, GARBAGE)))
        if fault == FAIL:
            raise ConnectionResetError("reset")
        status, lines = self._gateway.answer(path, json.loads(body))
        if fault == LOSE:
            raise TimeoutError("timed out")
        if fault == DAMAGE:
            status, lines = 503, [{"message": "unavailable"}]
        text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        if fault == GARBAGE:
            text = b"<html>\n"
        return _Reader(self._gateway, status, text, seconds=self._seconds if watches else None)

    def setsockopt(self, *options: Any) -> None:
        """Options make no difference."""

    def close(self) -> None:
        """Close it."""
        if self in self._gateway.open:
            self._gateway.open.remove(self)


class _Reader(io.BytesIO):
    """An answer: with its length, or, of a watch, without an end, so that a reader waits until its time-out."""

    def __init__(self, gateway: Gateway, status: int, text: bytes, *, seconds: float | None) -> None:
        length = "" if seconds is not None else f"Content-Length: {len(text)}\r\n"
        head = f"HTTP/1.1 {status} Word\r\nContent-Type: application/json\r\n{length}"
        super().__init__(f"{head}\r\n".encode() + text)
        self._gateway = gateway
        self._seconds = seconds

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return a line. A watch that has no more of them ends with the time-out."""
        found = super().readline(size)
        if not found and self._seconds is not None:
            self._gateway.passed += self._seconds
            raise TimeoutError("timed out")
        return found
