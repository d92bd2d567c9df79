"""The results of a search: states, counts, and where each claim was decided."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidemark.models.native.codec import Block
from tidemark.models.native.kernel import Kernel
from tidemark.models.native.search.table import Visited
from tidemark.models.native.symmetry import Symmetry
from tidemark.spec.language.spec import Property


@dataclass(frozen=True)
class Hit:
    """Where a claim was first decided: a state, or a step from ``state`` to the packed ``target``."""

    state: int
    step: int | None = None
    target: tuple[int, ...] = ()


@dataclass
class SearchCounters:
    """The counts of a search; saved and restored with it."""

    initial: int = 0
    next_row: int = 0
    levels: list[int] = field(default_factory=lambda: [0])
    """First state of each level; the last entry is the end of the last complete level."""
    generated: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    out_of_bounds: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    guards: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    deadlocks: int = 0
    first_deadlock: int | None = None
    state_hits: dict[int, Hit] = field(default_factory=dict)
    step_hits: dict[int, Hit] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def trend(self) -> float:
        """Size of the last complete level as a multiple of the one before; 0 if there is none."""
        if len(self.levels) < 3:
            return 0.0
        before, begin, end = self.levels[-3:]
        return (end - begin) / max(1, begin - before)


@dataclass(frozen=True)
class SearchResult:
    """A finished or stopped search. ``stopped`` is empty if all states within the bounds were visited."""

    kernel: Kernel
    visited: Visited
    totals: SearchCounters
    stopped: str
    symmetry: Symmetry | None = None
    """If given, the states are representatives: each stands for its orbit."""
    """If given, only its claims and deadlocks are decided."""

    @property
    def complete(self) -> bool:
        """Were all states visited?"""
        return not self.stopped

    @property
    def distinct(self) -> int:
        """States within the bounds."""
        return self.visited.count

    @cached_property
    def unreduced(self) -> int:
        """Number of states within the bounds that the visited ones represent."""
        return self.distinct if self.symmetry is None else self.symmetry.unreduced(self.states)

    @property
    def generated(self) -> int:
        """Initial states and all successors."""
        return self.totals.initial + int(self.totals.generated.sum())

    @property
    def depth(self) -> int:
        """Levels of the breadth-first search, the initial one included."""
        return len(self.totals.levels) - 1

    @property
    def out_of_bounds(self) -> int:
        """Successors outside the bounds."""
        return int(self.totals.out_of_bounds.sum())

    @property
    def states(self) -> Block:
        """The packed states, in order of discovery."""
        return self.visited.states

    @property
    def rate(self) -> float:
        """Distinct states a second."""
        return self.distinct / max(self.totals.seconds, 1e-9)

    def generated_by_action(self) -> dict[str, int]:
        """Successors of each action, those outside included."""
        names = [action.name for action in self.kernel.instance.spec.actions]
        return dict(zip(names, self.totals.generated.tolist(), strict=True))

    def out_of_bounds_by_action(self) -> dict[str, int]:
        """Successors of each action outside the bounds."""
        names = [action.name for action in self.kernel.instance.spec.actions]
        return dict(zip(names, self.totals.out_of_bounds.tolist(), strict=True))

    def hit(self, prop: Property) -> Hit | None:
        """Where an invariant or lemma was broken first, a transition invariant broken, a witness reached.
        Raises KeyError for a claim that this search does not decide.
        """
        for claims, hits in (
            (self.kernel.state_claims, self.totals.state_hits),
            (self.kernel.step_claims, self.totals.step_hits),
        ):
            for index, claim in enumerate(claims):
                if claim.id == prop.id:
                    return hits.get(index)
        raise KeyError(f"{prop.id} is not decided by a search of states and steps")
