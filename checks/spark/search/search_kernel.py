"""What the distributed search asks of a kernel, and how a worker process gets one.

A kernel is never sent to a worker: its instance is, and every process builds the kernel once.

What one (round, partition) found out, as data that is written with its states and added up by the driver.

A task may run twice, so nothing is counted by side effect: the facts lie in the header of the file that the
task writes, the file is replaced as a whole, and the driver adds up one file per (round, partition).
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tidemark.checks.spark.states.packed_states import PackedStates, least
from tidemark.models.instance import Instance
from tidemark.spec.language.references import load_callable


@dataclass(frozen=True, kw_only=True)
class StateFinding:
    """States that violate an invariant: how many, and the least of them word by word."""

    count: int
    state: tuple[int, ...]


@dataclass(kw_only=True)
class StepFacts:
    """What the expansion of states found out. Adding is commutative and associative."""

    expanded: int = 0
    deadlocks: int = 0
    sent: int = 0
    """States sent to their owners, after the sent filter. Depends on the number of partitions."""
    generated: list[int] = field(default_factory=list)
    out_of_bounds: list[int] = field(default_factory=list)
    guards: int = 0
    events: set[str] = field(default_factory=set)

    def add(self, block: Expanded, *, expanded: int, sent: int) -> None:
        """Take in one expanded block; see Expanded for the fields."""
        self.expanded += expanded
        self.sent += sent
        self.deadlocks += block.deadlocks
        self.generated = _sum(self.generated, block.generated)
        self.out_of_bounds = _sum(self.out_of_bounds, block.out_of_bounds)
        self.guards |= block.guards
        self.events |= block.events

    def merge(self, other: StepFacts) -> None:
        """Add the facts of other states."""
        self.expanded += other.expanded
        self.sent += other.sent
        self.deadlocks += other.deadlocks
        self.generated = _sum(self.generated, other.generated)
        self.out_of_bounds = _sum(self.out_of_bounds, other.out_of_bounds)
        self.guards |= other.guards
        self.events |= other.events

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {**vars(self), "events": sorted(self.events)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StepFacts:
        """The inverse of ``to_json``."""
        return cls(**{**data, "events": set(data["events"])})


def _sum(one: list[int], two: list[int] | tuple[int, ...]) -> list[int]:
    if not one or not two:
        return list(one or two)
    return [a + b for a, b in zip(one, two, strict=True)]


def merge_states(into: dict[str, StateFinding], other: Mapping[str, StateFinding]) -> None:
    """Add counts and keep the least example, so that the result depends on no order."""
    for name, new in other.items():
        old = into.get(name)
        if old is None:
            into[name] = new
        else:
            into[name] = StateFinding(count=old.count + new.count, state=min(old.state, new.state))


def judge_states(kernel: SearchKernel, block: PackedStates) -> dict[str, StateFinding]:
    """Which invariants fail in the states of a block."""
    found = {}
    for name, rows in kernel.failing(block).items():
        bad = block[rows]
        found[name] = StateFinding(count=int(bad.shape[0]), state=tuple(int(word) for word in least(bad)))
    return found


def states_to_json(findings: Mapping[str, StateFinding]) -> dict[str, Any]:
    """State findings as plain data."""
    return {name: vars(item) for name, item in sorted(findings.items())}


def states_from_json(data: Mapping[str, Any]) -> dict[str, StateFinding]:
    """The inverse of ``states_to_json``."""
    return {name: StateFinding(count=f["count"], state=tuple(f["state"])) for name, f in data.items()}


BELOW_ZERO = "below zero"
"""No claim has this id. Such a step is an error of the protocol."""


@dataclass(frozen=True, kw_only=True)
class Expanded:
    """The successors of a block of states. The arrays may be reused by the next call."""

    successors: PackedStates
    """Those within the bounds, not yet free of duplicates."""
    parent: npt.NDArray[np.int64]
    """For each successor the row of the block that it comes from."""
    step: npt.NDArray[np.int32]
    """For each successor the number of the step, in the interpreter's order of steps."""
    generated: tuple[int, ...]
    """By action: enabled steps, those included that leave the bounds."""
    out_of_bounds: tuple[int, ...]
    """By action: steps beyond the bounds, which are neither counted as states nor followed."""
    deadlocks: int
    """States of the block without any step."""
    guards: int
    """Bit by guard conjunct: it held at least once, after those evaluated before it."""
    events: frozenset[str]
    """Ids of the claims about steps that occurred: broken transition invariants, reached witnesses.
    ``BELOW_ZERO`` if a step makes a natural number negative.
    """


class SearchKernel(Protocol):
    """Packed states of one instance: initial states, successors, invariants."""

    @property
    def words(self) -> int:
        """Words of a state."""

    @property
    def chunk(self) -> int:
        """States that may be expanded in one call."""

    def initial(self) -> PackedStates:
        """The initial states."""

    def expand(self, block: PackedStates) -> Expanded:
        """All successors of a block of at most ``chunk`` states; in the order of steps if the block is one
        state.
        """

    def failing(self, block: PackedStates) -> Mapping[str, npt.NDArray[np.bool_]]:
        """By invariant (lemmas too): the rows where it fails; those that hold everywhere are left out."""

    def unpack(self, row: tuple[int, ...]) -> tuple[Any, ...]:
        """The interpreter's state of one packed state."""


@cache
def kernel_of(instance: Instance, factory: str) -> SearchKernel:
    """The kernel of an instance, made once per process by the ``factory`` (``module:function``)."""
    kernel: SearchKernel = load_callable(factory, what="kernel")(instance)
    # Numba and the specification leave a million objects that never die; without this every task pays for
    # walking them.
    gc.collect()
    gc.freeze()
    return kernel


def task_done() -> None:
    """To be called at the end of a task: Spark's worker looks for garbage after each one.

    What was loaded for the first tasks never dies, and would be looked through every time. Seldom later: what
    is set aside while it is garbage stays for ever.
    """
    global _tasks  # noqa: PLW0603 - of this process
    _tasks += 1
    if _tasks & (_tasks - 1) == 0:
        gc.collect()
        gc.freeze()


_tasks = 0
