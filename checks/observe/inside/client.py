"""A process of clients. It reads one command a line from its input, and answers each with a line.

usage: python -m inside.client '{"process": .., "port": .., "folder": .., "collection": .., "roles": {..}}'

Commands: ``{"do": "start"}`` (the roles, each in a thread of its own), ``{"do": "stop"}``, ``{"do": "wait"}``
(until the roles have ended by themselves), and the single operations ``create``, ``load``, ``flush``,
``query``, ``count`` of the client ``<process>-control``. The end of the input ends the process.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from .operations import Client
from .roles import Role, play

_JOIN_SECONDS = 90.0


class Clients:
    """The clients of this process, and the commands that it takes."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._control = self._client(f"{settings['process']}-control")
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def _client(self, name: str) -> Client:
        settings = self._settings
        return Client(
            name, process=settings["process"], port=settings["port"], folder=Path(settings["folder"]),
            collection=settings["collection"],
        )  # fmt: skip

    def do(self, command: dict[str, Any]) -> Any:
        """Carry out one command; the answer can be written as JSON."""
        what = command["do"]
        if what == "start":
            for name, role in self._settings["roles"].items():
                work = (self._client(name), Role(**role), self._stop)
                self._threads.append(threading.Thread(target=play, args=work, daemon=True, name=name))
            for thread in self._threads:
                thread.start()
            return len(self._threads)
        if what in {"stop", "wait"}:
            return self._end(told=what == "stop")
        if what == "create":
            return self._control.create(self._settings["collection"], shards=command["shards"])
        if what == "load":
            return self._control.load(timeout=command["timeout"])
        if what == "flush":
            return self._control.flush(timeout=command["timeout"])
        if what == "query":
            return self._control.query(level=command["level"])
        if what == "count":
            return self._control.count(level=command["level"])
        raise ValueError(f"unknown command {what!r}")

    def _end(self, *, told: bool) -> list[str]:
        """Names of the clients that did not end in time."""
        if told:
            self._stop.set()
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)
        return [thread.name for thread in self._threads if thread.is_alive()]


def main() -> None:
    """Take commands until the input ends."""
    clients = Clients(json.loads(sys.argv[1]))
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(clients.do(json.loads(line))), flush=True)
    os._exit(0)  # threads that wait for a dead server must not hold the process


if __name__ == "__main__":
    main()
