"""Ticks and the watermark, message by message as they stand in the broker's log."""

import re
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from tidemark.checks.evidence.monitors.base import Answer, LogMonitor, Monitor, Place, seconds, shown
from tidemark.checks.evidence.table.schema import LOGICAL_BITS

_NUMBERS = re.compile(r"\d+")
_VIRTUAL = re.compile(r"_\d+v\d+$")
_ROCKSMQ = 1 << 40
"""Ids of RocksMQ are larger, offsets of Kafka smaller."""
_TICK = "TIME_TICK"


class TickOrder(Monitor):
    """The ticks of a channel, in the order of the broker's log.

    Equal ticks are allowed: an idle channel repeats its value. After a coordinator has ended, the next one
    may begin lower; such a tick is reported.
    """

    name = "broker-ticks"
    property_id = "timetick.ticks_never_go_back"
    rule = "The ticks of a channel never decrease while one coordinator sends them."
    kinds = ("broker.tick",)
    columns = ("source", "line", "channel", "ts", "node")
    by = "channel"

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[str, tuple[int, int, str, str]] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        answer, last = self.answer, self.last
        for source, line, channel, ts, node in rows:
            before = last.get(channel)
            if before is None:
                last[channel] = (ts, line, source, node)
                continue
            if line == before[1]:
                continue
            answer.events += 1
            if ts < before[0]:
                self._back(channel, (ts, line, source, node), before)
            if ts == before[0]:
                answer.report("A tick repeats the one before (allowed: an idle channel repeats its value).")
            last[channel] = (ts, line, source, node)

    def _back(self, channel: str, now: tuple[int, int, str, str], before: tuple[int, int, str, str]) -> None:
        ts, line, source, node = now
        if node != before[3]:
            self.answer.report(
                "A tick goes back after a new coordinator has begun (allowed: it does not know the last one)."
            )
            return
        self.answer.breach(
            f"A tick of {channel} goes back by {seconds(before[0], ts)} while one coordinator sends them.",
            Place(before[2], before[1], f"tick {shown(before[0])} from {before[3]}"),
            Place(source, line, f"tick {shown(ts)} from {node}"),
            key=channel,
        )


class Watermark(Monitor):
    """Whatever is appended lies above every tick that is before it in its channel."""

    name = "broker-watermark"
    property_id = "timetick.watermark_promise"
    rule = "No message follows a tick at or above its timestamp in its channel."
    kinds = ("broker.tick", "broker.insert", "broker.delete", "broker.ddl")
    needs = ("broker.tick", "broker.insert")
    columns = ("source", "line", "kind", "channel", "ts", "node", "rows", "text")
    by = "channel"

    def __init__(self) -> None:
        super().__init__()
        self.highest: dict[str, tuple[int, int, str]] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        answer, highest = self.answer, self.highest
        for source, line, kind, channel, ts, node, count, text in rows:
            best = highest.get(channel)
            if kind == "broker.tick":
                if best is None or ts > best[0]:
                    highest[channel] = (ts, line, source)
            elif best is not None:
                answer.events += 1
                if ts <= best[0]:
                    what = f"{count} rows" if kind == "broker.insert" and count else text or kind[7:]
                    answer.breach(
                        f"A message of {channel} comes {seconds(best[0], ts)} behind a tick that has "
                        "passed it.",
                        Place(best[2], best[1], f"tick {shown(best[0])}"),
                        Place(source, line, f"{what} at {shown(ts)} from {node}"),
                        key=channel,
                    )


_Appended = tuple[tuple[int, ...], int, int, str, str, int]
"""Id, timestamp, term, type, file and line of a message."""


class Appended(Monitor):
    """What streaming nodes append, in the order of message ids, whatever that of the lines is."""

    kinds = ("wal.append",)
    columns = ("source", "line", "channel", "ts", "seq", "key", "text")
    by = "channel"

    def __init__(self) -> None:
        super().__init__()
        self.appended: dict[str, list[_Appended]] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, channel, ts, term, key, what in rows:
            place = tuple(map(int, _NUMBERS.findall(key)))
            self.appended.setdefault(channel, []).append((place, ts, term, what, source, line))

    def close(self) -> Answer:
        """All messages in the order of their ids."""
        done = Answer.from_dict(self.answer.as_dict())
        for channel, appended in sorted(self.appended.items()):
            appended.sort()
            if len({(len(one[0]), one[0][:1] > (_ROCKSMQ,)) for one in appended}) > 1:
                done.doubt(
                    f"messages of {channel} have ids of two kinds of broker, which have no common order"
                )
            elif any(one[0] == two[0] and one[:4] != two[:4] for one, two in pairwise(appended)):
                done.doubt(f"messages of {channel} have one id and two contents: they are of two logs")
            else:
                self._judge(done, channel, appended)
        return done

    @abstractmethod
    def _judge(self, done: Answer, channel: str, appended: list[_Appended]) -> None:
        """The messages of one channel in their order."""


