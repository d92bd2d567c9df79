"""The store's whole write history: a watch from revision 1 over etcd's HTTP gateway."""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidemark.checks.verdicts.errors import MissingToolError

_ALL = {"key": "AA==", "range_end": "AA=="}  # the zero byte: every key
_SILENCE_SECONDS = 5.0
_TRIES = 3


class Store:
    """etcd at an address like ``http://127.0.0.1:2379``. No proxy of the machine is asked."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def revision(self) -> int:
        """The latest revision."""
        with self._post("/v3/kv/range", _ALL | {"count_only": True}, timeout=10) as answer:
            return int(json.load(answer)["header"]["revision"])

    def keys(self, part: str) -> list[str]:
        """The keys that contain ``part``."""
        with self._post("/v3/kv/range", _ALL | {"keys_only": True}, timeout=10) as answer:
            found = [base64.b64decode(each["key"]).decode() for each in json.load(answer).get("kvs", [])]
        return [key for key in found if part in key]

    def write_history(self, out: Path) -> dict[str, int]:
        """Write every event from revision 1 up to now; how many, the first and the last revision.

        Raise MissingToolError if the store does not answer, or has thrown away a part.
        """
        last = self.revision()
        events = first = latest = 0
        with out.open("w") as file:
            for event in self._events(last):
                file.write(json.dumps(event, separators=(",", ":")) + "\n")
                events += 1
                first = first or event["rev"]
                latest = event["rev"]
        if latest < last:
            raise MissingToolError(
                f"the watch of the store ended at revision {latest}, the store is at {last}",
                remedy="the machine is too slow: run fewer processes",
            )
        return {"events": events, "first": first, "last": latest}

    def _events(self, last: int) -> Iterator[dict[str, Any]]:
        begin = {"create_request": _ALL | {"start_revision": "1"}}
        with self._post("/v3/watch", begin, timeout=_SILENCE_SECONDS) as stream:
            for line in stream:
                result = json.loads(line)["result"]
                if "compact_revision" in result:
                    raise MissingToolError(
                        f"the store has thrown away its history before revision {result['compact_revision']}",
                        remedy="use a shorter run",
                    )
                found = [_event(event) for event in result.get("events", [])]
                yield from (event for event in found if event["rev"] <= last)
                # A batch never ends inside a revision.
                if found and found[-1]["rev"] >= last:
                    return

    def _post(self, path: str, what: dict[str, Any], *, timeout: float) -> Any:
        request = urllib.request.Request(self._address + path, data=json.dumps(what).encode())  # noqa: S310
        for attempt in range(_TRIES):
            try:
                return self._open(request, timeout=timeout)
            except (urllib.error.URLError, TimeoutError) as error:
                if attempt == _TRIES - 1:
                    raise MissingToolError(
                        f"the store does not answer at {self._address}{path}: {error}",
                        remedy="look into the log of the server",
                    ) from error
                time.sleep(1)
        raise AssertionError


def _event(event: dict[str, Any]) -> dict[str, Any]:
    pair = event["kv"]
    return {
        "kind": "etcd", "rev": int(pair["mod_revision"]), "op": event.get("type", "PUT").lower(),
        "key": base64.b64decode(pair["key"]).decode("utf-8", "replace"), "value": pair.get("value", ""),
        "lease": int(pair.get("lease", 0)),
    }  # fmt: skip
