"""The watermark seen from a log at level INFO, without the broker.

What a query node fetches lies above the stored checkpoint of its own channel, for the checkpoint is a tick
that was consumed; and it does not belong to a segment that was flushed before. Three lines show it: the
checkpoint that is stored, the buffer of a segment (which tells the segment's channel), and the fetch. Lines
of one file are in order; those of different files are not, so that each file is judged by itself.

A query node that begins to read a channel reads again what was consumed before, while the data node, which
may be ahead of it, stores later checkpoints and flushes; and the position from which it reads was asked for
a moment earlier. So until a row comes that is younger than a second, a fetch is judged only by that position,
and not by what was flushed.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from tidemark.checks.evidence.monitors.base import Answer, LogMonitor, Place, seconds, shown
from tidemark.checks.evidence.table.schema import LARGEST, physical


class Fetch(NamedTuple):
    """Rows of one segment that a query node takes from its channel."""

    line: int
    ts: int
    rows: int
    age: int
    """Milliseconds from the timestamp to the line, by two clocks: shows whether the reader is behind."""


CAUGHT_UP = 1000
"""Milliseconds: rows that are younger come from the end of the channel."""


class Event(NamedTuple):
    """What a line says, as far as its kind has it."""

    source: str
    line: int
    kind: str
    channel: str
    segment: int
    ts: int


class Fetches(LogMonitor):
    """What is fetched, with the channel of its segment and the moment at which the channel's reader began."""

    kinds: ClassVar[tuple[str, ...]] = (
        "segment.buffer",
        "segment.add",
        "sync.start",
        "fetch.insert",
        "seek.pipeline",
    )
    excused_by: ClassVar[tuple[str, ...]] = ("seek.pipeline", "server.start")
    columns = ("source", "line", "kind", "channel", "segment", "ts", "rows", "at")

    def __init__(self) -> None:
        super().__init__()
        self.channel: dict[tuple[str, int], str] = {}
        self.waiting: dict[tuple[str, int], list[Fetch]] = {}
        """Fetches of segments whose channel is not known yet."""
        self.began: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
        """Per channel of a file the lines at which a reader began, and at which it had caught up, and the
        position from which it read."""

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, channel, segment, ts, count, at in rows:
            if kind == "fetch.insert":
                age = (at or 0) - physical(ts)
                fetch = Fetch(line, ts, count or 0, age)
                known = self.channel.get((source, segment))
                if known is None:
                    self.waiting.setdefault((source, segment), []).append(fetch)
                else:
                    self._take(source, known, segment, fetch)
            elif kind == "seek.pipeline":
                self.began.setdefault((source, channel), []).append((line, LARGEST, ts))
            elif not self._learn(Event(source, line, kind, channel, segment, ts)) and channel is not None:
                self._name(source, channel, segment)

    def _name(self, source: str, channel: str, segment: int) -> None:
        if (source, segment) not in self.channel:
            self.channel[source, segment] = channel
            for one in self.waiting.pop((source, segment), ()):
                self._take(source, channel, segment, Fetch(*one))

    def _take(self, source: str, channel: str, segment: int, fetch: Fetch) -> None:
        self._judge(source, channel, segment, fetch)
        began = self.began.get((source, channel))
        at = bisect_left(began, (fetch.line, 0)) - 1 if began else -1
        if began and at >= 0 and fetch.age < CAUGHT_UP:
            line, caught_up, position = began[at]
            began[at] = (line, min(caught_up, fetch.line), position)

    def _read_again(self, source: str, channel: str, fetch: Fetch) -> tuple[int, int] | None:
        """Line and position at which the reader of this fetch began, if it had not caught up yet."""
        began = self.began.get((source, channel), [])
        at = bisect_left(began, (fetch.line, 0)) - 1
        return (began[at][0], began[at][2]) if at >= 0 and fetch.line <= began[at][1] else None

    def _learn(self, event: Event) -> bool:
        """Take an event that is none of ``Fetches.kinds``; whether it is one."""
        raise NotImplementedError

    def _judge(self, source: str, channel: str, segment: int, fetch: Fetch) -> None:
        """A fetch, as soon as the channel of its segment is known."""
        raise NotImplementedError

    def close(self) -> Answer:
        """Fetches of segments of which no channel is known were not judged."""
        self.answer.reports = {
            name: n for name, n in self.answer.reports.items() if not name.startswith("Fetches of")
        }
        left = sum(map(len, self.waiting.values()))
        if left:
            self.answer.reports["Fetches of segments whose channel no line names (not judged)."] = left
        return self.answer


