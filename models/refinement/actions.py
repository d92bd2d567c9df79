"""Which section of the implementation is which action of a specification: one table a protocol, as data.

The table is ``manifest/actions.toml`` of the protocol. Programs read from it what an event at a point of
preemption means; ``tidemark show actions`` prints it by action, with the functions that have the points.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from tidemark.models.manifest.errors import ManifestError
from tidemark.models.manifest.strict import Strict
from tidemark.models.refinement.events import EventRow
from tidemark.models.rooms import PROTOCOLS, ROOT, protocol_files

FILE = "manifest/actions.toml"


class ActionTable(Strict):
    """The table of one protocol.

    Attributes:
        variants: variants of the protocol that programs and drivers follow, if these have other actions, each
            as "module:Class".
        faults: actions that are failures: a step is one only where the explorer injected a fault, or an event
            says why it fails of itself.
        event: what a step may be, by the event of the simulation that begins it; written ``steps``: event ->
            actions, and ``stutters``: event -> why nothing changes; of injected faults ``injected.steps`` and
            ``injected.stutters``. An event is a label, and may be followed by ``by`` and a task.
    """

    variants: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    event: tuple[EventRow, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _with_events(cls, data: dict[str, Any]) -> dict[str, Any]:
        if "event" in data:
            raise ValueError(
                'write events under [steps]: "LABEL" = "ACTION", and [stutters]: "LABEL" = "WHY"'
            )
        rest = {key: value for key, value in data.items() if key not in ("steps", "stutters", "injected")}
        injected = data.get("injected", {})
        tables = [(data, False), (injected, True)]
        return {**rest, "event": [row for table, fault in tables for row in _events(table, fault=fault)]}

    @model_validator(mode="after")
    def _fits(self) -> ActionTable:
        for event in self.event:
            for action in event.actions:
                if action in self.faults and not event.fault and not event.cause:
                    raise ValueError(
                        f"the event {event.label!r} leads to {action!r}, which is a fault: mark the "
                        "event as a fault, or say the cause"
                    )
        if unknown := [name for name in self.faults if name not in self.actions()]:
            raise ValueError(f"no event leads to the fault {unknown[0]!r}")
        return self

    @cached_property
    def points(self) -> dict[str, tuple[str, ...]]:
        """Every point at which a step begins, with the actions that follow it unless they fail."""
        found: dict[str, tuple[str, ...]] = {}
        for row in self.event:
            if row.label.startswith("resume ") and not row.cause:
                point = row.label.split()[1]
                found[point] = tuple(dict.fromkeys((*found.get(point, ()), *row.actions)))
        return {point: actions for point, actions in found.items() if actions}

    def at(self, point: str) -> str | None:
        """The action that follows a point; None if none does, or if more must be known to say which."""
        actions = self.points.get(point, ())
        return actions[0] if len(actions) == 1 else None

    def actions(self) -> tuple[str, ...]:
        """All actions that events lead to, in the order of the table."""
        return tuple(dict.fromkeys(name for row in self.event for name in row.actions))

    def text(self) -> str:
        """The table in Markdown: by action the events that begin it, and where the code has their points."""
        lines = ["| action | begins with | in |", "| --- | --- | --- |"]
        for action in self.actions():
            labels = dict.fromkeys(row.label for row in self.event if action in row.actions)
            points = [label.split()[1] for label in labels if label.startswith("resume ")]
            places = dict.fromkeys(place for point in points for place in _sections().get(point, ()))
            cells = (action, ", ".join(f"`{label}`" for label in labels), ", ".join(places))
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines)


@cache
def _sections() -> dict[str, list[str]]:
    """By point of preemption the functions of the implementation that have it."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "impl").rglob("*.py")):
        for parent in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(parent, ast.ClassDef):
                continue
            methods = [one for one in parent.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
            for method in methods:
                words = (one.value for one in ast.walk(method) if isinstance(one, ast.Constant))
                for word in words:
                    if isinstance(word, str) and re.fullmatch(r"[a-z]+\.[a-z_]+", word):
                        found.setdefault(word, []).append(f"`{parent.name}.{method.name}`")
    return found


def _events(table: Mapping[str, Any], *, fault: bool) -> Iterator[dict[str, Any]]:
    """The rows of two tables, event -> what it may be, and event -> why it may be nothing."""
    for key, name in (("steps", "actions"), ("stutters", "stutter")):
        for event, said in table.get(key, {}).items():
            label, _, by = event.partition(" by ")
            several = isinstance(said, list) and isinstance(said[0], dict)
            for one in said if several else [said]:
                more = {**one} if isinstance(one, dict) else {key: one}
                what = more.pop(key)
                what = (what,) if key == "steps" and isinstance(what, str) else what
                yield {"label": label, "by": by or "*", "fault": fault, name: what, **more}


@cache
def action_table(protocol: str) -> ActionTable:
    """The table of a protocol, by the name of its folder. Raises ManifestError."""
    path = PROTOCOLS / protocol / FILE
    if path.is_file():
        return load_actions(path)
    raise ManifestError(
        f"no table of actions of {protocol!r}", file=FILE, remedy=f"write models/protocols/{protocol}/{FILE}"
    )


def tables() -> tuple[str, ...]:
    """The protocols that have one."""
    return tuple(path.parents[1].name for path in protocol_files(FILE))


def load_actions(path: Path) -> ActionTable:
    """Read one table. Raises ManifestError if it does not have the form above."""
    try:
        return ActionTable.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        name = f"{path.parents[1].name}/{FILE}"
        raise ManifestError(str(error), file=name, remedy="correct the table") from error
