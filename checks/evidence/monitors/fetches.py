"""The watermark seen from a log at level INFO, without the broker.

What a query node fetches lies above the stored checkpoint of its own channel, for the checkpoint is a tick
that was consumed; and it does not belong to a segment that was flushed before. Three lines show it: the
checkpoint that is stored, the buffer of a segment (which tells the segment's channel), and the fetch. Lines
of one file are in order; those of different files are not, so that each file is judged by itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, ClassVar

from tidemark.checks.evidence.monitors.base import Answer, Monitor, Place, seconds, shown
from tidemark.checks.evidence.table.schema import LARGEST


class FetchBelow(Monitor):
    """A fetch at or below a value of its own channel that only what was consumed can pass."""

    kinds: ClassVar[tuple[str, ...]] = (
        "segment.buffer",
        "segment.add",
        "sync.start",
        "fetch.insert",
        "server.start",
    )
    columns = ("source", "line", "kind", "channel", "segment", "ts", "rows")
    by = "source"
    within = "source"
    passed_by = ("checkpoint.store", "")
    """Kind of event that raises the value, and what it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.channel: dict[tuple[str, int], str] = {}
        self.marks: dict[tuple[str, str], list[tuple[int, int]]] = {}
        """Per channel of a file the lines at which its value rose, and the values."""
        self.waiting: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
        """Fetches of segments whose channel is not known yet."""

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, channel, segment, ts, count in rows:
            if kind == "fetch.insert":
                known = self.channel.get((source, segment))
                if known is None:
                    self.waiting.setdefault((source, segment), []).append((line, ts, count or 0))
                else:
                    self._judge(source, known, segment, (line, ts, count or 0))
            elif kind == self.passed_by[0]:
                marks = self.marks.setdefault((source, channel), [])
                if ts < LARGEST and (not marks or ts > marks[-1][1]):
                    marks.append((line, ts))
            elif kind == "server.start":
                self._restart(source)
            elif (source, segment) not in self.channel:
                self.channel[source, segment] = channel
                for one in self.waiting.pop((source, segment), ()):
                    self._judge(source, channel, segment, one)

    def _restart(self, source: str) -> None:
        """The stored value outlives a process."""

    def _judge(self, source: str, channel: str, segment: int, fetch: tuple[int, int, int]) -> None:
        line, ts, count = fetch
        marks = self.marks.get((source, channel))
        at = bisect_left(marks, (line, 0)) - 1 if marks else -1
        if at < 0 or marks is None:
            return
        self.answer.events += 1
        stored_line, stored = marks[at]
        if ts <= stored:
            self.answer.breach(
                f"Rows are fetched {seconds(stored, ts)} below {self.passed_by[1]} of their channel "
                f"{channel}.",
                Place(source, stored_line, f"{self.passed_by[1]} {shown(stored)}"),
                Place(source, line, f"{count} rows of segment {segment} at {shown(ts)}"),
                key=channel,
            )

    def close(self) -> Answer:
        """Fetches of segments that nobody names a channel of were not judged."""
        self.answer.reports = {
            name: n for name, n in self.answer.reports.items() if not name.startswith("Fetches of")
        }
        left = sum(map(len, self.waiting.values()))
        if left:
            self.answer.reports["Fetches of segments whose channel no line names (not judged)."] = left
        return self.answer


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


class FetchOfFlushed(Monitor):
    """Rows that come for a segment that is flushed already: no binlog will hold them."""

    name = "log-flushed-segment"
    property_id = "flush.flushed_is_complete"
    rule = "No row is fetched for a segment that was flushed before."
    kinds = ("segment.flushed", "fetch.insert")
    needs = ("segment.flushed", "fetch.insert")
    columns = ("source", "line", "kind", "segment", "ts", "rows")
    by = "source"
    within = "source"

    def __init__(self) -> None:
        super().__init__()
        self.flushed: dict[tuple[str, int], int] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        flushed, answer = self.flushed, self.answer
        for source, line, kind, segment, ts, count in rows:
            if kind == "segment.flushed":
                flushed.setdefault((source, segment), line)
                continue
            answer.events += 1
            before = flushed.get((source, segment))
            if before is not None:
                answer.breach(
                    f"{count} rows come for segment {segment}, which was flushed before.",
                    Place(source, before, f"segment {segment} is flushed"),
                    Place(source, line, f"{count} rows of it at {shown(ts)}"),
                    key=str(segment),
                )
