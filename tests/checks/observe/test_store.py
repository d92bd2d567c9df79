"""The store's history, from an HTTP server that answers as etcd's gateway does."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tidemark.checks.observe.stage import Store
from tidemark.checks.verdicts.errors import MissingToolError


def event(revision: int, key: str, *, delete: bool = False) -> dict[str, Any]:
    pair = {"key": base64.b64encode(key.encode()).decode(), "mod_revision": str(revision)}
    return {"type": "DELETE", "kv": pair} if delete else {"kv": pair | {"value": "dg==", "lease": "7"}}


class Gateway(BaseHTTPRequestHandler):
    batches: ClassVar[list[dict[str, Any]]] = []
    revision: ClassVar[int] = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        if self.path == "/v3/watch":
            for batch in self.batches:
                self.wfile.write(json.dumps({"result": batch}).encode() + b"\n")
        else:
            self.wfile.write(json.dumps({"header": {"revision": str(self.revision)}}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def store() -> Iterator[Store]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Store(f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    server.server_close()


def test_events_up_to_the_revision_of_the_question(store: Store, tmp_path: Path) -> None:
    Gateway.revision = 4
    Gateway.batches = [
        {"created": True},
        {"events": [event(2, "a"), event(3, "b"), event(3, "c")]},
        {"events": [event(4, "a", delete=True), event(5, "later")]},
    ]
    out = tmp_path / "etcd.ndjson"
    assert store.write_history(out) == {"events": 4, "first": 2, "last": 4}
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(each["rev"], each["op"], each["key"], each["lease"]) for each in found] == [
        (2, "put", "a", 7), (3, "put", "b", 7), (3, "put", "c", 7), (4, "delete", "a", 0),
    ]  # fmt: skip


def test_a_watch_that_ends_early_is_no_history(store: Store, tmp_path: Path) -> None:
    Gateway.revision = 9
    Gateway.batches = [{"events": [event(2, "a")]}]
    with pytest.raises(MissingToolError, match="ended at revision 2, the store is at 9"):
        store.write_history(tmp_path / "etcd.ndjson")


def test_a_store_that_was_compacted_is_no_history(store: Store, tmp_path: Path) -> None:
    Gateway.revision = 9
    Gateway.batches = [{"compact_revision": "5"}]
    with pytest.raises(MissingToolError, match="before revision 5"):
        store.write_history(tmp_path / "etcd.ndjson")
