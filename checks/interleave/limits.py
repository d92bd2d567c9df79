"""Limits of a search. Reaching one makes the result inconclusive, never a pass."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.manifest.reduction import Reduction
from tidemark.models.simulation import Violation

__all__ = ["Options", "Reduction"]


TELLING = 0.5
"""Seconds between two words about progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionLimits:
    """How far a search may go."""

    steps: int = 2_000
    """Steps of one execution. An execution that is cut makes the result inconclusive."""
    cut: int | None = None
    """Executions that are cut, after which the search ends: it is inconclusive already. None: no limit."""
    total: int | None = None
    """Steps of all executions together. None: no limit."""
    executions: int | None = None
    """Executions in all, blocked ones included. None: no limit."""
    seconds: float | None = None
    """Wall time. None: no limit. Results that are cut by it differ from run to run."""

    def __post_init__(self) -> None:
        for name in ("steps", "cut", "total", "executions", "seconds"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and value > 0):
                raise BadInputError(
                    f"the limit of {name} is {value!r}", remedy="give a positive number, or leave it out"
                )


class Meter:
    """Counts executions and time against limits."""

    def __init__(self, limits: ExecutionLimits) -> None:
        self._limits = limits
        self._began = self._told = time.perf_counter()
        self.executions = 0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._began

    def is_time_to_tell(self) -> bool:
        """Tell whether the last telling is long enough ago."""
        now = time.perf_counter()
        if now - self._told < TELLING:
            return False
        self._told = now
        return True

    def reached(self, steps: int) -> str | None:
        """Return which limit is reached after so many steps, in words, or None."""
        limits = self._limits
        if limits.total is not None and steps >= limits.total:
            return f"the limit of {limits.total} steps is reached"
        if limits.executions is not None and self.executions >= limits.executions:
            return f"the limit of {limits.executions} executions is reached"
        if limits.seconds is not None and self.seconds >= limits.seconds:
            return f"the limit of {limits.seconds:g} seconds is reached"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to search. The defaults are the ones for a gate."""

    reduction: Reduction = Reduction.SLEEP_SETS
    limits: ExecutionLimits = field(default_factory=ExecutionLimits)
    stop_at_violation: bool = False
    """End the search at the first violation."""
    stop_at: frozenset[str] = frozenset()
    """End it at the first violation of one of these claims."""
    live: tuple[str, ...] = ()
    """Ids of leads_to properties that no endless fair run of the program may break; states are merged."""
    histories: bool = False
    """Merge executions that meet with equal histories of callbacks. Rests on code being deterministic."""
    memories: bool = False
    """Merge executions that meet with equal memories: what tasks, callbacks and timers can reach. Of programs
    that record histories."""
    classes: bool = False
    """Collect digests of the Mazurkiewicz traces."""
    audit: int = 20
    """Random executions that an exhaustive search must explain: it has seen their outcomes, violations and,
    where states are merged, their states as well; there they are fewer if the states are few. 0: no audit."""
    check_every: int = 997
    """Run the first execution, and each one whose number is one more than a multiple of this, twice. 0:
    never."""

    def is_enough(self, violations: Iterable[Violation]) -> bool:
        """Tell whether the search may end with what was found."""
        return any(self.stop_at_violation or violation.claim in self.stop_at for violation in violations)
