"""A store as its gateway shows it: what it says of changes, and its revision."""

import base64
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar


class _Gateway(BaseHTTPRequestHandler):
    batches: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    revision: ClassVar[int] = 0
    kvs: ClassVar[tuple[Mapping[str, Any], ...]] = ()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        if self.path == "/v3/watch":
            for batch in self.batches:
                self.wfile.write(json.dumps({"result": batch}).encode() + b"\n")
        else:
            kept = {"header": {"revision": str(self.revision)}, "kvs": list(self.kvs)}
            self.wfile.write(json.dumps(kept).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def gateway(
    *batches: Mapping[str, Any], revision: int = 0, kvs: Sequence[Mapping[str, Any]] = ()
) -> Iterator[str]:
    """The address of a store whose watch gives these batches, and in which these keys stand."""
    handler = type("Handler", (_Gateway,), {"batches": batches, "revision": revision, "kvs": kvs})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def pair(key: str, revision: int) -> dict[str, str]:
    """The key of a change, in the form of the gateway."""
    return {"key": base64.b64encode(key.encode()).decode(), "mod_revision": str(revision)}
