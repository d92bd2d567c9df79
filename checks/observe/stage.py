"""What the steps of a scenario are made of: servers, clients, faults; the record of what was done when."""

import base64
import json
import random
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidemark.checks.observe.package import CLIENT, MOCK_BROKER, Package
from tidemark.checks.observe.processes import Child, Processes
from tidemark.checks.observe.scenarios import FORMAT, Plan
from tidemark.checks.observe.server import ETCD_PORT, Server, Setting
from tidemark.checks.verdicts.errors import CheckError, MissingToolError

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


COLLECTION = "rows"
SHARDS = 2
_HEALTHY_SECONDS = 180.0
_LOAD_SECONDS = 90.0
_FLUSH_SECONDS = 40.0
_SESSION_MARGIN_SECONDS = 30.0
_POLL_SECONDS = 0.2


class Clients:
    """One process of clients on the collection of the run."""

    def __init__(self, child: Child) -> None:
        self._child = child
        child.line()

    def start(self) -> None:
        """Let the roles begin."""
        self._child.ask(do="start")

    def stop(self) -> None:
        """Tell the roles to end, and wait for them; raise MissingToolError if one hangs."""
        self._ended(self._child.ask(do="stop"))

    def stop_later(self) -> None:
        """Tell the roles to end; ``stopped`` waits for it."""
        self._child.send({"do": "stop"})

    def stopped(self) -> None:
        """Wait for the end that was asked for."""
        self._ended(json.loads(self._child.line()))

    def wait(self) -> None:
        """Wait until the roles have ended by themselves."""
        self._ended(self._child.ask(do="wait"))

    def create(self) -> None:
        """Create the collection and load it."""
        if not self._child.ask(do="create", shards=SHARDS) or not self.load():
            raise MissingToolError(
                f"the collection could not be created and loaded; the log of {self._child.name} ends with: "
                f"{self._child.tail()}",
                remedy="look into the history of the client and the log of the server",
            )

    def load(self) -> bool:
        """Load the collection, trying again while the server recovers."""
        until = time.monotonic() + _LOAD_SECONDS
        while time.monotonic() < until:
            if self._child.ask(do="load", timeout=30.0):
                return True
            time.sleep(1)
        return False

    def flush(self) -> bool:
        """Flush, and wait for it."""
        return bool(self._child.ask(do="flush", timeout=_FLUSH_SECONDS))

    def count(self) -> int | None:
        """count(*) at level Strong."""
        found = self._child.ask(do="count", level="Strong")
        return None if found is None else int(found)

    def read(self) -> set[int]:
        """All keys at level Strong; raise MissingToolError if they cannot be read."""
        until = time.monotonic() + _LOAD_SECONDS
        while time.monotonic() < until:
            found = self._child.ask(do="query", level="Strong")
            if found is not None:
                return {key for first, last in found for key in range(first, last + 1)}
            time.sleep(1)
        raise MissingToolError(
            f"the collection could not be read for {_LOAD_SECONDS:.0f} s",
            remedy="look into the history of the client and the log of the server",
        )

    def _ended(self, hanging: list[str]) -> None:
        if hanging:
            raise MissingToolError(
                f"the clients {', '.join(hanging)} do not end", remedy="the machine is too slow for this load"
            )


