"""The task queues: tasks in the order of their timestamps, and the statistics of the unfinished ones; reads.

In a queue of changes or writes one lock covers the allocation of a timestamp, the entry into the queue and
that into the statistics. So no snapshot falls between allocation and entry, tasks enter in the order of their
timestamps, and no task ends before it has entered (facts 3.1).
"""

import asyncio
from collections import deque

from tidemark.impl.errors import CallerLeftError, ImplementationError, ProxyClosedError, QueueFullError
from tidemark.impl.ports import Preemption
from tidemark.impl.proxy.statistics import ChannelStatistics, Span
from tidemark.impl.proxy.values import DmlTask, TaskPhase
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.types import ChannelName
from tidemark.impl.values.oracle import Oracle


class DmlTaskQueue:
    """Unissued and active tasks of one proxy.

    Milvus: TaskQueue, baseTaskQueue, OnEnqueue, SetTs, SetID, statsLock, addUnissuedTask,
    PopUnissuedTask, FrontUnissuedTask, AddActiveTask, PopActiveTask, utFull, utChan

    unissued: tasks that wait for a worker, in the order of their timestamps.
    active: tasks that a worker has, by place.
    statistics: the timestamps of both, by channel.
    stats_lock: covers an enqueue from its allocation to its entry, each pop and each snapshot.
    closing: no task is begun any more. Queued tasks pass through all stages without being carried out.
    entered: how many tasks have entered.
    """

    def __init__(
        self,
        *,
        oracle: Oracle,
        preemption: Preemption,
        capacity: int,
        progress: asyncio.Event | None = None,
    ) -> None:
        """``progress`` is set when a task ends."""
        self.unissued: deque[DmlTask] = deque()
        self.active: dict[int, DmlTask] = {}
        self.statistics = ChannelStatistics()
        self._oracle = oracle
        self._preemption = preemption
        self._capacity = capacity
        self._progress = asyncio.Event() if progress is None else progress
        self.closing = False
        self.entered = 0
        self.stats_lock = SteppedLock(preemption)
        self._arrived = asyncio.Event()

    async def enqueue(self, task: DmlTask) -> None:
        """Give a task its timestamp and its place. Raise QueueFullError, or the oracle's error."""
        async with self.stats_lock.holding("queue.enqueue"):
            self._admit(task)
            task.phase = TaskPhase.ASKED
            try:
                task.ts = await self._oracle.alloc(1)
            except ImplementationError:
                task.phase = TaskPhase.NEW
                raise
            task.phase = TaskPhase.STAMPED
            await self._preemption.point("queue.append")
            self._append(task)
            # A worker needs no lock to take the task from here on; it needs it to pop the task.
            await self._preemption.point("queue.commit")
            self._commit(task)

    def _admit(self, task: DmlTask) -> None:
        refusal = self._refusal(task)
        if refusal is not None:
            raise refusal
        if len(self.unissued) >= self._capacity:
            raise QueueFullError(
                f"{len(self.unissued)} tasks wait, the queue holds {self._capacity}; try again later"
            )

    def _refusal(self, task: DmlTask) -> ImplementationError | None:
        """Why a task is refused at its begin."""
        if self.closing:
            return ProxyClosedError("the proxy closes; ask another one")
        if task.left:
            return CallerLeftError("the caller has left; nothing was done")
        return None

    def _append(self, task: DmlTask) -> None:
        self.entered += 1
        task.place = self.entered
        self.unissued.append(task)
        task.phase = TaskPhase.QUEUED
        self._arrived.set()

    def _commit(self, task: DmlTask) -> None:
        self.statistics.commit(task.channels, task.ts)
        task.committed = True

    async def next_task(self) -> DmlTask:
        """Wait for the oldest unissued task and make it active."""
        while not self.unissued:
            self._arrived.clear()
            await self._arrived.wait()
        await self._preemption.point("queue.issue")
        task = self.unissued.popleft()
        self.active[task.place] = task
        task.phase = TaskPhase.RUNNING
        refusal = self._refusal(task)
        if refusal is not None:
            task.drop(refusal)
        return task

    async def pop(self, task: DmlTask) -> None:
        """A task has ended: no message with its timestamp will be appended any more."""
        async with self.stats_lock.holding("queue.pop"):
            del self.active[task.place]
            self.statistics.pop(task.channels, task.ts)  # chosen before the task was queued (B8)
            task.phase = TaskPhase.POPPED
            self._progress.set()

    async def snapshot(self) -> dict[ChannelName, Span]:
        """The statistics of one moment at which no task is between its allocation and its entry."""
        async with self.stats_lock.holding("queue.snapshot"):
            return self.statistics.snapshot()


class QueryTaskQueue(DmlTaskQueue):
    """Reads as they come. They have no timestamp, and wait neither for the oracle nor for a lock to enter.

    Milvus: dqTaskQueue, CanSkipAllocTimestamp

    The level says what a read must see. Only a Strong one asks the oracle, when it is carried out.
    """

    async def enqueue(self, task: DmlTask) -> None:
        """Give a read its place. Raise QueueFullError."""
        self._admit(task)
        self._append(task)

    async def pop(self, task: DmlTask) -> None:
        """A read has ended."""
        del self.active[task.place]
        task.phase = TaskPhase.POPPED
        self._progress.set()
