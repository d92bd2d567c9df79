"""One execution as it was recorded: its steps, its end, what it found."""

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tidemark.models.simulation import Footprint, Violation


class Ending(StrEnum):
    """How an execution ended."""

    COMPLETE = "complete"
    VIOLATING = "violating"
    BLOCKED = "blocked"
    CUT = "cut"
    MERGED = "merged"


class Step(NamedTuple):
    """One step of a recording."""

    enabled: tuple[str, ...]
    pick: int
    footprint: Footprint

    @property
    def label(self) -> str:
        """Label of the event that was picked."""
        return self.enabled[self.pick]


@dataclass(slots=True)
class ExecutionRecord:
    """One execution.

    Attributes:
        final: outcome; None unless the execution is complete.
        covered: what the program says that the execution has exercised.
        history: digest of the callbacks that ran, in their order, if they are recorded.
        timers_spent: armed timers were left alone because the declared number of firings was used up.
    """

    ending: Ending
    trace: list[Step]
    final: Hashable
    violation: Violation | None
    visible_steps: int
    timers_spent: bool
    covered: frozenset[str] = frozenset()
    history: bytes = b""

    @property
    def picks(self) -> tuple[int, ...]:
        """The choices: together with the program, the whole execution."""
        return tuple(step.pick for step in self.trace)
