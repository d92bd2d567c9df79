"""How to search."""

from dataclasses import dataclass, field
from enum import StrEnum

from checks.interleave.limits import Limits


class Reduction(StrEnum):
    """What an exhaustive search may leave out."""

    NONE = "none"
    """Nothing: every interleaving is run."""

    SLEEP_SETS = "sleep-sets"
    """Interleavings that are equivalent to one that was run, by the footprints of their steps."""

    STATES = "states"
    """Futures of declared states that were reached before. Rests on a promise of the program."""

    def text(self) -> str:
        """Return it in words, for a verdict line."""
        return {
            Reduction.NONE: "no reduction",
            Reduction.SLEEP_SETS: "sleep sets",
            Reduction.STATES: "equal declared states merged",
        }[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to search. The defaults are the ones for a gate."""

    reduction: Reduction = Reduction.SLEEP_SETS
    limits: Limits = field(default_factory=Limits)
    stop_at_violation: bool = False
    """End the search at the first violation."""
    classes: bool = False
    """Collect digests of the Mazurkiewicz traces."""
    audit: int = 20
    """Random executions that an exhaustive search must explain: it has seen their outcomes, violations and,
    where states are merged, their states as well. 0: no audit."""
    check_every: int = 997
    """Run the first execution, and each one whose number is one more than a multiple of this, twice. 0:
    never."""
