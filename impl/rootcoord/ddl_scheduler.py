"""The scheduler of DDL tasks: timestamps, and the least one below which everything is done."""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from impl.ports import Preemption
from impl.rootcoord.ports import Oracle
from impl.rootcoord.report import Timestamp
from impl.stepped_lock import SteppedLock

Execute = Callable[[Timestamp], Awaitable[None]]


@dataclass(order=True)
class DdlTask:
    """A DDL task. It is finished when nothing with its timestamp will be appended any more."""

    ts: Timestamp = 0
    finished: bool = field(default=False, compare=False)


class DdlScheduler:
    """Unfinished DDL tasks by timestamp; several run at the same time.

    min_ddl_ts: every task up to here is finished, and every task to come is above; 0 before the first.
    """

    def __init__(self, *, oracle: Oracle, preemption: Preemption) -> None:
        self.min_ddl_ts: Timestamp = 0
        self.heap: list[DdlTask] = []
        self._oracle = oracle
        self._preemption = preemption
        self._lock = SteppedLock(preemption)

    async def run_task(self, execute: Execute) -> Timestamp:
        """Give a task its timestamp, execute it, count it as finished whether it failed or not."""
        task = await self.begin()
        try:
            await execute(task.ts)
        finally:
            self.finish(task)
        return task.ts

    async def begin(self) -> DdlTask:
        """A new task. Timestamp and entry under one lock: no later task is counted before it."""
        task = DdlTask()
        async with self._lock.holding("ddl.begin"):
            task.ts = await self._oracle.alloc(1)
            await self._preemption.point("ddl.push")
            heapq.heappush(self.heap, task)
        return task

    def finish(self, task: DdlTask) -> None:
        """Everything of the task is appended. The minimum moves over the finished tasks at the front."""
        task.finished = True
        while self.heap and self.heap[0].finished:
            self.min_ddl_ts = heapq.heappop(self.heap).ts

    async def run_dummy(self) -> None:
        """A task that does nothing: moves the minimum when there is no DDL (B11)."""
        self.finish(await self.begin())
