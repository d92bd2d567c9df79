"""An execution that reaches the limit of steps: does it spin, does it starve a task, or is it merely long?

An endless execution says something only if it is fair, since nothing forces a loop or a network to leave
something out forever. It is taken to be fair if in its second half nothing was enabled all the time without
ever being picked. A task that waits for one and the same future all that time is starved. Both are bounds,
not proofs: the words say how many steps were seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tidemark.checks.interleave.executions.record import Step
from tidemark.models.simulation import Execution
from tidemark.models.simulation.loop.lane import LOCKS, WAKERS, waits_in, where

ENOUGH = 500
"""Steps of the second half below which nothing is claimed."""

Waiting = dict[int, object]
"""By task: the future for which it waits."""


def waiting(execution: Execution) -> Waiting:
    """Note for what each task waits."""
    return {id(task): getattr(task, "_fut_waiter", None) for task in _pending(execution)}


def judge(execution: Execution, half: Sequence[Step], before: Waiting) -> None:
    """Blame an execution that reached the limit.

    Args:
        execution: at the limit.
        half: the second half of its steps.
        before: for what each task waited where that half began.
    """
    if len(half) < ENOUGH or not fair(half):
        return
    after = waiting(execution)
    starved = [
        where(task)
        for task in _pending(execution)
        if waits_in(task) in LOCKS | WAKERS and before.get(id(task)) is after[id(task)]
    ]
    seen = f"in {len(half)} steps on end, in which everything that was enabled had its turn"
    if starved:
        execution.blame("starvation", f"a task was never served {seen}: {'; '.join(starved)}")
    elif all(len(step.enabled) == 1 and step.label.startswith("run ") for step in half):
        spinning = "; ".join(where(task) for task in _pending(execution))
        execution.blame("livelock", f"tasks spin without waiting for anything {seen}: {spinning}")


def fair(steps: Sequence[Step]) -> bool:
    """Tell whether nothing was enabled all the time and never picked."""
    always = set(steps[0].enabled)
    for step in steps:
        always.intersection_update(step.enabled)
        if not always:
            return True
    return always <= {step.label for step in steps}


def _pending(execution: Execution) -> list[asyncio.Task[object]]:
    lanes = [lane for lane in execution.world.every_lane if lane.alive and not lane.daemon]
    return [task for lane in lanes for task in lane.pending_tasks()]
