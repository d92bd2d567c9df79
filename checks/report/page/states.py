"""The graph of a small state space as SVG: states in columns by their distance from an initial state."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from tidemark.checks.report.graph import search_states, state_label
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.result import RunResult
from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.manifest import AnyEntry, InstanceEntry, instance_of

MOST = 60
"""States of a graph that is drawn: of more nothing can be seen."""
GRAPHS = 8
"""Graphs of a page."""
FOLDER = "graphs"
_STEPS = 500
"""Actions with all their arguments: each is tried in each state."""

_COLUMN = 120
_ROW = 46
_RADIUS = 12
_SWEEPS = 6

_TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
    'orient="auto">'
    '<path class="head" d="M0 0l8 4l-8 4z"/></marker></defs>'
)
"""The head of an arrow."""

Parents = Mapping[State, tuple[State, Step] | None]


def graphs_of(entries: Iterable[AnyEntry], result: RunResult, *, build: Path) -> list[tuple[str, str]]:
    """Names and graphs of the first small instances of a run.

    The graph of an instance that was not judged again is taken from the build folder.
    """
    sizes = _sizes(result)
    known = {task.partition("/")[2] for task in result.taken_over}
    named = {entry.name: entry for entry in entries if isinstance(entry, InstanceEntry)}
    chosen = [entry for name, entry in named.items() if 0 < sizes.get(name, 0) <= MOST][:GRAPHS]
    for entry in chosen:
        path = _path(entry.name, build)
        if entry.name not in known or not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_drawn(entry), encoding="utf-8")
    return _read([entry.name for entry in chosen], build)


def _drawn(entry: InstanceEntry) -> str:
    """The graph; empty if there is more to draw than the counts say: those may be up to symmetry."""
    instance = instance_of(entry)
    try:
        return state_graph(instance) if len(Interpreter(instance).steps) <= _STEPS else ""
    except BadInputError:
        return ""


def kept_graphs(result: RunResult, *, build: Path) -> list[tuple[str, str]]:
    """The graphs that the run itself has left in the build folder."""
    return _read([name for name, size in _sizes(result).items() if size <= MOST], build)[:GRAPHS]


def _read(names: Iterable[str], build: Path) -> list[tuple[str, str]]:
    paths = [(name, _path(name, build)) for name in names]
    found = [(name, path.read_text(encoding="utf-8")) for name, path in paths if path.exists()]
    return [(name, text) for name, text in found if text]


def _sizes(result: RunResult) -> dict[str, int]:
    """States of the instances that were searched."""
    sizes: dict[str, int] = {}
    for one in result.judgements:
        subject, distinct = one.verdict.subject, one.verdict.counts.get("distinct", 0)
        if distinct and subject.judge in ("explore", "interpreted"):
            sizes[subject.instance] = max(distinct, sizes.get(subject.instance, 0))
    return sizes


def _path(name: str, build: Path) -> Path:
    return build / FOLDER / (re.sub(r"[^A-Za-z0-9._-]+", "-", name) + ".svg")


def state_graph(instance: Instance, *, limit: int = MOST) -> str:
    """All states within the bounds and all steps between them. Raises BadInputError beyond ``limit``."""
    interpreter = Interpreter(instance)
    parents, edges = search_states(interpreter, limit)
    places = _places(parents, [(one, two) for one, _, two in edges])
    width = max(x for x, _ in places.values()) + _COLUMN // 2
    height = max(y for _, y in places.values()) + _ROW
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [f'<svg class="graph" role="img" aria-label="states of {escape(instance.name)}" {size}>', _TIP]
    steps: dict[tuple[State, State], list[str]] = {}
    for one, step, two in edges:
        steps.setdefault((one, two), []).append(str(step))
    parts += [_edge(places[one], places[two], labels) for (one, two), labels in steps.items()]
    claims = interpreter.spec.of_kind("invariant", "lemma")
    first = next(iter(parents))
    for number, (state, (x, y)) in enumerate(places.items()):
        broken = [prop.id for prop in claims if not interpreter.holds(prop, state)]
        kinds = ["node", *(["first"] if parents[state] is None else []), *(["breaks"] if broken else [])]
        title = [f"state {number}", *(f"breaks {name}" for name in broken)]
        title += state_label(instance, first, state) or ["as at the start"]
        parts.append(
            f'<g><circle class="{" ".join(kinds)}" cx="{x}" cy="{y}" r="{_RADIUS}"/>'
            f'<text x="{x}" y="{y + 4}" text-anchor="middle">{number}</text>'
            f"<title>{escape(chr(10).join(title))}</title></g>"
        )
    return "\n".join([*parts, "</svg>"])


def _places(parents: Parents, edges: Sequence[tuple[State, State]]) -> dict[State, tuple[int, int]]:
    """The centre of each state, in the order of the search: a column for each distance from the start; within
    a column by the mean place of the neighbours in the columns beside it.
    """
    depth: dict[State, int] = {}
    for state, link in parents.items():  # in the order of the search: the parent comes first
        depth[state] = 0 if link is None else depth[link[0]] + 1
    columns: list[list[State]] = [[] for _ in range(max(depth.values()) + 1)]
    for state, at in depth.items():
        columns[at].append(state)
    near: dict[State, list[State]] = {state: [] for state in parents}
    for one, two in edges:
        if abs(depth[one] - depth[two]) == 1:
            near[one].append(two)
            near[two].append(one)
    middle = {state: float(at) for column in columns for at, state in enumerate(column)}
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            ranked = {
                s: sum(middle[n] for n in near[s]) / len(near[s]) if near[s] else middle[s] for s in column
            }
            column.sort(key=ranked.__getitem__)
            shift = -len(column) / 2
            middle |= {state: at + shift for at, state in enumerate(column)}
    tallest = max(map(len, columns))
    place = {
        state: (
            _COLUMN // 2 + number * _COLUMN,
            _ROW + round((at + (tallest - len(column)) / 2) * _ROW),
        )
        for number, column in enumerate(columns)
        for at, state in enumerate(column)
    }
    return {state: place[state] for state in parents}


def _edge(start: tuple[int, int], end: tuple[int, int], labels: Sequence[str]) -> str:
    """An arrow; one that leads back, or stays in its column, is bent."""
    (x1, y1), (x2, y2) = start, end
    title = f"<title>{escape(', '.join(labels))}</title>"
    if start == end:
        curve = f"M{x1 - 6} {y1 - 10}c-14 -26 26 -26 12 0"
    else:
        bend = 0 if x2 > x1 else 34 if x2 < x1 else 26
        middle = ((x1 + x2) // 2 + (bend if x1 == x2 else 0), (y1 + y2) // 2 - (bend if x1 != x2 else 0))
        fx, fy = _towards(start, middle, _RADIUS)
        tx, ty = _towards(end, middle, _RADIUS + 3)
        curve = f"M{fx} {fy}Q{middle[0]} {middle[1]} {tx} {ty}"
    return f'<path class="edge" marker-end="url(#tip)" d="{curve}">{title}</path>'


def _towards(start: tuple[int, int], end: tuple[int, int], distance: int) -> tuple[int, int]:
    """The point so far from ``start`` on the way to ``end``."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    return round(start[0] + dx / length * distance), round(start[1] + dy / length * distance)