class WalTicks(Appended):
    """The ticks of a channel, over every change of term."""

    name = "log-wal-ticks"
    property_id = "streaming.ticks_never_go_back"
    rule = "No tick that a streaming node says it has appended is below the one before it."

    def _judge(self, done: Answer, channel: str, appended: list[_Appended]) -> None:
        ticks = [one for one in appended if one[3] == _TICK]
        for before, tick in pairwise(ticks):
            done.events += 1
            if tick[1] < before[1]:
                done.breach(
                    f"A tick of {channel}, term {tick[2]}, goes back by {seconds(before[1], tick[1])} behind "
                    f"one of term {before[2]}.",
                    *(Place(one[4], one[5], f"tick {shown(one[1])}") for one in (before, tick)),
                    key=channel,
                )


class WalWatermark(Appended):
    """The promise of ticks; and whether the log has refused an earlier term."""

    name = "log-wal"
    property_id = "streaming.watermark_promise"
    rule = "No message that a streaming node says it has appended follows a tick at or above its timestamp."

    def _judge(self, done: Answer, channel: str, appended: list[_Appended]) -> None:
        tick, newest = None, 0
        for one in appended:
            _, ts, term, what, source, line = one
            if term < newest:
                done.report(
                    f"A message of {channel}, term {term}, stands behind one of term {newest}: the log does "
                    "not refuse what an earlier term appends, which streaming.FENCED assumes."
                )
            newest = max(newest, term)
            if what == _TICK:
                tick = one if tick is None or ts > tick[1] else tick
            elif tick is not None:
                done.events += 1
                if ts <= tick[1]:
                    done.breach(
                        f"A message of {channel}, term {term}, comes {seconds(tick[1], ts)} behind a "
                        f"tick of term {tick[2]} that has passed it.",
                        Place(tick[4], tick[5], f"tick {shown(tick[1])}"),
                        Place(source, line, f"{what} at {shown(ts)}"),
                        key=channel,
                    )


class TicksIssued(Monitor):
    """No tick is ahead of the oracle.

    Store and broker have no common order, but a stored checkpoint names a message: that message, and all
    before it in its channel, were in the log when the checkpoint was stored, so that their ticks lie below
    the window that was saved by then.
    """

    name = "ticks-issued"
    property_id = "timetick.ticks_were_issued"
    rule = "Ticks up to the message that a checkpoint names are below the window that was saved before it."
    excused_by = ("etcd.window",)
    kinds = ("etcd.window", "etcd.checkpoint", "broker.tick")
    needs = kinds
    columns = ("source", "line", "kind", "channel", "ts", "msg_id")
    within = "store"

    def __init__(self) -> None:
        super().__init__()
        self.windows: list[tuple[int, int]] = []
        self.limits: dict[str, list[tuple[int, int, int, str]]] = {}
        """Per physical channel: message, greatest timestamp, revision and file of the checkpoint."""
        self.next: dict[str, int] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, channel, ts, place in rows:
            if kind == "broker.tick":
                self._tick(source, line, channel, ts)
            elif kind == "etcd.window":
                self.windows.append((line, max(ts, self.windows[-1][1] if self.windows else 0)))
            elif place is not None:
                at = bisect_left(self.windows, (line, 0)) - 1
                if at >= 0:
                    limit = (place, self.windows[at][1], line, source)
                    self.limits.setdefault(physical_channel(channel), []).append(limit)

    def _tick(self, source: str, line: int, channel: str, ts: int) -> None:
        limits = self.limits.get(channel)
        if limits is None:
            return
        if channel not in self.next:
            limits.sort()
        at = self.next.get(channel, 0)
        while at < len(limits) and limits[at][0] < line:
            at += 1
        self.next[channel] = at
        if at == len(limits):
            return
        self.answer.events += 1
        _, window, revision, store = limits[at]
        if ts >> LOGICAL_BITS > window >> LOGICAL_BITS:
            self.answer.breach(
                f"A tick of {channel} is ahead of the oracle.",
                Place(store, revision, f"a later message is named; the window ends at {shown(window)}"),
                Place(source, line, f"tick {shown(ts)}"),
                key=channel,
            )


def physical_channel(channel: str) -> str:
    """The broker's topic of a virtual channel: ``by-dev-rootcoord-dml_0_47...v1`` is in ``..._dml_0``."""
    return _VIRTUAL.sub("", channel)


class RoundsBack(LogMonitor):
    """Versions before 2.1 say it when a source reports less than before."""

    name = "log-report-order"
    property_id = "ddl.reports_never_go_back"
    rule = "No line says that the timestamp of a report goes back."
    kinds = ("tick.back",)
    columns = ("source", "line", "node", "ts", "ts2")
    one_by_one = True

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, node, ts, before in rows:
            self.answer.events += 1
            if ts < before:
                self.answer.breach(
                    f"Source {node} reports less than before.",
                    Place(source, line, f"{shown(ts)} after {shown(before)}"),
                    key=str(node),
                )
