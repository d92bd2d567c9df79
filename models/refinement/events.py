"""Which actions a step of the implementation may be, by the event that begins it.

A step that has the effect of some action of the specification is not yet right: it must be the action that
its event stands for, with the arguments that the event names. What may follow an event is data: the tables
``steps`` and ``stutters`` of ``manifest/actions.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import Field, model_validator

from tidemark.models.interpreted.interpreter import Step
from tidemark.models.manifest.strict import Strict

if TYPE_CHECKING:
    from tidemark.models.simulation.loop.lane import Event

_NUMBER = re.compile(r"#\d+|@\d+")
_HOLE = re.compile(r"\\\{(\w+)\\\}|\\\*")


class Names(Protocol):
    """What a program knows about the names in its events."""

    def element(self, name: str, value: Any) -> Any:
        """Return the element of the specification that a parameter's value, as the event names it, is."""

    def condition(self, name: str, event: Event) -> bool:
        """Tell whether a condition that a row names holds in the step of an event."""


class EventRow(Strict):
    """One row: what a step may be that an event begins.

    Attributes:
        label: of the event, without numbers. ``*`` stands for any text, ``{p}`` for the value of the action's
            parameter ``p``; ``{p__form}`` says in which form it is named.
        by: the same for the name of the task that waits for the event.
        carries: parameter -> where the message of the event holds its value: number of the argument, then
            attributes or places, as in "0.position.ts".
        answer: of the answer that the event brings, with ``*``; empty for any.
        when: a condition of the program, by name, under which the row counts; empty for always.
        actions: what the step may be.
        stutter: why the step may change nothing; empty if it must not.
        fault: the event is a fault that the explorer injects.
        cause: why an action that is a fault happens here although none was injected.
    """

    label: str
    by: str = "*"
    carries: dict[str, str] = Field(default_factory=dict)
    answer: str = ""
    when: str = ""
    actions: tuple[str, ...] = ()
    stutter: str = ""
    fault: bool = False
    cause: str = ""

    @model_validator(mode="after")
    def _says_something(self) -> EventRow:
        if not self.actions and not self.stutter:
            raise ValueError(f"the event {self.label!r} has neither actions nor a reason for a stutter")
        return self


@dataclass(frozen=True, eq=False)
class _Fitting:
    """A row that fits a label, with the values that the label names."""

    row: EventRow
    answer: re.Pattern[str] | None
    named: tuple[tuple[str, str], ...]

    @property
    def depends(self) -> bool:
        """Whether it takes more than the label to know what it allows: the message, or the present state."""
        row = self.row
        return bool(row.carries or row.answer or row.when) or any("__" in name for name, _ in self.named)


@dataclass(frozen=True)
class Allowed:
    """What a step may be: actions with the values of some of their parameters, and whether it may stutter."""

    steps: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
    stutters: bool

    def permits(self, step: Step, params: tuple[str, ...]) -> bool:
        """Tell whether a step of the specification is one of them. ``params``: names of its parameters."""
        given = dict(zip(params, step.args, strict=True))
        return any(
            action == step.action and all(given.get(name, value) == value for name, value in named)
            for action, named in self.steps
        )

    def text(self) -> str:
        """Return it in words."""
        words = [
            f"{action}({', '.join(f'{name}={value}' for name, value in named)})"
            for action, named in self.steps
        ]
        return " or ".join([*words, *(["a stutter"] if self.stutters else [])]) or "no action"


class EventTable:
    """The rows of one protocol, asked by events. ``params``: the parameters of each action."""

    def __init__(self, rows: tuple[EventRow, ...], params: Mapping[str, tuple[str, ...]]) -> None:
        self._rows = [(row, _pattern(row.label), _pattern(row.by)) for row in rows]
        self._params = params
        self._fitting: dict[tuple[str, str, bool], tuple[_Fitting, ...]] = {}
        self._fixed: dict[tuple[str, str, bool], Allowed] = {}

    def allowed(self, event: Event, names: Names) -> Allowed:
        """Return what the step of an event may be. An event without a row may only stutter."""
        key = (event.label, event.owner, event.fault)
        known = self._fixed.get(key)
        if known is not None:
            return known
        fitting = self._fitting.get(key)
        if fitting is None:
            fitting = self._fitting[key] = self._find(*key)
        found = self._combine(fitting, event, names) if fitting else _NOTHING
        if not any(one.depends for one in fitting):
            self._fixed[key] = found
        return found

    def _combine(self, fitting: tuple[_Fitting, ...], event: Event, names: Names) -> Allowed:
        steps: list[tuple[str, tuple[tuple[str, Any], ...]]] = []
        stutters = False
        for one in fitting:
            answer = "" if event.message is None else event.message.answer
            if one.answer is not None and not one.answer.fullmatch(answer):
                continue
            if one.row.when and not names.condition(one.row.when, event):
                continue
            stutters = stutters or bool(one.row.stutter)
            try:
                carried = [(name, _carried(event, path)) for name, path in one.row.carries.items()]
            except IndexError:  # the message is shorter than the row says: the implementation is to blame
                continue
            named = [*one.named, *carried]
            values = {name.partition("__")[0]: names.element(name, value) for name, value in named}
            for action in one.row.actions:
                params = self._params.get(action, ())
                steps.append((action, tuple((name, values[name]) for name in params if name in values)))
        return Allowed(tuple(steps), stutters)

    def _find(self, label: str, owner: str, fault: bool) -> tuple[_Fitting, ...]:  # noqa: FBT001
        plain = _NUMBER.sub("", label)
        found = []
        for row, labelled, owned in self._rows:
            here, there = labelled.fullmatch(plain), owned.fullmatch(owner)
            if here is None or there is None or row.fault is not fault:
                continue
            named = (*here.groupdict().items(), *there.groupdict().items())
            found.append(_Fitting(row, _pattern(row.answer) if row.answer else None, named))
        return tuple(found)


_NOTHING = Allowed((), stutters=True)


def _pattern(template: str) -> re.Pattern[str]:
    def hole(found: re.Match[str]) -> str:
        return f"(?P<{found[1]}>[^ /]+)" if found[1] else ".*"

    return re.compile(_HOLE.sub(hole, re.escape(template)), re.DOTALL)


def _carried(event: Event, path: str) -> Any:
    """Follow a path into the arguments of the event's message."""
    assert event.message is not None
    value: Any = event.message.arguments
    for part in path.split("."):
        value = value[int(part)] if part.isdigit() else getattr(value, part)
    return value
