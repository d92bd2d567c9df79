"""Random walks with the compiled kernel, for instances that are too large to search.

Many walks run side by side. All successors of each visited state are checked for violations and witnesses,
and one of those within the bounds is drawn with equal chances. A walk ends where no step leads further, or at
the greatest length, and a new one begins. The result depends on the seed only (unless a time limit ends it).
Walks can refute, and can reach; they cannot show that a claim holds.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tidemark.models.interpreted.interpreter import Step, below_zero
from tidemark.models.native.codec import State
from tidemark.models.native.kernel import Buffers, Kernel
from tidemark.models.native.search.path import Path, replayed
from tidemark.spec.language.spec import Property

WALKERS = 1024
"""Walks side by side."""
SHOW_EVERY = 0.2


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How long to walk. ``visits``: states visited by all walks together, repetitions included."""

    visits: int = 1_000_000
    depth: int = 200
    """Steps of one walk at most."""
    seconds: float | None = None
    first: bool = False
    """End with the first refutation."""


@dataclass(frozen=True)
class Sample:
    """The results of the walks. ``runs``: for each refuted claim or reached witness one run, by id, not the
    shortest. ``stuck``: a run to a state without an enabled step.
    """

    kernel: Kernel
    visits: int
    walks: int
    longest: int
    seconds: float
    runs: dict[str, Path]
    stuck: Path | None
    enabled: dict[str, int]
    """Steps that were enabled in visited states, by action."""
    taken: dict[str, int]
    """Steps that walks took, by action."""
    seed: int

    def run(self, prop: Property) -> Path | None:
        """The run that refutes a claim or reaches a witness."""
        return self.runs.get(prop.id)

    @property
    def silent(self) -> tuple[str, ...]:
        """Actions that were never enabled."""
        return tuple(name for name, count in self.enabled.items() if count == 0)


@numba.njit(cache=True)
def _draw(parent: Any, count: Any, chances: Any, chosen: Any) -> None:
    """For each row one of its successors, or -1: that with the greatest chance."""
    chosen[:] = -1
    for at in range(count):
        row = parent[at]
        if chosen[row] < 0 or chances[at] > chances[chosen[row]]:
            chosen[row] = at