class FetchBelow(Fetches):
    """A fetch at or below a value of its own channel that only what was consumed can pass."""

    kinds: ClassVar[tuple[str, ...]] = (*Fetches.kinds, "server.start")
    passed_by = ("checkpoint.store", "")
    """Kind of event that raises the value, and what it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: dict[tuple[str, str], list[tuple[int, int]]] = {}
        """Per channel of a file the lines at which its value rose, and the values."""

    def _learn(self, event: Event) -> bool:
        if event.kind == "server.start":
            self._restart(event.source)
            return True
        if event.kind != self.passed_by[0]:
            return False
        marks = self.marks.setdefault((event.source, event.channel), [])
        if event.ts < LARGEST and (not marks or event.ts > marks[-1][1]):
            marks.append((event.line, event.ts))
        return True

    def _restart(self, source: str) -> None:
        """The stored value outlives a process."""

    def _judge(self, source: str, channel: str, segment: int, fetch: Fetch) -> None:
        line, ts, count, _ = fetch
        marks = self.marks.get((source, channel))
        at = bisect_left(marks, (line, 0)) - 1 if marks else -1
        if at < 0 or marks is None:
            return
        self.answer.events += 1
        stored_line, stored = self._read_again(source, channel, fetch) or marks[at]
        if ts <= stored:
            self.answer.breach(
                f"Rows are fetched {seconds(stored, ts)} below {self.passed_by[1]} of their channel "
                f"{channel}.",
                Place(source, stored_line, f"{self.passed_by[1]} {shown(stored)}"),
                Place(source, line, f"{count} rows of segment {segment} at {shown(ts)}"),
                key=channel,
            )


class FetchBelowCheckpoint(FetchBelow):
    """At level INFO: against the stored checkpoint."""

    name = "log-watermark"
    property_id = "timetick.watermark_promise"
    rule = "No row is fetched at or below the stored checkpoint of its own channel."
    kinds = (*FetchBelow.kinds, "checkpoint.store")
    needs = ("fetch.insert", "checkpoint.store")
    passed_by = ("checkpoint.store", "the stored checkpoint")


class FetchBelowService(FetchBelow):
    """At level DEBUG: against the service time, which says exactly what was consumed."""

    name = "log-service-time"
    property_id = "timetick.watermark_promise"
    rule = "No row is fetched at or below the service time of its own channel (level DEBUG)."
    kinds = (*FetchBelow.kinds, "tsafe.next")
    needs = ("fetch.insert", "tsafe.next")
    passed_by = ("tsafe.next", "the service time")

    def _restart(self, source: str) -> None:
        """A new process has consumed nothing."""
        self.marks = {key: value for key, value in self.marks.items() if key[0] != source}


class FetchOfFlushed(Fetches):
    """Rows that come for a segment that is flushed already: no binlog will hold them."""

    name = "log-flushed-segment"
    property_id = "flush.flushed_is_complete"
    rule = "No row is fetched for a segment that was flushed before."
    kinds = (*Fetches.kinds, "segment.flushed")
    needs = ("segment.flushed", "fetch.insert")

    def __init__(self) -> None:
        super().__init__()
        self.flushed: dict[tuple[str, int], int] = {}

    def _learn(self, event: Event) -> bool:
        if event.kind != "segment.flushed":
            return False
        self.flushed.setdefault((event.source, event.segment), event.line)
        return True

    def _judge(self, source: str, channel: str, segment: int, fetch: Fetch) -> None:
        line, ts, count, _ = fetch
        if self._read_again(source, channel, fetch) is not None:
            return
        self.answer.events += 1
        flushed = self.flushed.get((source, segment))
        if flushed is not None and flushed < line:
            self.answer.breach(
                f"{count} rows come for segment {segment}, which was flushed before.",
                Place(source, flushed, f"segment {segment} is flushed"),
                Place(source, line, f"{count} rows of it at {shown(ts)}"),
                key=str(segment),
            )


class RowsUnsynced(Fetches):
    """Rows that a query node has taken and a checkpoint has passed, against the saves of their segment."""

    name = "log-unsynced"
    property_id = "flush.checkpoint_before_earliest_unsynced"
    rule = "No checkpoint is stored at or above a fetched row before a save of its segment has reached it."
    kinds = (*Fetches.kinds, "checkpoint.store", "save.receive", "segment.compacted")
    needs = ("fetch.insert", "checkpoint.store", "save.receive")
    excused_by = ("seek.pipeline", "save.receive", "segment.compacted")

    def __init__(self) -> None:
        super().__init__()
        self.stored: dict[tuple[str, str], int] = {}
        self.saved: dict[tuple[str, int], int] = {}
        self.rows: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
        """Per channel of a file what no checkpoint has passed: timestamp, segment, line."""

    def _learn(self, event: Event) -> bool:
        source, line, kind, channel, segment, ts = event
        if kind in ("save.receive", "segment.compacted"):  # what has no position is taken for all rows
            position = ts if kind == "save.receive" and ts is not None else LARGEST
            self.saved[source, segment] = max(position, self.saved.get((source, segment), 0))
            return True
        if kind != "checkpoint.store" or ts >= LARGEST:
            return kind == "checkpoint.store"
        key = (source, channel)
        self.stored[key] = ts
        taken = self.rows.pop(key, [])
        self.rows[key] = [row for row in taken if row[0] > ts]
        for at, number, fetched in (row for row in taken if row[0] <= ts):
            self.answer.events += 1
            if self.saved.get((source, number), 0) < at:
                self.answer.breach(
                    f"The checkpoint of {channel} passes rows of segment {number} that no save has.",
                    Place(source, fetched, f"rows of segment {number} at {shown(at)}"),
                    Place(source, line, f"checkpoint {shown(ts)}"),
                    key=channel,
                )
        return True

    def _judge(self, source: str, channel: str, segment: int, fetch: Fetch) -> None:
        """Rows at or below the checkpoint came behind the watermark, or again: that is another claim."""
        key = (source, channel)
        if fetch.ts > self.stored.get(key, 0) and self._read_again(source, channel, fetch) is None:
            self.rows.setdefault(key, []).append((fetch.ts, segment, fetch.line))
