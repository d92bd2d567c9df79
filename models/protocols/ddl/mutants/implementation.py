"""Mutants of the DDL source's implementation, each one small method.

The functions return the DDL program with the fault in it, and take the same arguments as
``tidemark.models.protocols.ddl.program:ddl``. Each is compared with the variant of the specification that
makes the same mistake, where there is one.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.rootcoord.ddl_lock_manager import DdlTsLockManager, Job, ReaderStage
from tidemark.impl.rootcoord.ddl_scheduler import DdlPhase, DdlScheduler, DdlTask, Execute
from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.ddl.program import DdlProgram, ddl

_VARIANTS = "tidemark.models.protocols.ddl.mutants.specification"


class _LastFinished(DdlScheduler):
    def finish(self, task: DdlTask) -> None:
        super().finish(task)
        self.min_ddl_ts = max(self.min_ddl_ts, task.ts)


class _LastFinishedSource(DdlSource):
    scheduler_class = _LastFinished


@mutant(killer="ddl.minimum_is_below_all_to_come", source="hazard 53", instance="ddl-impl-two-tasks")
def last_finished_task_counts(**scenario: Any) -> DdlProgram:
    """The minimum is the last finished task, though an earlier one still runs."""
    return ddl(source=_LastFinishedSource, protocol=f"{_VARIANTS}:LastFinished", **scenario)


class _NotesEarly(DdlTsLockManager):
    async def _work(self, job: Job, execute: Execute) -> None:
        async def noted(ts: int) -> None:
            self.last_ts = ts
            await execute(ts)

        await super()._work(job, noted)


class NotesEarlySource(DdlSource):
    """A job is noted before its message is in the logs."""

    lock_manager_class = _NotesEarly


@mutant(killer="ddl.minimum_is_below_all_to_come", source="hazard 53", instance="ddl-impl-task-and-job")
def noted_before_the_append(**scenario: Any) -> DdlProgram:
    """The timestamp of a job is done with before its message is in the logs."""
    return ddl(source=NotesEarlySource, protocol=f"{_VARIANTS}:NotedBeforeAppend", **scenario)


class _DoesNotWait(DdlTsLockManager):
    async def _new_minimum(self) -> int:
        self.reader = ReaderStage.ASKED
        self.last_ts = await self._oracle.alloc(1)
        return self.last_ts


class _DoesNotWaitSource(DdlSource):
    lock_manager_class = _DoesNotWait


@mutant(killer="ddl.minimum_is_below_all_to_come", source="hazard 53", instance="ddl-impl-task-and-job")
def reader_takes_no_lock(**scenario: Any) -> DdlProgram:
    """The loop saw nothing in progress, and does not wait for the lock."""
    return ddl(source=_DoesNotWaitSource, protocol=f"{_VARIANTS}:ReaderUnlocked", **scenario)


class _OnlyScheduler(DdlSource):
    async def minimum(self) -> int:
        await super().minimum()
        return self.scheduler.min_ddl_ts


@mutant(
    killer="ddl.minimum_is_below_all_to_come",
    source="seed 002, sendMinDdlTsAsTt",
    instance="ddl-impl-task-and-job",
)
def only_the_scheduler_counts(**scenario: Any) -> DdlProgram:
    """The minimum leaves the background out (seed 002: both)."""
    return ddl(source=_OnlyScheduler, protocol=f"{_VARIANTS}:OnlyScheduler", **scenario)


class _PushesLate(DdlScheduler):
    async def begin(self, task: DdlTask | None = None) -> DdlTask:
        task = DdlTask() if task is None else task
        task.phase = DdlPhase.ASKED
        task.ts = await self._oracle.alloc(1)
        task.phase = DdlPhase.STAMPED
        return await self._push(task)

    async def _push(self, task: DdlTask) -> DdlTask:
        await self._preemption.point("ddl.push")
        self.heap.append(task)
        self.heap.sort()
        task.phase = DdlPhase.QUEUED
        return task


class _PushesLateSource(DdlSource):
    scheduler_class = _PushesLate


@mutant(killer="ddl.minima_never_go_back", source="hazard 53", instance="ddl-impl-two-tasks")
def task_takes_no_lock(**scenario: Any) -> DdlProgram:
    """A later task may stand in the heap, and be finished, before an earlier one (hazard 53)."""
    return ddl(source=_PushesLateSource, protocol=f"{_VARIANTS}:TaskUnlocked", **scenario)


class _ForgetsToFinish(DdlScheduler):
    def finish(self, task: DdlTask) -> None:
        if self.heap and self.heap[0] is task:
            super().finish(task)


class _ForgetsToFinishSource(DdlSource):
    scheduler_class = _ForgetsToFinish


@mutant(killer="refinement", source="hazard 53; property WL", instance="ddl-impl-two-tasks")
def only_the_first_task_is_finished(**scenario: Any) -> DdlProgram:
    """A task that ends before an earlier one is forgotten: the minimum never moves over it."""
    return ddl(source=_ForgetsToFinishSource, **scenario)


class _WaitsForTheOracle(DdlScheduler):
    async def run_dummy(self, task: DdlTask | None = None) -> None:
        try:
            await super().run_dummy(task)
        except RpcError:
            await asyncio.get_running_loop().create_future()


class _WaitsForTheOracleSource(DdlSource):
    scheduler_class = _WaitsForTheOracle


@mutant(
    killer="ddl.reports_pass_finished_jobs", source="property WL; B11", instance="ddl-endless", tier="full"
)
def a_silent_oracle_ends_the_dummies(**scenario: Any) -> DdlProgram:
    """A dummy that has no answer of the oracle waits for one for ever, and none comes after it."""
    return ddl(source=_WaitsForTheOracleSource, **scenario)
