"""Mutants of the proxy's implementation: hazards and real bugs, each as an override of one small method.

The functions return the proxy program with the fault in it, and take the same arguments as
``tidemark.models.protocols.proxy.program:proxy``. Each is compared with the variant of the specification that
makes the same mistake, so that what is refuted is a property and not only the likeness; where there is no
such variant, with the specification itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.proxy import ProxyParts
from tidemark.impl.proxy.scheduler import TaskScheduler
from tidemark.impl.proxy.statistics import HeapStatistics, ScanStatistics, Tracked
from tidemark.impl.proxy.task_queue import DmlTaskQueue
from tidemark.impl.proxy.ticker import ChannelsTimeTicker, Snapshot, TickStage
from tidemark.impl.proxy.values import AppendOutcome, DmlTask, TaskPhase
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.proxy.program import ProxyProgram, proxy

_VARIANTS = "tidemark.models.protocols.proxy.mutants.specification"


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


# ---- queue and statistics ----


class Unlocked(DmlTaskQueue):
    """No lock at all."""

    def _exclusively(self, point: str) -> AbstractAsyncContextManager[None]:
        del point
        return _nothing()


@mutant(
    killer="proxy.min_ts_never_goes_back",
    source="hazard 26, B7; seed 002, Enqueue: event 2 commits before event 1",
    instance="proxy-impl-two-tasks",
)
def lock_is_lost(**scenario: Any) -> ProxyProgram:
    """Timestamps are taken, and enter the statistics, in any order (hazard 26, B7; the seed's example)."""
    return proxy(parts=ProxyParts(queue=Unlocked), protocol=f"{_VARIANTS}:EnqueueUnlocked", **scenario)


class _PopsUnlocked(DmlTaskQueue):
    async def pop(self, task: DmlTask) -> None:
        self._forget(task)


@mutant(killer="proxy.no_ghost_is_tracked", source="hazard 27", instance="proxy-impl-one-task")
def pop_takes_no_lock(**scenario: Any) -> ProxyProgram:
    """A fast worker pops before the commit (hazard 27)."""
    return proxy(parts=ProxyParts(queue=_PopsUnlocked), protocol=f"{_VARIANTS}:PopWithoutLock", **scenario)


class _PopsTheLeast(HeapStatistics):
    def _forget(self, tracked: Tracked, begin: Timestamp) -> None:
        del begin
        tracked.timestamps.discard(self.least(tracked))


@mutant(killer="proxy.unfinished_tasks_are_tracked", source="B7", instance="proxy-impl-two-tasks")
def pop_deletes_the_least(**scenario: Any) -> ProxyProgram:
    """A pop takes the least timestamp out of the set, whosever it is (B7)."""
    return proxy(
        parts=ProxyParts(statistics=_PopsTheLeast), protocol=f"{_VARIANTS}:PopDeletesMin", **scenario
    )


class InsertsTheLeast(ScanStatistics):
    """Tracks the least timestamp in place of the task's."""

    def _entry(self, tracked: Tracked, begin: Timestamp) -> Timestamp:
        return min((begin, *tracked.timestamps))


@mutant(killer="proxy.unfinished_tasks_are_tracked", source="B7", instance="proxy-impl-two-tasks")
def commit_inserts_the_least(**scenario: Any) -> ProxyProgram:
    """A commit puts the least timestamp into the set instead of the task's (B7)."""
    return proxy(
        parts=ProxyParts(statistics=InsertsTheLeast), protocol=f"{_VARIANTS}:CommitInsertsMin", **scenario
    )


class _LooksUpAgain(DmlTaskQueue):
    def _channels_of(self, task: DmlTask) -> tuple[ChannelName, ...]:
        del task
        return ()


@mutant(killer="proxy.no_ghost_is_tracked", source="B8", instance="proxy-impl-one-task")
def pop_looks_channels_up_again(**scenario: Any) -> ProxyProgram:
    """The collection is gone by then: the pop finds no channels, and the timestamp stays (B8)."""
    return proxy(parts=ProxyParts(queue=_LooksUpAgain), protocol=f"{_VARIANTS}:PopLookupFails", **scenario)


class _KeepsTheGate(HeapStatistics):
    def commit(self, channels: Any, begin: Timestamp, end: Timestamp) -> None:
        for channel in channels:
            known = self.channels.get(channel)
            super().commit((channel,), begin, end if known is None else known.max_ts)


@mutant(killer="proxy.least_and_greatest_are_exact", source="facts 3.1", instance="proxy-impl-two-tasks")
def max_ts_stays(**scenario: Any) -> ProxyProgram:
    """A commit forgets to raise the greatest timestamp."""
    return proxy(parts=ProxyParts(statistics=_KeepsTheGate), **scenario)


# ---- ticker ----


class SnapshotFirst(ChannelsTimeTicker):
    """The snapshot, then the timestamp."""

    async def _look(self) -> None:
        await self._take_snapshot()
        self.stage = TickStage.TAKEN
        await self._preemption.point("ticker.now")
        await self._take_timestamp()


@mutant(killer="proxy.reported_is_below_all_to_come", source="hazard 24", instance="proxy-impl-one-task")
def now_after_the_snapshot(**scenario: Any) -> ProxyProgram:
    """The tick takes the snapshot, then fetches its timestamp (hazard 24)."""
    return proxy(parts=ProxyParts(ticker=SnapshotFirst), protocol=f"{_VARIANTS}:SnapshotFirst", **scenario)


class NoMinusOne(ChannelsTimeTicker):
    """The least timestamp itself."""

    def _value(self, min_ts: Timestamp, now: Timestamp) -> Timestamp:
        del now
        return min_ts


@mutant(killer="proxy.reported_is_below_all_to_come", source="hazard 25, B6", instance="proxy-impl-one-task")
def no_minus_one(**scenario: Any) -> ProxyProgram:
    """The tick publishes minTs itself (hazard 25, B6)."""
    return proxy(parts=ProxyParts(ticker=NoMinusOne), protocol=f"{_VARIANTS}:NoMinusOne", **scenario)


class _NoGate(ChannelsTimeTicker):
    def _publish(self, now: Timestamp, snapshot: Snapshot) -> None:
        self.current = dict.fromkeys(self.current, 0)
        super()._publish(now, snapshot)


@mutant(killer="refinement", source="hazard 28", instance="proxy-impl-two-channels")
def gate_is_open(**scenario: Any) -> ProxyProgram:
    """A new value is published at each tick, not once for a batch."""
    return proxy(parts=ProxyParts(ticker=_NoGate), **scenario)


# ---- workers ----


class IgnoresTheUnknown(TaskScheduler):
    """Nothing is settled."""

    async def _settle_all(self, task: DmlTask) -> None:
        del task


@mutant(killer="proxy.reported_is_below_all_to_come", source="hazard 12", instance="proxy-impl-late-append")
def unknown_outcome_is_popped(**scenario: Any) -> ProxyProgram:
    """A produce that timed out is over, and its timestamp is popped (hazard 12)."""
    return proxy(
        parts=ProxyParts(scheduler=IgnoresTheUnknown), protocol=f"{_VARIANTS}:OutcomeUnknown", **scenario
    )


class _PopsBeforeProduce(TaskScheduler):
    async def execute(self, task: DmlTask) -> None:
        self.queue.statistics.pop(task.channels, task.ts)
        await super().execute(task)


@mutant(killer="proxy.unfinished_tasks_are_tracked", source="facts 3.1", instance="proxy-impl-one-task")
def popped_before_produced(**scenario: Any) -> ProxyProgram:
    """The timestamp leaves the statistics before the messages are in the log."""
    return proxy(parts=ProxyParts(scheduler=_PopsBeforeProduce), **scenario)


class _LocksLate(DmlTaskQueue):
    async def enqueue(self, task: DmlTask) -> None:
        task.phase = TaskPhase.ASKED
        task.ts = await self._oracle.alloc(1)
        task.phase = TaskPhase.STAMPED
        async with self._exclusively("queue.enqueue"):
            await self._preemption.point("queue.append")
            self._append(task)
            await self._preemption.point("queue.commit")
            self._commit(task)


@mutant(killer="proxy.reported_is_given_to_nobody_else", source="hazard 26", instance="proxy-impl-one-task")
def allocated_before_the_lock(**scenario: Any) -> ProxyProgram:
    """The timestamp is fetched first, and the lock taken afterwards (hazard 26)."""
    return proxy(parts=ProxyParts(queue=_LocksLate), protocol=f"{_VARIANTS}:EnqueueUnlocked", **scenario)


# ---- work that is not done ----


class _SendsToOne(TaskScheduler):
    async def _produce(self, task: DmlTask, channel: ChannelName) -> None:
        if channel == min(task.channels):
            await super()._produce(task, channel)
        else:
            task.outcomes[channel] = AppendOutcome.REFUSED


@mutant(killer="refinement", source="seed 004, 6.6.1", instance="proxy-impl-two-channels")
def a_message_is_given_up_unsent(**scenario: Any) -> ProxyProgram:
    """A task is over though one of its messages was never sent, and no log has refused it."""
    return proxy(parts=ProxyParts(scheduler=_SendsToOne), **scenario)


class _TakesOneTask(TaskScheduler):
    async def run(self) -> None:
        task = await self.queue.next_task()
        self._spawn(partial(self._work, task), f"task {task.ts}")


@mutant(killer="refinement", source="property WL", instance="proxy-impl-one-at-a-time")
def scheduler_takes_one_task(**scenario: Any) -> ProxyProgram:
    """The scheduler executes one task, and then no more: the next one waits for ever, without any error."""
    return proxy(parts=ProxyParts(scheduler=_TakesOneTask), **scenario)


class _WaitsForTheOracle(ChannelsTimeTicker):
    async def tick(self) -> None:
        try:
            await super().tick()
        except RpcError:
            await asyncio.get_running_loop().create_future()


@mutant(
    killer="proxy.reports_pass_finished_tasks", source="property WL", instance="proxy-endless", tier="full"
)
def a_silent_oracle_ends_the_ticks(**scenario: Any) -> ProxyProgram:
    """After a call of the oracle without an answer the ticker waits for one for ever: reports say no more."""
    return proxy(parts=ProxyParts(ticker=_WaitsForTheOracle), **scenario)
