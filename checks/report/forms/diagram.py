"""A counterexample as a diagram: Mermaid text, and a self-contained SVG for the HTML page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tidemark.checks.report.forms.lanes import Arrow, Lanes
from tidemark.checks.report.forms.trace_text import change_text
from tidemark.checks.verdicts.counterexample import Counterexample

_LINE = 17
_PAD = 10
_GAP = 8
"""Between the boxes of two steps."""
_TOP = 34
_CHAR = 6.7
"""Width of one character of the monospaced 11 px font, in pixels."""
_LANE = 64
"""Least distance of two lanes."""


def mermaid(trace: Counterexample) -> str:
    """A Mermaid sequence diagram: a participant per lane, an arrow per message, a note per step."""
    lanes = Lanes(trace)
    lines = ["sequenceDiagram"]
    lines += [f"  participant L{number} as {_plain(lane)}" for number, lane in enumerate(lanes.names)]
    for number, step in enumerate(trace.steps, start=1):
        if trace.loop_start is not None and number == trace.loop_start + 1:
            lines.append("  loop for ever")
        here, arrow = lanes.of(step), lanes.arrow(step)
        source, target = (here, here) if arrow is None else (arrow.source, arrow.target)
        sign = "--x" if arrow is not None and arrow.lost else "->>"
        lines.append(f"  L{source}{sign}L{target}: {number}. {_plain(step.label)}")
        changes = [_plain(change_text(change)) for change in trace.changes(number)]
        if changes:
            lines.append(f"  Note over L{here}: {'<br/>'.join(changes)}")
    if trace.loop_start is not None and trace.loop_start < len(trace.steps):
        lines.append("  end")
    elif trace.loop_start is not None:
        lines.append("  Note over L0: from here on nothing happens, for ever")
    lines.append(f"  Note over L0: fails: {_plain(trace.failing)}")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Mermaid reads ``;`` and ``#`` as syntax."""
    return text.translate({ord("#"): "#35;", ord(";"): "#59;"})


def svg(trace: Counterexample) -> str:
    """The same as inline SVG: lanes on the left with a mark per step and an arrow per message, on the right
    the step with what it changes; time goes downwards. Colours come from the page's style. A step has its
    number in ``data-step``.
    """
    lanes = Lanes(trace)
    rows = list(_rows(trace, lanes))
    bottom = rows[-1].bottom if rows else _TOP
    distance = max(_LANE, *(int(len(name) * _CHAR) + 2 * _PAD for name in lanes.names))
    places = [_PAD + distance // 2 + number * distance for number in range(len(lanes.names))]
    left = _PAD + distance * len(places) + _PAD
    widest = max([len(line) for row in rows for line in row.lines] + [24])
    width = max(left + int(widest * _CHAR) + 3 * _PAD, int((len(trace.failing) + 8) * _CHAR) + 2 * _PAD)
    height = bottom + 40
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [f'<svg class="trace" role="img" aria-label="counterexample" {size}>']
    for name, middle in zip(lanes.names, places, strict=True):
        parts.append(f'<text class="lane" x="{middle}" y="18" text-anchor="middle">{escape(name)}</text>')
        parts.append(f'<line class="life" x1="{middle}" y1="26" x2="{middle}" y2="{bottom + 6}"/>')
    for number, row in enumerate(rows, start=1):
        parts += _draw(number, row, places=places, left=left, width=width - left - _PAD)
    parts.append(
        f'<text class="fails" x="{_PAD}" y="{height - 12}">fails: {escape(trace.failing)}</text></svg>'
    )
    return "\n".join(parts)


class _Row:
    """One step: its lane, its message, its lines (action, then changes) and its place."""

    def __init__(self, lane: int, arrow: Arrow | None, lines: list[str], top: int, *, in_loop: bool) -> None:
        self.lane = lane
        self.arrow = arrow
        self.lines = lines
        self.top = top
        self.bottom = top + _LINE * len(lines) + _PAD
        self.in_loop = in_loop


def _rows(trace: Counterexample, lanes: Lanes) -> Iterator[_Row]:
    top = _TOP
    for number, step in enumerate(trace.steps, start=1):
        lines = [f"{number}. {step.label}", *(change_text(change) for change in trace.changes(number))]
        lines += [f"({step.note})"] if step.note else []
        in_loop = trace.loop_start is not None and number > trace.loop_start
        row = _Row(lanes.of(step), lanes.arrow(step), lines, top, in_loop=in_loop)
        yield row
        top = row.bottom + _GAP


def _draw(number: int, row: _Row, *, places: list[int], left: int, width: int) -> Iterator[str]:
    yield f'<g class="{"step loop" if row.in_loop else "step"}" data-step="{number}">'
    level = row.top + _LINE // 2 + _PAD // 2
    if row.arrow is not None:
        yield from _arrow(row.arrow, places, level)
    yield f'<line class="lead" x1="{places[row.lane]}" y1="{level}" x2="{left}" y2="{level}"/>'
    yield f'<circle cx="{places[row.lane]}" cy="{level}" r="4"/>'
    height = row.bottom - row.top
    yield f'<rect x="{left}" y="{row.top}" width="{width}" height="{height}" rx="5"/>'
    for at, line in enumerate(row.lines):
        kind = "action" if at == 0 else "change"
        yield f'<text class="{kind}" x="{left + _PAD}" y="{row.top + _LINE * (at + 1)}">{escape(line)}</text>'
    yield "</g>"


def _arrow(arrow: Arrow, places: list[int], level: int) -> Iterator[str]:
    """From lane to lane; one that is lost ends half-way in a cross."""
    start, end = places[arrow.source], places[arrow.target]
    sign = 1 if end > start else -1
    if arrow.lost:
        end = (start + end) // 2
        cross = f"M{end - 4} {level - 4}l8 8m0 -8l-8 8"
        yield f'<path class="message lost" d="M{start} {level}H{end}{cross}"/>'
        return
    tip = end - 5 * sign
    head = f"M{tip} {level}l{-7 * sign} -4v8z"
    yield f'<path class="message" d="M{start} {level}H{tip - 5 * sign}"/><path class="head" d="{head}"/>'
