"""A counterexample as data: decoded states, the actions between them, and what failed.

Judges build it; ``forms.bundle`` writes it in every form that a reader may want.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

Scalar = bool | int | str | None
Value = Scalar | tuple[Scalar, ...]
"""A decoded value: Bool -> bool, Nat/Int -> int, Enum -> str, Sort -> int, Map -> tuple (row-major)."""

Axes = Sequence[Sequence[Scalar]]


class Frozen(BaseModel):
    """Never changes. What checks it is built when the first one is made: most commands make only a few."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class Shape(StrEnum):
    """How the listed steps refute the property."""

    RUN = "run"
    """A run from an initial state; the last state (or last step) breaks the property."""
    LASSO = "lasso"
    """A run whose end repeats for ever from ``loop_start`` (liveness)."""
    INDUCTION = "induction"
    """One step from a state which satisfies every assumed invariant but need not be reachable."""


class Model(Frozen):
    """The bounded instance whose interpreter can run the steps again."""

    protocol: str = Field(min_length=1)
    """Reference ``module:Class``."""
    bounds: dict[str, int | tuple[int, int]]
    constants: dict[str, Any] = Field(default_factory=dict)


class Step(Frozen):
    """One action with the state after it."""

    action: str = Field(min_length=1)
    """Name of the fired action (of an implementation run: what the lane did)."""
    args: dict[str, Scalar] = Field(default_factory=dict)
    """Argument by parameter name, in declared order."""
    after: dict[str, Value]
    actor: str = ""
    """Who acted (a process or lane), for the sequence diagram; empty if the model does not say."""
    lanes: tuple[str, ...] = ()
    """The nodes that a step of a specification names: who acts, and the receiver of a message, if any."""
    note: str = ""

    @property
    def label(self) -> str:
        """The action as it is shown, for example ``start_sync(segment=1)``."""
        given = ", ".join(f"{name}={show(value)}" for name, value in self.args.items())
        return f"{self.action}({given})" if given else self.action


class Change(NamedTuple):
    """One changed field: its name with the map index, and the value before and after."""

    field: str
    before: Scalar
    after: Scalar


class Counterexample(Frozen):
    """Initial state, steps, and the conjunct that failed.

    ``axes`` gives for each map the values of each key, so that ``task[1,3]`` can be shown for a flat
    row-major tuple; a map without an entry is shown with a flat index.
    """

    shape: Shape = Shape.RUN
    initial: dict[str, Value]
    steps: tuple[Step, ...] = ()
    failing: str = Field(min_length=1)
    """The failing conjunct (or the unmet goal) as text."""
    axes: dict[str, tuple[tuple[Scalar, ...], ...]] = Field(default_factory=dict)
    model: Model | None = None
    """Where the interpreter can run the steps again; None for runs of an implementation."""
    token: str = ""
    """The replay token of a run of the implementation."""
    loop_start: int | None = None
    """For a lasso: the index of the state (0 = initial) to which the last step leads back."""

    @model_validator(mode="after")
    def _consistent(self) -> Counterexample:
        if (self.shape is Shape.LASSO) != (self.loop_start is not None):
            raise ValueError("loop_start is given for a lasso, and only for a lasso")
        if self.loop_start is not None and not 0 <= self.loop_start <= len(self.steps):
            raise ValueError(f"loop_start {self.loop_start} is not the index of a state of the trace")
        fields = set(self.initial)
        for number, step in enumerate(self.steps, start=1):
            if set(step.after) != fields:
                odd = sorted(set(step.after) ^ fields)
                raise ValueError(
                    f"step {number} ({step.action}) has other fields than the initial state: {odd}"
                )
        return self

    def states(self) -> list[dict[str, Value]]:
        """All states in order, beginning with the initial one."""
        return [self.initial, *(step.after for step in self.steps)]

    def changes(self, number: int) -> list[Change]:
        """What step ``number`` (1-based) changed, by field and map index, in field order."""
        states = self.states()
        before, after = states[number - 1], states[number]
        found: list[Change] = []
        for name in self.initial:
            found += _changed(name, before[name], after[name], self.axes.get(name))
        return found


def _changed(name: str, before: Value, after: Value, axes: Axes | None) -> list[Change]:
    if isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [Change(f"{name}[{index_text(at, axes)}]", old, new) for at, (old, new) in pairs if old != new]
    if before == after:
        return []
    return [Change(name, _scalar(before), _scalar(after))]


def _scalar(value: Value) -> Scalar:
    return str(value) if isinstance(value, tuple) else value


def index_text(flat: int, axes: Axes | None) -> str:
    """The key of a row-major flat index, for example 7 with two and four key values -> ``1,3``."""
    if not axes:
        return str(flat)
    keys: list[str] = []
    for values in reversed(axes):
        flat, key = divmod(flat, len(values))
        keys.append(show(values[key]))
    return ",".join(reversed(keys))


def show(value: Value) -> str:
    """A value as the specification writes it, without quotes."""
    if isinstance(value, tuple):
        return f"({', '.join(map(show, value))})"
    return str(value).lower() if isinstance(value, bool) else str(value)
