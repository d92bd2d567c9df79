"""Which section of the implementation is which action of a specification: one table a protocol, as data.

The table is ``manifest/actions.toml`` of the protocol. Programs read from it what an event at a point of
preemption means; ``tidemark show actions`` prints it, and ``impl/README.md`` shows it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from tidemark.models.manifest.errors import ManifestError
from tidemark.models.manifest.strict import Strict
from tidemark.models.refinement.events import EventRow
from tidemark.models.rooms import PROTOCOLS, protocol_files

FILE = "manifest/actions.toml"


class Row(Strict):
    """One row: actions that are one section of code, or follow one another within one. ``note`` limits the
    row to some of their cases; ``before``: the await before the section; ``original``: the place in the
    original, with its source.
    """

    actions: tuple[str, ...] = Field(min_length=1)
    note: str = ""
    section: str
    before: str = ""
    original: str = ""

    def cells(self) -> tuple[str, str, str, str]:
        """The row as it is printed."""
        actions = ", ".join(self.actions) + (f" ({self.note})" if self.note else "")
        return (actions, self.section, self.before, self.original)


class ActionTable(Strict):
    """The table of one protocol.

    Attributes:
        row: its rows; written as tables by their actions, with the note in parentheses.
        variants: variants of the protocol that programs and drivers follow, if these have other actions, each
            as "module:Class".
        elsewhere: actions that are no section of this implementation: steps of what surrounds it.
        faults: actions that are failures: a step is one only where the explorer injected a fault, or an event
            says why it fails of itself.
        event: what a step may be, by the event of the simulation that begins it; written ``steps``: event ->
            actions, and ``stutters``: event -> why nothing changes; of injected faults ``injected.steps`` and
            ``injected.stutters``. An event is a label, and may be followed by ``by`` and a task.
    """

    row: tuple[Row, ...] = Field(min_length=1)
    variants: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    event: tuple[EventRow, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _with_events(cls, data: dict[str, Any]) -> dict[str, Any]:
        if "event" in data:
            raise ValueError(
                'write events under [steps]: "LABEL" = "ACTION", and [stutters]: "LABEL" = "WHY"'
            )
        rows = data.get("row", {})
        if isinstance(rows, list):
            raise ValueError("write rows as tables by their actions:  [row.ACTION]")  # noqa: TRY004
        rest = {key: value for key, value in data.items() if key not in ("steps", "stutters", "injected")}
        rest["row"] = [_row(actions, row) for actions, row in rows.items()]
        injected = data.get("injected", {})
        tables = [(data, False), (injected, True)]
        return {**rest, "event": [row for table, fault in tables for row in _events(table, fault=fault)]}

    @model_validator(mode="after")
    def _fits(self) -> ActionTable:
        known = self.actions()
        for event in self.event:
            for action in event.actions:
                if action not in known:
                    raise ValueError(f"the event {event.label!r} leads to {action!r}, which is in no row")
                if action in self.faults and not event.fault and not event.cause:
                    raise ValueError(
                        f"the event {event.label!r} leads to {action!r}, which is a fault: mark the "
                        "event as a fault, or say the cause"
                    )
        if unknown := [name for name in self.faults if name not in known]:
            raise ValueError(f"the fault {unknown[0]!r} is in no row")
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

    def actions(self) -> frozenset[str]:
        """All actions that the table knows."""
        return frozenset((*self.elsewhere, *(name for row in self.row for name in row.actions)))

    def text(self) -> str:
        """The table in Markdown."""
        cells = [row.cells() for row in self.row]
        width = 4 if any(cell[3] for cell in cells) else 3
        head = ("action", "section", "await before it", "original")[:width]
        lines = [head, ("---",) * width, *(cell[:width] for cell in cells)]
        return "\n".join(
            "|" + "|".join(f" {cell} ".replace("  ", " ") for cell in line) + "|" for line in lines
        )


def _row(key: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row by its actions, and what limits it in parentheses."""
    actions, _, note = key.partition(" (")
    return {"actions": actions.split(", "), "note": note.removesuffix(")"), **row}


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
