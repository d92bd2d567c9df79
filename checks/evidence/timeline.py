"""A picture per channel: when a message was appended, and which timestamp it carries.

To the right runs the oracle's time at which something happened, upwards the timestamp that it carries; both
in seconds from the first event. What is in time lies on the diagonal, a checkpoint below it, and a message
that comes behind its tick below the line of the ticks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.evidence.monitors.run import ordered, rows
from tidemark.checks.evidence.monitors.ticks import physical_channel
from tidemark.checks.evidence.table.events import Events
from tidemark.checks.evidence.table.schema import LARGEST, physical

_WIDTH, _HEIGHT, _MARGIN = 900, 340, 54
_POINTS = 1000
"""At most so many points of one kind are drawn; a long channel is thinned, what is wrong never."""
_PICTURES = 8
_LOOKS = {
    "tick": ("tick", "#6b7280"),
    "message": ("message", "#14506b"),
    "fetch": ("fetched rows", "#14506b"),
    "checkpoint": ("stored checkpoint", "#17714a"),
    "flush": ("flush asked", "#a15c00"),
    "start": ("process starts", "#7a3ea1"),
    "wrong": ("violation", "#b3261e"),
}
_BROKER = ("broker.tick", "broker.insert", "broker.delete", "broker.ddl")
_LOG_SORTS = {"checkpoint.store": "checkpoint", "flush.deliver": "flush", "fetch.insert": "fetch"}


@dataclass
class _Line:
    """Points of one sort, in milliseconds: when, and what. Of many, evenly spaced ones are kept."""

    points: list[tuple[int, int]] = field(default_factory=list)
    count: int = 0
    step: int = 1

    def add(self, when: int, what: int) -> None:
        if not self.count % self.step:
            self.points.append((when, what))
            if len(self.points) > _POINTS:
                del self.points[1::2]
                self.step *= 2
        self.count += 1


@dataclass
class _Picture:
    """What is drawn of one channel."""

    lines: dict[str, _Line] = field(default_factory=dict)
    wrong: list[tuple[int, int]] = field(default_factory=list)

    def add(self, sort: str, when: int, what: int) -> None:
        if sort == "wrong":
            self.wrong.append((when, what))
        else:
            self.lines.setdefault(sort, _Line()).add(when, what)

    @property
    def count(self) -> int:
        return sum(line.count for line in self.lines.values()) + len(self.wrong)

    def sorts(self) -> dict[str, tuple[int, list[tuple[int, int]]]]:
        """Sort -> how many there are, and those that are drawn."""
        found = {sort: (line.count, line.points) for sort, line in self.lines.items()}
        if self.wrong:
            found["wrong"] = (len(self.wrong), self.wrong)
        return {sort: found[sort] for sort in _LOOKS if sort in found}


def pictures(events: Events, answers: Iterable[Answer]) -> list[tuple[str, str]]:
    """Title and SVG of the channels, those with violations first; at most eight."""
    wrong = {(place.source, place.line) for one in answers for b in one.breaches for place in b.places[-1:]}
    found: dict[str, _Picture] = {}
    _broker(events, found, wrong)
    # A checkpoint was stored about three seconds before the end of the window that was saved last.
    saved = 0
    columns = ("kind", "channel", "ts", "line", "source")
    chosen = ordered(events.table(*columns, kinds=("etcd.window", "etcd.checkpoint")), "line")
    for kind, channel, ts in rows(chosen, columns[:3]):
        if kind == "etcd.window":
            saved = max(saved, physical(ts))
        elif ts < LARGEST and physical_channel(channel) in found:
            when = max(saved - 3000, physical(ts))
            found[physical_channel(channel)].add("checkpoint", when, physical(ts))
    _logs(events, found, wrong)
    drawn = [(name, one) for name, one in found.items() if one.count > 1]
    drawn.sort(key=lambda item: (not item[1].wrong, item[0]))
    return [(f"Channel {name}", _svg(name, one)) for name, one in drawn[:_PICTURES]]


def _broker(events: Events, found: dict[str, _Picture], wrong: set[tuple[str, int]]) -> None:
    """Channel by channel: a table of one has to fit into memory, all of them need not."""
    channels = [str(name) for (name,) in events.distinct("channel", kinds=_BROKER) if name is not None]
    sources = pa.array(sorted({source for source, _ in wrong}), pa.string())
    broken = events.distinct(
        "source", "line", "channel", kinds=_BROKER, where=pc.field("source").isin(sources)
    )
    with_breaches = {str(channel) for source, line, channel in broken if (source, line) in wrong}
    for name in sorted(channels, key=lambda one: (one not in with_breaches, one))[:_PICTURES]:
        columns = ("source", "line", "kind", "ts")
        mine = events.table(*columns, kinds=_BROKER, where=pc.field("channel") == name).sort_by("line")
        found[name] = _of_channel(mine, wrong)


def _of_channel(mine: pa.Table, wrong: set[tuple[str, int]]) -> _Picture:
    """A message was appended when the greatest tick before it had been sent."""
    picture = _Picture()
    now = -1
    for source, line, kind, ts in rows(mine, mine.column_names):
        at = physical(ts)
        when = max(at, now)
        if kind == "broker.tick":
            now = when
        sort = "wrong" if (source, line) in wrong else "tick" if kind == "broker.tick" else "message"
        picture.add(sort, when, at)
    return picture


def _logs(events: Events, found: dict[str, _Picture], wrong: set[tuple[str, int]]) -> None:
    """Lines say when they were written. Fetches name a segment; other lines name its channel."""
    named = events.distinct("source", "segment", "channel", kinds=("segment.buffer", "segment.add"))
    of_segment = {(source, segment): str(channel) for source, segment, channel in named if channel}
    starts = [int(str(at)) for (at,) in events.distinct("at", kinds=("server.start",)) if at]
    columns = ("source", "line", "kind", "channel", "segment", "ts", "at")
    mine: dict[str, _Picture] = {}
    for batch in events.batches(*columns, kinds=tuple(_LOG_SORTS)):
        for source, line, kind, channel, segment, ts, at in rows(pa.Table.from_batches([batch]), columns):
            name = of_segment.get((source, segment)) if kind == "fetch.insert" else channel
            if name is not None and at is not None and ts is not None and 0 < ts < LARGEST:
                sort = "wrong" if (source, line) in wrong else _LOG_SORTS[kind]
                mine.setdefault(name, _Picture()).add(sort, at, physical(ts))
    for name, picture in mine.items():
        for start in starts:
            picture.add("start", start, start)
        found[name] = picture


def _svg(name: str, picture: _Picture) -> str:
    sorts = picture.sorts()
    every = [point for _, points in sorts.values() for point in points]
    low = min(min(point) for point in every)
    high = max(max(point) for point in every) + 1
    span = max(high - low, 1)

    def x(when: int) -> float:
        return _MARGIN + (when - low) / span * (_WIDTH - _MARGIN - 10)

    def y(what: int) -> float:
        return _HEIGHT - 34 - (what - low) / span * (_HEIGHT - 64)

    parts = [
        f'<svg class="timeline" role="img" width="{_WIDTH}" height="{_HEIGHT}" ',
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="11" font-family="ui-monospace, monospace" ',
        'fill="currentColor">',
        f"<title>{escape(name)}: timestamps against the time at which they were seen</title>",
        _axes(span),
    ]
    for sort, (_, points) in sorts.items():
        parts += _marks(sort, points, x, y)
    parts += _legend({sort: count for sort, (count, _) in sorts.items()})
    return "".join([*parts, "</svg>"])


def _axes(span: int) -> str:
    right, bottom = _WIDTH - 10, _HEIGHT - 34
    return (
        f'<path d="M{_MARGIN} 30V{bottom}H{right}" fill="none" stroke="currentColor" opacity=".4"/>'
        f'<path d="M{_MARGIN} {bottom}L{right} 30" stroke="currentColor" stroke-dasharray="2 5" '
        'opacity=".4"/>'
        f'<text x="{_MARGIN}" y="{_HEIGHT - 18}">0 s</text>'
        f'<text x="{right}" y="{_HEIGHT - 18}" text-anchor="end">{span / 1000:.1f} s: when it happened</text>'
        f'<text x="4" y="{bottom}">0 s</text><text x="4" y="40">{span / 1000:.1f} s</text>'
    )


def _marks(sort: str, points: Sequence[tuple[int, int]], x: Any, y: Any) -> list[str]:
    colour = _LOOKS[sort][1]
    if sort == "start":
        bottom = _HEIGHT - 34
        return [
            f'<path d="M{x(at):.1f} 30V{bottom}" stroke="{colour}" stroke-dasharray="4 3"/>'
            for at, _ in points
        ]
    if sort in ("tick", "checkpoint"):
        line = " ".join(f"{x(when):.1f},{y(what):.1f}" for when, what in points)
        drawn = [f'<polyline points="{line}" fill="none" stroke="{colour}"/>']
    else:
        drawn = []
    size = {"tick": 1.0, "wrong": 5.0, "checkpoint": 3.0, "flush": 4.0}.get(sort, 1.8)
    drawn += [
        f'<circle cx="{x(when):.1f}" cy="{y(what):.1f}" r="{size}" fill="{colour}"/>' for when, what in points
    ]
    return drawn


def _legend(counts: Mapping[str, int]) -> list[str]:
    parts: list[str] = []
    place = _MARGIN
    for sort, count in counts.items():
        text, colour = _LOOKS[sort]
        label = f"{text} ({count:,})"
        parts.append(f'<circle cx="{place + 5}" cy="12" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{place + 13}" y="16">{label}</text>')
        place += 26 + 7 * len(label)
    return parts