class Stage:
    """A run in progress.

    Args:
        plan: of the run.
        processes: who ends everything.
    """

    def __init__(self, plan: Plan, *, processes: Processes) -> None:
        self.plan = plan
        self.random = random.Random(plan.seed)
        self.processes = processes
        self.package = Package(version=plan.version, folder=plan.server, python=plan.python)
        self.store = Store(f"http://127.0.0.1:{ETCD_PORT}")
        self.kafka: str | None = None
        self.facts: dict[str, int] = {}
        self.collected: dict[str, Any] = {}
        self.logs = plan.folder / "logs"
        self.logs.mkdir(parents=True)
        plan.scratch.mkdir(parents=True)
        self._began = time.monotonic()
        self._pair = {"monotonic": time.monotonic_ns(), "wall": time.time_ns()}
        self._done: list[dict[str, Any]] = []

    def say(self, text: str) -> None:
        """A line of progress."""
        print(f"[{time.monotonic() - self._began:5.1f} s] {text}", flush=True)

    def note(self, what: str, **more: Any) -> None:
        """Write down that something was done now, and say so."""
        self._done.append({"what": what, "monotonic": time.monotonic_ns(), "wall": time.time_ns(), **more})
        self.say(" ".join([what, *(f"{name}={value}" for name, value in more.items())]))

    def broker(self) -> None:
        """Start the mock broker, if the scenario wants Kafka."""
        if self.plan.scenario.broker == "kafka":
            child = self.processes.start(
                "mock-broker", self.package.inside(MOCK_BROKER), log=self.plan.scratch / "mock-broker.log",
                talks=True,
            )  # fmt: skip
            self.kafka = child.line()
            self.note("mock broker", address=self.kafka)

    def server(self, role: str = "standalone", *, slowable: bool = False) -> Server:
        """A server process with the settings of this run; not started. For ``slowable`` see ``Server``."""
        return Server(
            self.package, processes=self.processes, role=role, folder=self.plan.scratch / role,
            logs=self.logs, setting=Setting(lease=self.plan.lease, kafka=self.kafka), slowable=slowable,
        )  # fmt: skip

    def start(self, server: Server) -> None:
        """Start it, and wait until it answers."""
        child = server.start()
        self.note("start", component=server.name, pid=child.pid)
        self.say(f"{server.name} answers after {server.wait_healthy(_HEALTHY_SECONDS):.1f} s")

    def kill(self, *servers: Server) -> None:
        """kill -9."""
        for server in servers:
            self.note("kill -9", component=server.name)
            server.kill()

    def pause(self, server: Server) -> None:
        """Let the process stand still."""
        self.note("pause", component=server.name)
        assert server.child is not None
        server.child.signal(signal.SIGSTOP)

    def resume(self, server: Server) -> None:
        """Let the process go on."""
        self.note("resume", component=server.name)
        assert server.child is not None
        server.child.signal(signal.SIGCONT)

    def slow_disk(self, server: Server, milliseconds: int) -> None:
        """Each flush of the server's disk takes so much longer; 0 ends it."""
        self.note("slow disk", component=server.name, milliseconds=milliseconds)
        server.slow_disk(milliseconds)

    def clients(
        self, process: str, server: Server, roles: dict[str, dict[str, Any]] | None = None
    ) -> Clients:
        """A process of clients of that server; ``roles`` by client, each with a seed drawn here."""
        seeded = {
            name: {"seed": self.random.randrange(1 << 32), "first_key": (number + 1) * 10**7, **role}
            for number, (name, role) in enumerate((roles or {}).items())
        }
        settings = {
            "process": process, "port": server.ports.client, "folder": str(self.plan.folder),
            "collection": COLLECTION, "roles": seeded,
        }  # fmt: skip
        child = self.processes.start(
            process, self.package.inside(CLIENT, json.dumps(settings)),
            log=self.plan.scratch / f"{process}.log", talks=True,
        )  # fmt: skip
        return Clients(child)

    def wait_session(self, kind: str, *, count: int) -> None:
        """Wait for so many sessions of that kind in the store; raise MissingToolError if that fails."""
        until = time.monotonic() + self.plan.lease + _SESSION_MARGIN_SECONDS
        while time.monotonic() < until:
            if len(self.store.keys(f"/session/{kind}-")) == count:
                return
            time.sleep(_POLL_SECONDS)
        raise MissingToolError(
            f"the store does not come to {count} sessions of kind {kind}, lease {self.plan.lease} s",
            remedy="look into the log of the server",
        )

    def sleep(self, seconds: float, why: str) -> None:
        """Let time pass."""
        self.say(f"{why} for {seconds:.0f} s")
        time.sleep(seconds)

    def write_record(self, *, error: CheckError | None = None) -> None:
        """Write ``scenario.json``: what was done when, what was collected, what we counted ourselves."""
        plan = self.plan
        record = {
            "kind": "scenario", "v": FORMAT, "name": plan.scenario.name, "seed": plan.seed,
            "versions": {"server": plan.version}, "broker": plan.scenario.broker, "lease": plan.lease,
            "apart": plan.apart, "clock": self._pair, "done": self._done, "facts": self.facts,
            "collected": self.collected, "error": str(error) if error else "",
        }  # fmt: skip
        (plan.folder / "scenario.json").write_text(json.dumps(record, indent=1) + "\n")


def read_record(folder: Path) -> dict[str, Any]:
    """What ``Stage.write_record`` wrote."""
    found: dict[str, Any] = json.loads((folder / "scenario.json").read_text())
    return found
