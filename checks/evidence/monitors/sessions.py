"""Sessions and leases: in the store, and as the root coordinator sees them."""

from collections.abc import Iterable
from typing import Any

from tidemark.checks.evidence.monitors.base import Answer, LogMonitor, Monitor, Place

_LEADERS = ("rootcoord",)


class SessionsFinal(Monitor):
    """A session that has ended does not come back: a new process has a new number."""

    name = "store-sessions"
    property_id = "timetick.fenced_is_final"
    rule = "A session that was removed from the store does not come back under the same server id."
    kinds = ("etcd.session", "etcd.session_end")
    needs = ("etcd.session",)
    columns = ("source", "line", "kind", "key", "node")

    def __init__(self) -> None:
        super().__init__()
        self.live: dict[str, tuple[str, int, str]] = {}
        self.ended: dict[tuple[str, str], tuple[int, str]] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, key, node in rows:
            if kind == "etcd.session_end":
                before = self.live.pop(key, None)
                if before is not None:
                    self.ended[key, before[0]] = (line, source)
                continue
            self.answer.events += 1
            end = self.ended.get((key, node))
            if end is not None:
                self.answer.breach(
                    f"The session {key} of server {node} comes back after its end.",
                    Place(end[1], end[0], "removed"),
                    Place(source, line, f"written again by {node}"),
                    key=key,
                )
            self.live[key] = (node, line, source)


class OneCoordinator(Monitor):
    """The oracle's process holds the session of the root coordinator."""

    name = "store-leader"
    property_id = "tso.one_server_runs"
    rule = "No other server takes the root coordinator's session before it was removed."
    kinds = ("etcd.session", "etcd.session_end")
    needs = ("etcd.session",)
    excused_by = ("etcd.session_end",)
    columns = ("source", "line", "kind", "key", "node")

    def __init__(self) -> None:
        super().__init__()
        self.holder: dict[str, tuple[str, int, str]] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, key, node in rows:
            if not key.endswith(_LEADERS):
                continue
            before = self.holder.get(key)
            if kind == "etcd.session_end":
                self.holder.pop(key, None)
                continue
            self.answer.events += 1
            if before is not None and before[0] != node:
                self.answer.breach(
                    f"Server {node} takes the session {key} while server {before[0]} holds it.",
                    Place(before[2], before[1], f"held by {before[0]}"),
                    Place(source, line, f"taken by {node}"),
                    key=key,
                )
            self.holder[key] = (node, line, source)


class KnownSessions(LogMonitor):
    """Which proxies the root coordinator waits for, in its own lines."""

    name = "log-sessions"
    property_id = "timetick.fenced_is_final"
    rule = "A proxy that the root coordinator has removed is not known again under the same id."
    kinds = ("session.add", "session.remove", "report.refused")
    needs = ()
    columns = ("source", "line", "kind", "node")

    def __init__(self) -> None:
        super().__init__()
        self.removed: dict[tuple[str, str], int] = {}
        self.added: set[tuple[str, str]] = set()
        self.seen: dict[tuple[str, str], int] = {}
        """How many lines of a kind a source has."""

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, node in rows:
            self.seen[source, kind] = self.seen.get((source, kind), 0) + 1
            before = self.removed.get((source, node))
            if kind == "session.remove":
                self.removed[source, node] = line
            elif kind == "session.add":
                self.added.add((source, node))
                if before is not None:
                    self.answer.breach(
                        f"Proxy {node} is known again after it was removed.",
                        Place(source, before, f"proxy {node} removed"),
                        Place(source, line, f"proxy {node} added"),
                        key=str(node),
                    )
            elif before is not None:
                self.answer.report(
                    "A removed proxy still reports, and is refused: its process lives on, and may still "
                    "append."
                )
            elif (source, node) not in self.added:
                self.answer.report(
                    f"The root coordinator refuses the reports of proxy {node}, as it does not know its "
                    "session: `tidemark show findings tick-barrier` and `tick-silent` say what follows."
                )

    def close(self) -> Answer:
        """Something is compared where proxies are added and removed."""
        done = Answer.from_dict(self.answer.as_dict())
        compared = ("session.add", "session.remove")
        done.events = sum(
            count
            for (source, _), count in self.seen.items()
            if all((source, kind) in self.seen for kind in compared)
        )
        return done
