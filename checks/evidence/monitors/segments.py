"""Segments and binlogs: in the store, in log lines, and against the broker's rows."""

import json
from collections.abc import Iterable
from typing import Any

from tidemark.checks.evidence.monitors.base import Answer, LogMonitor, Monitor, Place, shown
from tidemark.checks.evidence.table.schema import LARGEST, physical


class FlushedFinal(Monitor):
    """A segment's record after it is flushed."""

    name = "store-flushed"
    property_id = "flush.flushed_is_final"
    rule = "A flushed segment keeps its rows, its position does not go back, and it is not opened again."
    kinds = ("etcd.segment",)
    columns = ("source", "line", "segment", "text", "rows", "ts")
    by = "segment"

    def __init__(self) -> None:
        super().__init__()
        self.flushed: dict[int, tuple[int, int, int, str]] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, segment, state, count, ts in rows:
            self.answer.events += 1
            before = self.flushed.get(segment)
            if before is not None and line > before[2] and state != "Dropped":
                more = count != before[0] or ts < before[1]
                if ts > before[1] and not more:
                    self.answer.report(
                        "The position of a flushed segment moves on (allowed: deletes were stored)."
                    )
                if state != "Flushed" or more:
                    self.answer.breach(
                        f"The flushed segment {segment} changes.",
                        Place(
                            before[3], before[2], f"flushed with {before[0]} rows up to {shown(before[1])}"
                        ),
                        Place(source, line, f"{state} with {count} rows up to {shown(ts)}"),
                        key=str(segment),
                    )
            if state == "Flushed":
                self.flushed.setdefault(segment, (count, ts, line, source))


class BinlogsOnce(Monitor):
    """No file of rows is in two records, and a record has no file twice."""

    name = "store-binlogs"
    property_id = "flush.stored_once"
    rule = "No insert binlog is recorded twice, and a flushed segment's binlogs have as many rows as it has."
    kinds = ("etcd.binlog", "etcd.segment")
    needs = ("etcd.binlog", "etcd.segment")
    columns = ("source", "line", "kind", "segment", "key", "text", "rows", "value")
    by = "segment"

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[int, dict[str, tuple[int, int, str]]] = {}
        self.files: dict[str, tuple[int, str]] = {}
        self.flushed: dict[int, tuple[int, int, str]] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, segment, key, text, count, value in rows:
            if kind == "etcd.segment":
                if text == "Flushed":
                    self.flushed[segment] = (count, line, source)
                elif text == "Dropped":
                    self.flushed.pop(segment, None)
            elif text == "insert" and segment is not None:
                self.entries.setdefault(segment, {})[key] = (count, line, source)
                self._files(source, line, segment, key, json.loads(value or "[]"))

    def _files(self, source: str, line: int, segment: int, key: str, paths: list[str]) -> None:
        twice = len(paths) != len(set(paths))
        for path in paths:
            self.answer.events += 1
            # Up to 2.3.0 the files of all fields that are stored together have one number.
            owner = self.files.setdefault(f"{key}/{path}", (segment, key))
            if owner != (segment, key) or twice:
                self.answer.breach(
                    f"The binlog {path} is recorded twice.",
                    Place(source, line, f"segment {segment}, field {key}"),
                    key=str(segment),
                )

    def close(self) -> Answer:
        """Compare the numbers of rows as they are at the end."""
        done = Answer.from_dict(self.answer.as_dict())
        for segment, (count, line, source) in sorted(self.flushed.items()):
            for key, (entries, binlog_line, binlog_source) in sorted(self.entries.get(segment, {}).items()):
                done.events += 1
                if entries != count:
                    done.breach(
                        f"The binlogs of segment {segment}, field {key}, hold {entries} rows, not {count}.",
                        Place(binlog_source, binlog_line, f"binlogs with {entries} rows"),
                        Place(source, line, f"flushed with {count} rows"),
                        key=str(segment),
                    )
        return done


