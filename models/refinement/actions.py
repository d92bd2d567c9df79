"""Which section of the implementation is which action of a specification: one table a protocol, as data.

The table is ``actions.toml`` in the protocol's folder. Programs and drivers read from it what an event at a
named preemption point is meant to be; ``tidemark show actions`` prints it, and ``impl/README.md`` shows it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tidemark.models.manifest.errors import ManifestError
from tidemark.models.refinement.events import EventRow
from tidemark.models.rooms import protocol_files

FILE = "actions.toml"


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Row(Strict):
    """One row: actions that are one section of code, or follow one another within one.

    Attributes:
        actions: names of the specification's actions.
        note: what limits the row to some of their cases.
        section: the code.
        before: the await before it; ``{0}``, ``{1}``, ... stand for the names of ``points``.
        original: the place in the original, with its source.
        points: preemption points of the implementation -> the action that follows, or those that may.
    """

    actions: tuple[str, ...] = Field(min_length=1)
    note: str = ""
    section: str
    before: str = ""
    original: str = ""
    points: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Row:
        for point, actions in self._at():
            if unknown := [name for name in actions if name not in self.actions]:
                raise ValueError(f"the point {point!r} leads to {unknown[0]!r}, which is not in its row")
        for number in range(len(self.points)):
            if f"{{{number}}}" not in self.before:
                raise ValueError(f"'before' does not mention the point {list(self.points)[number]!r}")
        return self

    def _at(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for point, actions in self.points.items():
            yield point, (actions,) if isinstance(actions, str) else actions

    def at(self, point: str) -> tuple[str, ...]:
        """The actions of this row that may follow a point."""
        return dict(self._at()).get(point, ())

    def cells(self) -> tuple[str, str, str, str]:
        """The row as it is printed."""
        actions = ", ".join(self.actions) + (f" ({self.note})" if self.note else "")
        return (
            actions,
            self.section,
            self.before.format(*(f"`{point}`" for point in self.points)),
            self.original,
        )


class ActionTable(Strict):
    """The table of one protocol.

    Attributes:
        row: its rows.
        variants: variants of the protocol that programs and drivers follow, if these have other actions, each
            as "module:Class".
        elsewhere: actions that are no section of this implementation: steps of what surrounds it.
        world: points of the simulated world -> the action that follows.
        event: what a step may be that an event of the simulation begins, beside what follows a point.
        faults: actions that are failures: a step is one only where the explorer injected a fault, or an event
            says why it fails of itself.
    """

    row: tuple[Row, ...] = Field(min_length=1)
    variants: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    world: dict[str, str] = Field(default_factory=dict)
    event: tuple[EventRow, ...] = ()
    faults: tuple[str, ...] = ()

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

    def events(self) -> tuple[EventRow, ...]:
        """Return the rows of all events: a point is the end of a wait at it."""
        pointed = {point: actions for point, actions in self.points.items() if not self._explained(point)}
        rows = [EventRow(label=f"resume {point} *", actions=actions) for point, actions in pointed.items()]
        return (*rows, *self.event)

    def _explained(self, point: str) -> bool:
        """Whether an event says all about a point: who waits there, or which values it names."""
        return any(row.label.startswith(f"resume {point} ") for row in self.event)

    @cached_property
    def points(self) -> dict[str, tuple[str, ...]]:
        """Every point with the actions that may follow it."""
        found: dict[str, tuple[str, ...]] = {point: (action,) for point, action in self.world.items()}
        for row in self.row:
            for point in row.points:
                found[point] = (*found.get(point, ()), *row.at(point))
        return found

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


@cache
def action_table(protocol: str) -> ActionTable:
    """The table of a protocol, by the name of its folder. Raises ManifestError."""
    for path in protocol_files(FILE):
        if path.parent.name == protocol:
            return load_actions(path)
    raise ManifestError(
        f"no table of actions of {protocol!r}", file=FILE, remedy=f"write models/protocols/{protocol}/{FILE}"
    )


def load_actions(path: Path) -> ActionTable:
    """Read one table. Raises ManifestError if it does not have the form above."""
    try:
        return ActionTable.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        name = f"{path.parent.name}/{path.name}"
        raise ManifestError(str(error), file=name, remedy="correct the table") from error
