"""A counterexample as a diagram: Mermaid text, and a self-contained SVG for the HTML page.

Who acts in a counterexample, and who gets a message: the lanes and arrows of its diagrams.

A step of the implementation names its process, and a message by a label such as ``deliver node 1#3
store.write``. A step of a specification names the nodes among its parameters (``Step.lanes``).
"""

import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from tidemark.checks.report.forms.trace_text import change_text
from tidemark.checks.verdicts.counterexample import Counterexample, Step

PROTOCOL = "protocol"
"""The lane of steps that name no node."""

_MESSAGE = re.compile(
    r"(?P<verb>deliver|overtake|reply|lose reply|drop|duplicate|delay) "
    r"(?P<sender>.+?)#\d+ (?P<receiver>.+)\.[^. ]+(?: .*)?"
)
_INCARNATION = re.compile(r"@\d+$")
_BACK = ("reply", "lose reply")
_LOST = ("lose reply", "drop", "delay")


class Arrow(NamedTuple):
    """A message of a step: numbers of the lanes, and whether it does not arrive (now)."""

    source: int
    target: int
    lost: bool = False


class Lanes:
    """The lanes of a counterexample, in order of appearance."""

    def __init__(self, trace: Counterexample) -> None:
        pairs = [_ends(step) for step in trace.steps]
        found = dict.fromkeys(name for pair in pairs for name in (pair[0], pair[1]) if name)
        self.names: list[str] = list(found) or [PROTOCOL]
        self._at = {name: number for number, name in enumerate(self.names)}

    def of(self, step: Step) -> int:
        """The lane on which a step happens: that of the receiver for a message that arrives."""
        arrow = self.arrow(step)
        if arrow is None:
            return self._at.get(_ends(step)[0], 0)
        return arrow.source if arrow.lost else arrow.target

    def arrow(self, step: Step) -> Arrow | None:
        """The message of a step, if it is one between two lanes."""
        source, target, lost = _ends(step)
        if not target or source == target:
            return None
        return Arrow(self._at[source], self._at[target], lost)


def _ends(step: Step) -> tuple[str, str, bool]:
    """From whom, to whom (empty: no other node), and whether it is lost on the way."""
    if step.lanes:
        return step.lanes[0], step.lanes[1] if len(step.lanes) > 1 else "", False
    if not step.actor:
        return PROTOCOL, "", False
    message = _MESSAGE.fullmatch(step.action)
    if message is None:
        return step.actor, "", False
    sender, receiver = _INCARNATION.sub("", message["sender"]), message["receiver"]
    verb = message["verb"]
    ends = (receiver, sender) if verb in _BACK else (sender, receiver)
    return *ends, verb in _LOST


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
