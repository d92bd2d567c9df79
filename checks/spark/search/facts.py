"""What one (round, partition) found out, as data that is written with its states and added up by the driver.

A task may run twice, so nothing is counted by side effect: the facts lie in the header of the file that the
task writes, the file is replaced as a whole, and the driver adds up one file per (round, partition).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.checks.spark.search.search_kernel import Expanded, SearchKernel
from tidemark.checks.spark.states.packed_states import PackedStates, least


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
