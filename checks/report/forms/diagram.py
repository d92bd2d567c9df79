"""A counterexample as a diagram: Mermaid text, and a self-contained SVG for the HTML page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tidemark.checks.report.forms.trace_text import change_text
from tidemark.checks.verdicts.counterexample import Counterexample

_LINE = 17
_PAD = 10
_LANE = 260
_CHAR = 6.7
"""Width of one character of the monospaced 11 px font, in pixels."""


def mermaid(trace: Counterexample) -> str:
    """A Mermaid sequence diagram: one participant per actor, one note per step."""
    lanes = _lanes(trace)
    lines = ["sequenceDiagram"]
    lines += [f"  participant L{number} as {_plain(lane)}" for number, lane in enumerate(lanes)]
    for number, step in enumerate(trace.steps, start=1):
        if trace.loop_start is not None and number == trace.loop_start + 1:
            lines.append("  loop for ever")
        lane = f"L{lanes.index(step.actor or lanes[0])}"
        lines.append(f"  {lane}->>{lane}: {number}. {_plain(step.label)}")
        changes = [_plain(change_text(change)) for change in trace.changes(number)]
        if changes:
            lines.append(f"  Note over {lane}: {'<br/>'.join(changes)}")
    if trace.loop_start is not None and trace.loop_start < len(trace.steps):
        lines.append("  end")
    elif trace.loop_start is not None:
        lines.append("  Note over L0: from here on nothing happens, for ever")
    lines.append(f"  Note over L0: fails: {_plain(trace.failing)}")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Mermaid reads ``;`` and ``#`` as syntax."""
    return text.translate({ord("#"): "#35;", ord(";"): "#59;"})


def _lanes(trace: Counterexample) -> list[str]:
    """Actors in order of appearance; one nameless lane if the model does not say who acts."""
    return list(dict.fromkeys(step.actor for step in trace.steps if step.actor)) or ["protocol"]


def svg(trace: Counterexample) -> str:
    """The same as inline SVG: lifelines side by side, time downwards; colours come from the page's style."""
    lanes = _lanes(trace)
    boxes = list(_boxes(trace, lanes))
    height = (boxes[-1].bottom if boxes else 40) + 48
    widest = max([len(line) for box in boxes for line in box.lines] + [30])
    lane_width = max(_LANE, int(widest * _CHAR) + 4 * _PAD)
    width = max(lane_width * len(lanes), int((len(trace.failing) + 8) * _CHAR)) + 2 * _PAD
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [f'<svg class="trace" role="img" aria-label="counterexample" {size}>']
    for number, lane in enumerate(lanes):
        middle = _PAD + number * lane_width + lane_width // 2
        parts.append(f'<text class="lane" x="{middle}" y="18" text-anchor="middle">{escape(lane)}</text>')
        parts.append(f'<line class="life" x1="{middle}" y1="26" x2="{middle}" y2="{height - 34}"/>')
    for box in boxes:
        parts += _draw(box, left=_PAD + box.lane * lane_width + _PAD, width=lane_width - 2 * _PAD)
    parts.append(
        f'<text class="fails" x="{_PAD}" y="{height - 12}">fails: {escape(trace.failing)}</text></svg>'
    )
    return "\n".join(parts)


class _Box:
    """One step: its lane, its lines (action, then changes) and its place."""

    def __init__(self, lane: int, lines: list[str], top: int, *, in_loop: bool) -> None:
        self.lane = lane
        self.lines = lines
        self.top = top
        self.bottom = top + _LINE * len(lines) + _PAD
        self.in_loop = in_loop


def _boxes(trace: Counterexample, lanes: list[str]) -> Iterator[_Box]:
    top = 34
    for number, step in enumerate(trace.steps, start=1):
        lines = [f"{number}. {step.label}", *(change_text(change) for change in trace.changes(number))]
        in_loop = trace.loop_start is not None and number > trace.loop_start
        box = _Box(lanes.index(step.actor or lanes[0]), lines, top, in_loop=in_loop)
        yield box
        top = box.bottom + 8


def _draw(box: _Box, *, left: int, width: int) -> Iterator[str]:
    kind = "step loop" if box.in_loop else "step"
    height = box.bottom - box.top
    yield f'<rect class="{kind}" x="{left}" y="{box.top}" width="{width}" height="{height}" rx="5"/>'
    for at, line in enumerate(box.lines):
        kind = "action" if at == 0 else "change"
        yield f'<text class="{kind}" x="{left + _PAD}" y="{box.top + _LINE * (at + 1)}">{escape(line)}</text>'
