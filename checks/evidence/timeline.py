"""A picture per channel: when a message was appended, and which timestamp it carries.

To the right runs the oracle's time at which something happened, upwards the timestamp that it carries; both
in seconds from the first event. What is in time lies on the diagonal, a checkpoint below it, and a message
that comes behind its tick below the line of the ticks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import pyarrow as pa

from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.evidence.monitors.distribute import of_kinds
from tidemark.checks.evidence.monitors.run import ordered, rows
from tidemark.checks.evidence.monitors.ticks import physical_channel
from tidemark.checks.evidence.table.schema import LARGEST, physical

_WIDTH, _HEIGHT, _MARGIN = 900, 340, 54
_POINTS = 700
"""Points of one kind that are drawn; a long channel is thinned evenly, what is wrong never."""
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
_KINDS = (
    "broker.tick", "broker.insert", "broker.delete", "broker.ddl", "etcd.window", "etcd.checkpoint",
    "checkpoint.store", "flush.deliver", "fetch.insert", "segment.buffer", "segment.add", "server.start",
)  # fmt: skip


@dataclass
class _Picture:
    """The points of one channel, in milliseconds: when, and what."""

    points: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def add(self, sort: str, when: int, what: int) -> None:
        self.points.setdefault(sort, []).append((when, what))


def pictures(events: pa.Table, answers: Iterable[Answer]) -> list[tuple[str, str]]:
    """Title and SVG of the channels, those with violations first; at most eight."""
    wrong = {(place.source, place.line) for one in answers for b in one.breaches for place in b.places[-1:]}
    found: dict[str, _Picture] = {}
    _broker(events, found, wrong)
    _logs(events, found, wrong)
    drawn = [(name, one) for name, one in found.items() if sum(map(len, one.points.values())) > 1]
    drawn.sort(key=lambda item: ("wrong" not in item[1].points, item[0]))
    return [(f"Channel {name}", _svg(name, one)) for name, one in drawn[:_PICTURES]]


def _broker(events: pa.Table, found: dict[str, _Picture], wrong: set[tuple[str, int]]) -> None:
    """A message was appended when the greatest tick before it had been sent."""
    kinds = tuple(kind for kind in _KINDS if kind.startswith("broker."))
    columns = ("source", "line", "kind", "channel", "ts")
    now: dict[str, int] = {}
    for source, line, kind, channel, ts in rows(ordered(of_kinds(events, kinds), "line"), columns):
        picture = found.setdefault(channel, _Picture())
        at = physical(ts)
        when = max(at, now.get(channel, at))
        if kind == "broker.tick":
            now[channel] = when
        sort = "wrong" if (source, line) in wrong else "tick" if kind == "broker.tick" else "message"
        picture.add(sort, when, at)
    _store(events, found)


def _store(events: pa.Table, found: dict[str, _Picture]) -> None:
    """A checkpoint was stored about three seconds before the end of the window that was saved last."""
    saved = 0
    columns = ("kind", "channel", "ts")
    chosen = ordered(of_kinds(events, ("etcd.window", "etcd.checkpoint")), "line")
    for kind, channel, ts in rows(chosen, columns):
        if kind == "etcd.window":
            saved = max(saved, physical(ts))
        elif ts < LARGEST and physical_channel(channel) in found:
            when = max(saved - 3000, physical(ts))
            found[physical_channel(channel)].add("checkpoint", when, physical(ts))


def _logs(events: pa.Table, found: dict[str, _Picture], wrong: set[tuple[str, int]]) -> None:
    """Lines say when they were written. Fetches name a segment; other lines name its channel."""
    columns = ("source", "line", "kind", "channel", "segment", "ts", "at")
    chosen = ordered(of_kinds(events, _KINDS[5:]), "source")
    listed = list(rows(chosen, columns))
    of_segment = {(row[0], row[4]): row[3] for row in listed if row[2] in ("segment.buffer", "segment.add")}
    starts = [row[6] for row in listed if row[2] == "server.start" and row[6]]
    mine: dict[str, _Picture] = {}
    for source, line, kind, channel, segment, ts, at in listed:
        name = of_segment.get((source, segment)) if kind == "fetch.insert" else channel
        if name is None or at is None or ts is None or not 0 < ts < LARGEST:
            continue
        sort = {"checkpoint.store": "checkpoint", "flush.deliver": "flush", "fetch.insert": "fetch"}.get(kind)
        if sort:
            shown = "wrong" if (source, line) in wrong else sort
            mine.setdefault(name, _Picture()).add(shown, at, physical(ts))
    for name, picture in mine.items():
        for start in starts:
            picture.add("start", start, start)
        found[name] = picture


def _thinned(points: Sequence[tuple[int, int]], sort: str) -> Sequence[tuple[int, int]]:
    step = 1 if sort == "wrong" else max(1, len(points) // _POINTS)
    return points[::step]


def _svg(name: str, picture: _Picture) -> str:
    every = [point for points in picture.points.values() for point in points]
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
    order = [sort for sort in _LOOKS if sort in picture.points]
    for sort in order:
        parts += _marks(sort, _thinned(picture.points[sort], sort), x, y)
    parts += _legend(order, picture)
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


def _legend(order: Sequence[str], picture: _Picture) -> list[str]:
    parts: list[str] = []
    place = _MARGIN
    for sort in order:
        text, colour = _LOOKS[sort]
        label = f"{text} ({len(picture.points[sort]):,})"
        parts.append(f'<circle cx="{place + 5}" cy="12" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{place + 13}" y="16">{label}</text>')
        place += 26 + 7 * len(label)
    return parts
