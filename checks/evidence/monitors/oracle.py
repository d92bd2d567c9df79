"""The oracle, seen from its store and its log lines."""

from collections.abc import Iterable
from typing import Any

from tidemark.checks.evidence.monitors.base import LogMonitor, Monitor, Place, shown
from tidemark.checks.evidence.table.schema import LARGEST, physical


class WindowGrows(Monitor):
    """The saved end of the window, in the order of the store."""

    name = "store-window"
    property_id = "tso.saved_never_goes_back"
    rule = "The saved end of the window only grows, revision by revision."
    kinds = ("etcd.window",)
    columns = ("source", "line", "ts")

    def __init__(self) -> None:
        super().__init__()
        self.last: list[Any] = []

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, ts in rows:
            place = Place(source, line, f"window saved up to {shown(ts)}")
            if self.last:
                if line == self.last[1].line:
                    continue
                self.answer.events += 1
                if ts < self.last[0]:
                    self.answer.breach("The saved end of the window goes back.", self.last[1], place)
            self.last = [ts, place]


class StoredBelowWindow(Monitor):
    """Whatever timestamp is in the store was handed out before it got there."""

    name = "store-issued"
    property_id = "tso.issued_below_saved"
    rule = "Every timestamp in the store is below the window that was saved before it."
    kinds = ("etcd.window", "etcd.checkpoint", "etcd.ddl", "etcd.segment")
    needs = ("etcd.window", "etcd.checkpoint")
    excused_by = ("etcd.window",)
    columns = ("source", "line", "kind", "ts", "key")

    def __init__(self) -> None:
        super().__init__()
        self.saved = 0
        self.where: list[Place] = []

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, ts, key in rows:
            if kind == "etcd.window":
                if ts > self.saved:
                    self.saved = ts
                    self.where = [Place(source, line, f"window saved up to {shown(ts)}")]
            elif ts and ts < LARGEST and self.saved:
                self.answer.events += 1
                if physical(ts) > physical(self.saved):
                    place = Place(source, line, f"{key} has {shown(ts)}")
                    self.answer.breach("A timestamp beyond the saved window is in use.", *self.where, place)


class AllocatorStart(LogMonitor):
    """An allocator that starts begins above the end that it has found, in a window that it has saved."""

    name = "log-oracle-start"
    property_id = "tso.restart_never_reissues"
    rule = "A starting oracle's first object is above the saved end that it has found."
    kinds = ("tso.init",)
    columns = ("source", "line", "seq", "ts", "ts2")
    one_by_one = True

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, found, first, saved in rows:
            self.answer.events += 1
            place = Place(source, line, f"found {shown(found)}, begins at {shown(first)}")
            if found == 0:
                self.answer.report(
                    "An allocator found no saved end: a new deployment, or its record was lost or not read."
                )
            elif physical(first) <= physical(found):
                self.answer.breach("The oracle starts at or below the end that was saved before.", place)
            if physical(saved) < physical(first):
                self.answer.breach("The oracle's first object is beyond the window that it has saved.", place)


class AnswersUnique(Monitor):
    """Timestamps that clients got with their answers."""

    name = "client-unique"
    property_id = "tso.unique"
    rule = "No two inserts, upserts or deletes are answered with the same timestamp."
    kinds = ("op.insert", "op.upsert", "op.delete")
    needs = ("op.insert",)
    columns = ("source", "line", "ts", "key", "node", "seq")

    def __init__(self) -> None:
        super().__init__()
        self.by_ts: dict[int, tuple[str, int, str, str, int]] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        known = self.by_ts
        for source, line, ts, *who in rows:
            if not ts:
                continue
            self.answer.events += 1
            first = known.setdefault(ts, (source, line, *who))
            if [*first[2:]] != who:  # not the same operation, read twice
                self.answer.breach(
                    f"Two writes have the timestamp {ts}.",
                    Place(*first[:2], f"answered with {shown(ts)}"),
                    Place(source, line, f"{who[0]} answered with {shown(ts)}"),
                )