class SaveOrder(LogMonitor):
    """Saves of one segment, in the order in which the coordinator received them.

    Deletes of a flushed segment are saved too; such a save has the rows that it had. If compaction has
    replaced the segment meanwhile, the save counts no rows any more.
    """

    name = "log-saves"
    property_id = "flush.flushed_is_final"
    rule = "Positions and row counts of a segment's saves do not fall, and no rows follow the flush."
    kinds = ("save.receive", "segment.compacted")
    excused_by = ("segment.compacted",)
    needs = ("save.receive",)
    columns = ("source", "line", "kind", "segment", "ts", "rows", "text")

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[tuple[str, int], tuple[int, int, str, int]] = {}
        self.compacted: set[tuple[str, int]] = set()

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, segment, ts, count, text in rows:
            if kind == "segment.compacted":
                self.compacted.add((source, segment))
                continue
            if ts is None:
                self.answer.doubt("a save does not say its segment's position")
                continue
            self.answer.events += 1
            before = self.last.get((source, segment))
            if before is not None:
                self._compare(source, line, segment, (ts, count or 0, text), before)
            flushed = text == "flush" or (before is not None and before[2] == "flush")
            self.last[source, segment] = (ts, count or 0, "flush" if flushed else text, line)

    def _compare(
        self,
        source: str,
        line: int,
        segment: int,
        save: tuple[int, int, str],
        before: tuple[int, int, str, int],
    ) -> None:
        ts, count, _ = save
        if before[2] == "flush" and count > before[1]:
            what = f"Rows are saved for segment {segment} after its flush."
        elif ts < before[0]:
            what = f"The position of segment {segment} falls."
        elif count < before[1] and (source, segment) in self.compacted and not count:
            self.answer.report("Deletes are saved for a segment that compaction has replaced (allowed).")
            return
        elif count < before[1]:
            what = f"The row count of segment {segment} falls."
        else:
            return
        self.answer.breach(
            what,
            Place(source, before[3], f"{before[1]} rows up to {shown(before[0])}, {before[2]}"),
            Place(source, line, f"{count} rows up to {shown(ts)}, {save[2]}"),
            key=str(segment),
        )


class FlushConfirmed(LogMonitor):
    """When a client is told that its flush is done."""

    name = "log-flush"
    property_id = "flush.confirmed_means_durable"
    rule = "A flush is called done only after its segments are flushed and the checkpoints have reached it."
    kinds = (
        "flush.order", "flush.state", "segment.flushed", "checkpoint.store", "segment.state", "save.receive",
        "segment.saved",
    )  # fmt: skip
    needs = ("flush.order", "flush.state")
    excused_by = ("segment.flushed", "checkpoint.store", "segment.state", "save.receive", "segment.saved")
    columns = ("source", "line", "kind", "key", "channel", "segment", "ts", "text")

    def __init__(self) -> None:
        super().__init__()
        self.sealed: dict[tuple[str, str, int], list[tuple[int, int]]] = {}
        self.gone: set[tuple[str, int]] = set()
        self.stored: dict[tuple[str, str], tuple[int, int]] = {}
        self.last_save: set[tuple[str, int]] = set()
        """Segments whose last rows were received: stored, they are durable, whatever the state is called."""

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, key, channel, segment, ts, text in rows:
            if kind == "save.receive":
                if text == "flush":
                    self.last_save.add((source, segment))
            elif kind == "segment.saved":
                if (source, segment) in self.last_save:
                    self.gone.add((source, segment))
            elif kind == "flush.order":
                self.sealed.setdefault((source, key, physical(ts)), []).append((segment, line))
            elif kind == "segment.flushed" or (kind == "segment.state" and text in ("Flushed", "Dropped")):
                self.gone.add((source, segment))
            elif kind == "checkpoint.store":
                self.stored[source, channel] = (ts, line)
            elif kind == "flush.state" and text == "done":
                self._done(source, line, key, ts)

    def _done(self, source: str, line: int, collection: str, ts: int) -> None:
        place = Place(source, line, f"flush up to {shown(ts)} is done")
        for segment, ordered in self.sealed.get((source, collection, physical(ts)), ()):
            self.answer.events += 1
            if (source, segment) not in self.gone:
                self.answer.breach(
                    f"A flush is called done before segment {segment} is flushed.",
                    Place(source, ordered, f"segment {segment} is sealed for it"),
                    place,
                    key=str(segment),
                )
        for (where, channel), (stored, stored_line) in sorted(self.stored.items()):
            if where == source and f"_{collection}v" in channel:
                self.answer.events += 1
                if physical(stored) < physical(ts):
                    self.answer.breach(
                        f"A flush is called done before the checkpoint of {channel} has reached it.",
                        Place(source, stored_line, f"checkpoint {shown(stored)}"),
                        place,
                        key=channel,
                    )


