"""How to search."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tidemark.checks.interleave.limits import ExecutionLimits
from tidemark.models.manifest.model import Reduction
from tidemark.models.simulation import Violation

__all__ = ["Options", "Reduction"]


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
