"""The scheduler of DDL tasks: timestamps, and the least one below which all tasks are finished."""

import heapq
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum

from tidemark.impl.errors import RpcError
from tidemark.impl.ports import Preemption
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.oracle import Oracle

Execute = Callable[[Timestamp], Awaitable[None]]


class DdlPhase(Enum):
    """Stage of a task."""

    NEW = "new"
    ASKED = "asked"
    STAMPED = "stamped"
    QUEUED = "queued"
    FINISHED = "finished"


@dataclass(order=True)
class DdlTask:
    """A DDL task. It is finished when no message with its timestamp will be appended any more."""

    ts: Timestamp = 0
    phase: DdlPhase = field(default=DdlPhase.NEW, compare=False)


class DdlScheduler:
    """Unfinished DDL tasks by timestamp; several run at the same time.

    Milvus: minNormalDdlTs

    min_ddl_ts: every task up to here is finished, and every task to come is above; 0 before the first.
    """

    def __init__(self, *, oracle: Oracle, preemption: Preemption) -> None:
        self.min_ddl_ts: Timestamp = 0
        self.heap: list[DdlTask] = []
        self.lock = SteppedLock(preemption)
        self._oracle = oracle
        self._preemption = preemption

    async def run_task(self, execute: Execute, task: DdlTask | None = None) -> Timestamp:
        """Give a task its timestamp, execute it, and finish it whether it failed or not."""
        task = await self.begin(task)
        try:
            await execute(task.ts)
        finally:
            await self._preemption.point("ddl.finish")
            self.finish(task)
        return task.ts

    async def begin(self, task: DdlTask | None = None) -> DdlTask:
        """A new task. Timestamp and entry under one lock: no later task is counted before it."""
        task = DdlTask() if task is None else task
        async with self.lock.holding("ddl.begin"):
            task.phase = DdlPhase.ASKED
            try:
                task.ts = await self._oracle.alloc(1)
            except RpcError:
                task.phase = DdlPhase.NEW
                raise
            task.phase = DdlPhase.STAMPED
            await self._preemption.point("ddl.push")
            heapq.heappush(self.heap, task)
            task.phase = DdlPhase.QUEUED
        return task

    def finish(self, task: DdlTask) -> None:
        """All messages of the task are appended. The minimum moves over the finished tasks at the front."""
        task.phase = DdlPhase.FINISHED
        while self.heap and self.heap[0].phase is DdlPhase.FINISHED:
            self.min_ddl_ts = heapq.heappop(self.heap).ts

    async def run_dummy(self, task: DdlTask | None = None) -> None:
        """An empty task: moves the minimum when there is no DDL (B11)."""
        task = await self.begin(task)
        await self._preemption.point("ddl.finish")
        self.finish(task)