class RowsBelowCheckpoint(Monitor):
    """The rows that the broker holds at or below the stored checkpoint, against the recorded binlogs.

    The two have no common order; what is compared is what is there at the end: the last checkpoint of each
    channel, the last binlog records, and all messages. Segments that compaction has replaced are left out.
    """

    name = "rows-recorded"
    property_id = "flush.checkpoint_before_earliest_unsynced"
    rule = "Every row of the broker at or below the stored checkpoint is in a recorded binlog."
    kinds = ("broker.insert", "etcd.checkpoint", "etcd.segment", "etcd.binlog")
    needs = ("broker.insert", "etcd.checkpoint", "etcd.segment")
    excused_by = ("etcd.binlog", "etcd.segment")
    columns = ("source", "line", "kind", "channel", "key", "segment", "ts", "rows", "text", "value")

    def __init__(self) -> None:
        super().__init__()
        self.checkpoint: dict[str, tuple[int, int, str]] = {}
        self.segments: dict[int, tuple[str, str]] = {}
        self.entries: dict[int, dict[str, int]] = {}
        self.messages: dict[int, dict[int, tuple[int, int, int, str]]] = {}
        """By segment and id: a message that is read twice counts once."""
        self.unnamed = 0

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, channel, key, segment, ts, count, text, value in rows:
            if kind == "broker.insert":
                if segment and count:
                    self.messages.setdefault(segment, {})[line] = (ts, count, line, source)
                else:
                    self.unnamed += 1
            elif kind == "etcd.checkpoint":
                self.checkpoint[channel] = (ts, line, source)
            elif kind == "etcd.segment":
                self.segments[segment] = ("Compacted" if value else text, channel)
            elif text == "insert" and segment is not None:
                self.entries.setdefault(segment, {})[key] = count

    def close(self) -> Answer:
        """Compare what is there at the end."""
        done = Answer.from_dict(self.answer.as_dict())
        if self.unnamed:
            done.doubt("a message of the broker does not say its segment and rows", self.unnamed)
        for segment, found in sorted(self.messages.items()):
            state, channel = self.segments.get(segment, ("", ""))
            stored = self.checkpoint.get(channel)
            if state in ("", "Dropped", "Compacted"):
                done.report("A segment is gone or was compacted: its rows were not compared.")
            elif stored is not None and stored[0] < LARGEST:
                self._compare(done, segment, channel, stored, [*found.values()])
        return done

    def _compare(
        self,
        done: Answer,
        segment: int,
        channel: str,
        stored: tuple[int, int, str],
        found: list[tuple[int, int, int, str]],
    ) -> None:
        claimed = [message for message in found if message[0] <= stored[0]]
        total = sum(message[1] for message in claimed)
        recorded = max(self.entries.get(segment, {}).values(), default=0)
        done.events += len(claimed)
        if total > recorded:
            ts, count, line, source = claimed[-1]
            done.breach(
                f"{total - recorded} rows of segment {segment} lie at or below the checkpoint of {channel}, "
                f"and no binlog holds them: it has {recorded}, the broker {total}.",
                Place(stored[2], stored[1], f"checkpoint {shown(stored[0])}"),
                Place(source, line, f"the last of them: {count} rows at {shown(ts)}"),
                key=str(segment),
            )