class _Walks:
    def __init__(self, kernel: Kernel, depth: int, seed: int) -> None:
        self.kernel, self.depth = kernel, depth
        self.random = np.random.default_rng(seed)
        self.walkers = min(WALKERS, kernel.chunk)
        self.buffers = Buffers(kernel, self.walkers)
        self.initial = kernel.initial_block()
        self.origin = self.random.integers(0, len(self.initial), size=self.walkers)
        self.present = np.ascontiguousarray(self.initial[self.origin])
        self.length = np.zeros(self.walkers, dtype=np.int64)
        self.history = np.zeros((self.walkers, depth), dtype=np.int32)
        self.taken = np.zeros(max(1, kernel.plan.steps), dtype=np.int64)
        self.walks, self.longest = self.walkers, 0
        self.runs: dict[str, Path] = {}
        self.stuck: Path | None = None
        for claim, row in self._broken(self.present):
            self._keep(claim, int(row), None)

    def advance(self) -> None:
        """One step of every walk."""
        buffers, kernel = self.buffers, self.kernel
        buffers.seen[:] = 0
        count = kernel.run(self.present, buffers)
        if buffers.stats[:, 2].any():
            run = self._path(kernel.falls(self.present), None)
            raise below_zero(kernel.interpreter, run.states, run.steps)
        self._look(count)
        chosen = np.empty(self.walkers, dtype=np.int64)
        _draw(buffers.parent, count, self.random.random(max(1, count)), chosen)
        ends = (chosen < 0) | (self.length + 1 >= self.depth)
        goes = np.flatnonzero(chosen >= 0)
        steps = buffers.step[chosen[goes]]
        self.history[goes, self.length[goes]] = steps
        self.length[goes] += 1
        self.taken += np.bincount(steps, minlength=len(self.taken))
        self.present[goes] = buffers.successors[chosen[goes]]
        self.longest = max(self.longest, int(self.length.max()))
        self._restart(np.flatnonzero(ends))

    def _restart(self, rows: NDArray[np.int64]) -> None:
        self.origin[rows] = self.random.integers(0, len(self.initial), size=len(rows))
        self.present[rows] = self.initial[self.origin[rows]]
        self.length[rows] = 0
        self.walks += len(rows)

    def _look(self, count: int) -> None:
        buffers, kernel = self.buffers, self.kernel
        if self.stuck is None and not buffers.enabled.all():
            row = int(np.flatnonzero(buffers.enabled == 0)[0])
            self.stuck = self._path(row, None)
        for index in np.flatnonzero(buffers.seen).tolist():
            at = int(buffers.where[index])
            self._keep(kernel.step_claims[index], int(buffers.parent[at]), int(buffers.step[at]))
        for claim, at in self._broken(buffers.successors[:count]):
            self._keep(claim, int(buffers.parent[at]), int(buffers.step[at]))

    def _broken(self, block: NDArray[np.uint64]) -> list[tuple[Property, int]]:
        return [(self.kernel.state_claims[claim], row) for claim, row in self.kernel.broken(block)]

    @property
    def refuted(self) -> bool:
        """Has a run refuted a claim?"""
        spec = self.kernel.instance.spec
        return any(spec.property(claim).kind != "reachable" for claim in self.runs)

    def _keep(self, claim: Property, row: int, step: int | None) -> None:
        if claim.id not in self.runs:
            self.runs[claim.id] = self._path(row, step)

    def _path(self, row: int, step: int | None) -> Path:
        """The walk of a row, and one step more, taken again by the interpreter."""
        kernel = self.kernel
        numbers = self.history[row, : self.length[row]].tolist() + ([] if step is None else [step])
        states: list[State] = [kernel.codec.unpack(self.initial[self.origin[row]])]
        steps: list[Step] = [kernel.steps[number] for number in numbers]
        for taken in steps:
            states.append(kernel.interpreter.effect(states[-1], taken).state)
        return replayed(kernel.interpreter, states, steps)


def _unseen(_visits: int, _rate: float) -> None:
    """No progress is shown."""


def simulate(
    kernel: Kernel,
    *,
    budget: Budget | None = None,
    seed: int = 0,
    watch: Callable[[int, float], None] = _unseen,
) -> Sample:
    """Walk until the budget is used up; ``watch`` gets the visits so far and their number a second. Raises
    ValueError for a budget of nothing, or an instance without an initial state.
    """
    budget = budget if budget is not None else Budget()
    if budget.visits < 1 or budget.depth < 1:
        raise ValueError(f"a budget of {budget.visits} visits and {budget.depth} steps; take at least 1")
    if not len(kernel.initial_block()):
        raise ValueError(f"{kernel.instance.name} has no initial state")
    walks = _Walks(kernel, budget.depth, seed)
    begin = shown = time.perf_counter()
    visits = walks.walkers
    while visits < budget.visits:
        walks.advance()
        visits += walks.walkers
        now = time.perf_counter()
        if now - shown > SHOW_EVERY:
            shown = now
            watch(visits, visits / (now - begin))
        if budget.first and walks.refuted:
            break
        if budget.seconds is not None and now - begin > budget.seconds:
            break
    if visits == walks.walkers:
        walks.advance()  # the smallest budget looks at one step too
    actions = [action.name for action in kernel.instance.spec.actions]
    taken = dict.fromkeys(actions, 0)
    for step, count in zip(kernel.steps, walks.taken.tolist(), strict=False):
        taken[step.action] += count
    return Sample(
        kernel,
        visits,
        walks.walks,
        walks.longest,
        time.perf_counter() - begin,
        walks.runs,
        walks.stuck,
        dict(zip(actions, walks.buffers.stats[:, 0].tolist(), strict=True)),
        taken,
        seed,
    )
