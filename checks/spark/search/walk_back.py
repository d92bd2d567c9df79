"""From a state back to an initial state, over the level logs: no parent is ever stored.

The logs keep states only. The parent of a state of round k is found by expanding round k - 1 again, so that
a shortest counterexample costs about as much as the search up to its depth, and no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tidemark.checks.spark.search.rounds import Plan
from tidemark.checks.spark.states.packed_states import PackedStates

State = tuple[int, ...]
"""A packed state as plain numbers."""


class Origin(NamedTuple):
    """A packed state and the number of a step from it."""

    state: State
    step: int


def predecessor(plan: Plan, partition: int, *, target: State) -> Origin | None:
    """The least step from this partition's states of round ``plan.number`` - 1 to ``target``, if there is
    one.
    """
    wanted = np.array(target, np.uint64)
    best: Origin | None = None
    for rows in _frontier(plan, partition):
        block = plan.kernel.expand(rows)
        for hit in np.flatnonzero((block.successors == wanted).all(axis=1)):
            found = Origin(_plain(rows, int(block.parent[hit])), int(block.step[hit]))
            best = found if best is None else min(best, found)
    return best


def culprit(plan: Plan, partition: int, *, claim: str) -> State | None:
    """The least of this partition's states of round ``plan.number`` - 1 from which ``claim`` occurs in a
    step.

    Kernels tell only that a claim occurs in a block; such a block is taken apart, state by state.
    """
    best: State | None = None
    for rows in _frontier(plan, partition):
        if claim not in plan.kernel.expand(rows).events:
            continue
        for row in range(rows.shape[0]):
            state = _plain(rows, row)
            earlier = best is None or state < best
            if earlier and claim in plan.kernel.expand(rows[row : row + 1]).events:
                best = state
    return best


def _frontier(plan: Plan, partition: int) -> Iterator[PackedStates]:
    store, size = plan.store, plan.kernel.chunk
    _, frontier = store.open(store.log_path(plan.number - 1, partition), partition)
    for at in range(0, frontier.shape[0], size):
        yield frontier[at : at + size]


def _plain(rows: PackedStates, row: int) -> State:
    return tuple(int(word) for word in rows[row])


def walk_back(
    plan: Plan, target: State, depth: int, origins: Callable[[Plan, State], list[Origin]]
) -> tuple[list[State], list[int]]:
    """A shortest run to ``target``, a state of round ``depth``: its packed states and the numbers of its
    steps.

    ``origins`` looks for steps into a state in all partitions of one round. The least one is taken, so that
    the run does not depend on partitions. Raises RuntimeError if the logs do not hold a parent.
    """
    states, steps = [target], list[int]()
    for number in range(depth, 0, -1):
        found = origins(replace(plan, number=number), states[-1])
        if not found:
            raise RuntimeError(
                f"round {number - 1} of {plan.root} holds no state with a step to {states[-1]}"
            )
        best = min(found)
        states.append(best.state)
        steps.append(best.step)
    return states[::-1], steps[::-1]
