"""Mutants of a proxy's queues, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.scheduler.program:scheduler``. Each is compared with the variant of the
specification that makes the same mistake, where there is one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tidemark.impl.errors import ImplementationError
from tidemark.impl.ports import Preemption
from tidemark.impl.proxy.queues import ProxyQueues, QueueKind, QueueParts, QueuesMode
from tidemark.impl.proxy.scheduler import TaskScheduler
from tidemark.impl.proxy.task_queue import DmlTaskQueue
from tidemark.impl.proxy.values import DmlTask, TaskPhase
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.scheduler.program import SchedulerProgram, scheduler

_VARIANTS = "tidemark.models.protocols.scheduler.mutants"
LEAVES = "scheduler-impl-leaves"
CLOSE = "scheduler-impl-close"
LATE = "scheduler-impl-late-call"
CRASH = "scheduler-impl-crash"


class _TwoAtATime(ProxyQueues):
    def _parallel(self, kind: QueueKind, parallel: int) -> int:
        del kind
        return parallel


@mutant(killer="scheduler.one_ddl_is_under_way", source="facts 3.1", instance=LATE)
def ddls_run_side_by_side(**scenario: Any) -> SchedulerProgram:
    """The ddl queue has as many workers as the others."""
    return scheduler(queues=_TwoAtATime, protocol=f"{_VARIANTS}.pairs:SideBySide", **scenario)


class _NotSettled(TaskScheduler):
    async def _settle_all(self, task: DmlTask) -> None:
        del task


@mutant(killer="scheduler.one_ddl_is_under_way", source="hazard 12", instance=LATE)
def the_next_does_not_wait_for_what_was_given_up(**scenario: Any) -> SchedulerProgram:
    """A call that has timed out is over."""
    parts = QueueParts(scheduler=_NotSettled)
    return scheduler(parts=parts, protocol=f"{_VARIANTS}.pairs:NotSettled", **scenario)


class _NotifiesInPop(DmlTaskQueue):
    def _forget(self, task: DmlTask) -> None:
        super()._forget(task)
        task.answered.set()


@mutant(killer="scheduler.notified_once", source="seed 004, 6.6.1: Notify", instance=LEAVES)
def a_pop_notifies_again(**scenario: Any) -> SchedulerProgram:
    """The caller is notified when the task ends, and when it leaves."""
    return scheduler(parts=QueueParts(queue=_NotifiesInPop), **scenario)


class _Silent(ProxyQueues):
    async def _enter(self, kind: QueueKind, task: DmlTask) -> None:
        self._entering += 1
        try:
            await self.queues[kind].enqueue(task)
        except ImplementationError as error:
            task.error = error
        finally:
            self._entering -= 1
            self._progress.set()


@mutant(killer="refinement", source="seed 004, 6.6.1: Notify", instance=CLOSE)
def a_refusal_is_not_told(**scenario: Any) -> SchedulerProgram:
    """Whoever is not admitted is not told."""
    return scheduler(queues=_Silent, **scenario)


class _PopsAtOnce(DmlTaskQueue):
    async def next_task(self) -> DmlTask:
        task = await super().next_task()
        del self.active[task.ts]
        return task

    def _forget(self, task: DmlTask) -> None:
        self.active[task.ts] = task
        super()._forget(task)


@mutant(killer="scheduler.the_active_tasks_are_known", source="seed 004, 6.6.1", instance=LEAVES)
def taken_tasks_are_not_active(**scenario: Any) -> SchedulerProgram:
    """A task that a worker has taken is in no list."""
    return scheduler(parts=QueueParts(queue=_PopsAtOnce), **scenario)


class KeepsTheGone(DmlTaskQueue):
    """A task that leaves is put back if its caller is gone."""

    def _forget(self, task: DmlTask) -> None:
        super()._forget(task)
        if task.left:
            self.active[task.ts] = task


@mutant(killer="scheduler.the_active_tasks_are_known", source="seed 004, 6.6.1", instance=LEAVES)
def a_task_without_caller_stays_active(**scenario: Any) -> SchedulerProgram:
    """A task whose caller has left stays in the map of active tasks."""
    return scheduler(parts=QueueParts(queue=KeepsTheGone), **scenario)


class _Last(deque[DmlTask]):
    def popleft(self) -> DmlTask:
        return self.pop()


class _TakesTheLast(DmlTaskQueue):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.unissued = _Last()


@mutant(killer="refinement", source="seed 004, 6.0: sequentially", instance=LATE)
def the_last_is_taken_first(**scenario: Any) -> SchedulerProgram:
    """A worker takes the task that has entered last."""
    return scheduler(parts=QueueParts(queue=_TakesTheLast), **scenario)


class _ForgetsQueued(ProxyQueues):
    async def close(self) -> None:
        self._refuse_all()
        for queue in self.queues.values():
            queue.unissued.clear()
        while self._is_busy():
            self._progress.clear()
            await self._progress.wait()
        await self._preemption.point("queues.closed")
        self.mode = QueuesMode.CLOSED


@mutant(killer="refinement", source="seed 004, 6.6.1", instance=CLOSE)
def a_close_forgets_what_is_queued(**scenario: Any) -> SchedulerProgram:
    """The queued tasks are thrown away, and their callers wait."""
    return scheduler(queues=_ForgetsQueued, **scenario)


class _InTheCallersName(ProxyQueues):
    async def submit(self, kind: QueueKind, task: DmlTask) -> None:
        self._submitted += 1
        task.number = self._submitted
        asker = asyncio.current_task()
        assert asker is not None
        asker.set_name(f"enter {task.number}")
        await self._enter(kind, task)
        await task.answered.wait()


@mutant(killer="refinement", source="seed 004, 6.6.1: OnEnqueue", instance=LEAVES)
def the_caller_enters_by_itself(**scenario: Any) -> SchedulerProgram:
    """A caller that is cancelled in the middle of the entry leaves it half done."""
    return scheduler(queues=_InTheCallersName, **scenario)


class _DropsInSilence(TaskScheduler):
    async def execute(self, task: DmlTask) -> None:
        if task.error is None:
            await super().execute(task)
            return
        task.phase = TaskPhase.FINISHED
        await self._preemption.point("task.pop")
        await self.queue.pop(task)


@mutant(killer="scheduler.notified_once", source="seed 004, 6.6.1: Notify", instance=CLOSE)
def what_is_dropped_is_not_told(**scenario: Any) -> SchedulerProgram:
    """The caller of a task that a closing proxy does not begin is not told."""
    return scheduler(parts=QueueParts(scheduler=_DropsInSilence), **scenario)


class _EndsInSilence(ProxyQueues):
    def cut(self) -> None:
        self._refuse_all()
        self.mode = QueuesMode.ENDED


@mutant(
    killer="scheduler.nobody_waits_for_a_closed_proxy", source="seed 004, 6.6.1: WaitToFinish", instance=CRASH
)
def the_end_of_the_proxy_is_not_told(**scenario: Any) -> SchedulerProgram:
    """Whoever waits for a proxy that ends without a close waits for ever."""
    return scheduler(queues=_EndsInSilence, **scenario)


class _TellsAll(ProxyQueues):
    def cut(self) -> None:
        super().cut()
        for task in self.pending.values():
            task.answered.set()


@mutant(killer="refinement", source="seed 004, 6.6.1: Notify", instance=CRASH)
def the_end_of_the_proxy_is_told_twice(**scenario: Any) -> SchedulerProgram:
    """Whoever waits when the proxy ends is told so, and told again."""
    return scheduler(queues=_TellsAll, **scenario)


class _UnfairLock(SteppedLock):
    """Of those who wait for the lock, the last one has it next."""

    def __init__(self, preemption: Preemption) -> None:
        super().__init__(preemption)
        self._points = preemption
        self._waiting: list[asyncio.Event] = []

    @asynccontextmanager
    async def holding(self, point: str) -> AsyncIterator[None]:
        task = asyncio.current_task()
        self.users.append("" if task is None else task.get_name())
        if len(self.users) > 1:
            turn = asyncio.Event()
            self._waiting.append(turn)
            await turn.wait()
            self.users.insert(0, self.users.pop())
            await self._points.point(point)
        try:
            yield
        finally:
            del self.users[0]
            if self._waiting:
                self._waiting.pop().set()


class _Unfair(DmlTaskQueue):
    def __init__(self, *, preemption: Preemption, **rest: Any) -> None:
        super().__init__(preemption=preemption, **rest)
        self.stats_lock = _UnfairLock(preemption)


@mutant(
    killer="scheduler.a_caller_hears",
    source="seed 004, 6.6.1: WaitToFinish",
    instance="scheduler-endless",
    tier="full",
)
def the_lock_is_unfair(**scenario: Any) -> SchedulerProgram:
    """A task that is over never has its turn: others take the lock again and again. The next one waits."""
    return scheduler(parts=QueueParts(queue=_Unfair), **scenario)
