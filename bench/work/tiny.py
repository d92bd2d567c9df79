"""Two tasks that read, wait and write: by asyncio, and by the loop that is under control."""

from __future__ import annotations

import asyncio

from tidemark.bench.sample import Sample
from tidemark.bench.work.clock import Clock


async def two_tasks() -> int:
    """Return the value after two increments, one of which is lost in asyncio's own order."""
    cell = {"x": 0}

    async def increment() -> None:
        value = cell["x"]
        await asyncio.sleep(0)
        cell["x"] = value + 1

    await asyncio.gather(increment(), increment())
    return cell["x"]


def by_asyncio(*, runs: int) -> Sample:
    """One event loop after the other."""
    clock = Clock()
    outcomes = {asyncio.run(two_tasks()) for _ in range(runs)}
    return _sample(clock, outcomes, runs)


def by_control(*, runs: int) -> Sample:
    """One execution after the other, in asyncio's own order."""
    from tidemark.checks.interleave import Options, RandomWalk, explore_coroutine

    clock = Clock()
    walk = RandomWalk(seed=1, executions=runs)
    found = explore_coroutine(two_tasks, strategy=walk, options=Options(check_every=0))
    return _sample(clock, found.finals, found.statistics.executions)


def _sample(clock: Clock, outcomes: set[int] | set[object], runs: int) -> Sample:
    seconds, cpu_seconds = clock.seconds, clock.cpu_seconds
    return Sample(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        counts={"executions": runs},
        texts={"outcomes": str(sorted(map(str, outcomes)))},
        values={"rate": runs / cpu_seconds},
    )
