"""Mutants of the DDL source's implementation.

The functions compare their fault with the variant of the specification that makes the same mistake, so that
what is refuted is a property and not only the likeness.
"""

from __future__ import annotations

from typing import Any

from tidemark.models.mutation.declared import mutant
from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.ddl.program import DdlProgram, ddl

SCHEDULER = "rootcoord/ddl_scheduler.py:DdlScheduler."
BACKGROUND = "rootcoord/ddl_lock_manager.py:DdlTsLockManager."

TASKS = Host("ddl-impl-two-tasks", ddl)
JOB = Host("ddl-impl-task-and-job", ddl)
BELOW = "ddl.minimum_is_below_all_to_come"

MUTANTS = patches(
    __name__,
    Patch(
        "only-the-first-task-is-finished",
        at=SCHEDULER + "finish",
        old="task.phase = DdlPhase.FINISHED",
        new="if self.heap[0] is task:\n            task.phase = DdlPhase.FINISHED",
        killer="refinement",
        on=TASKS,
        source="hazard 53; property WL",
        says="A task that ends before an earlier one is forgotten: the minimum never moves over it.",
    ),
    Patch(
        "a-silent-oracle-ends-the-dummies",
        at=SCHEDULER + "run_dummy",
        old="task = await self.begin(task)",
        new="""try:
            task = await self.begin(task)
        except RpcError:
            import asyncio

            await asyncio.get_running_loop().create_future()""",
        killer="ddl.reports_pass_finished_jobs",
        on=Host("ddl-endless", ddl),
        source="property WL; B11",
        tier="full",
        says="A dummy that has no answer of the oracle waits for one for ever, and none comes after it.",
    ),
)

BESIDE_VARIANTS = (
    Patch(
        "last-finished-task-counts",
        at=SCHEDULER + "finish",
        old="heapq.heappop(self.heap).ts",
        new="heapq.heappop(self.heap).ts\n        self.min_ddl_ts = max(self.min_ddl_ts, task.ts)",
        on=TASKS,
        source="hazard 53",
        says="The minimum is the last finished task, though an earlier one still runs.",
    ),
    Patch(
        "noted-before-the-append",
        at=BACKGROUND + "_work",
        old="await execute(job.ts)",
        new="self.last_ts = job.ts\n            await execute(job.ts)",
        on=JOB,
        source="hazard 53",
        says="The timestamp of a job is done with before its message is in the logs.",
    ),
    Patch(
        "reader-takes-no-lock",
        at=BACKGROUND + "_new_minimum",
        old='async with self.lock.holding("background.minimum"):',
        new="if True:",
        on=JOB,
        source="hazard 53",
        says="The loop saw nothing in progress, and does not wait for the lock.",
    ),
    Patch(
        "only-the-scheduler-counts",
        at="rootcoord/ddl_source.py:DdlSource.minimum",
        old="min(background, self.scheduler.min_ddl_ts)",
        new="self.scheduler.min_ddl_ts",
        on=JOB,
        source="seed 002, sendMinDdlTsAsTt",
        says="The minimum leaves the background out; seed 002 has both.",
    ),
    Patch(
        "task-takes-no-lock",
        at=SCHEDULER + "begin",
        old='async with self.lock.holding("ddl.begin"):',
        new="if True:",
        on=TASKS,
        source="hazard 53",
        says="A later task may stand in the heap, and be finished, before an earlier one.",
    ),
)
"""Killed only beside a variant of the specification: the functions below are these mutants."""


def _beside(name: str, variant: str, scenario: dict[str, Any]) -> DdlProgram:
    patch = next(one for one in BESIDE_VARIANTS if one.name == name)
    protocol = f"tidemark.models.protocols.ddl.mutants.specification:{variant}"
    program: DdlProgram = patch(protocol=protocol, **scenario)
    return program


@mutant(killer=BELOW, source="hazard 53", instance=TASKS.entry)
def last_finished_task_counts(**scenario: Any) -> DdlProgram:
    """The minimum is the last finished task, though an earlier one still runs."""
    return _beside("last-finished-task-counts", "LastFinished", scenario)


@mutant(killer=BELOW, source="hazard 53", instance=JOB.entry)
def noted_before_the_append(**scenario: Any) -> DdlProgram:
    """The timestamp of a job is done with before its message is in the logs."""
    return _beside("noted-before-the-append", "NotedBeforeAppend", scenario)


@mutant(killer=BELOW, source="hazard 53", instance=JOB.entry)
def reader_takes_no_lock(**scenario: Any) -> DdlProgram:
    """The loop saw nothing in progress, and does not wait for the lock."""
    return _beside("reader-takes-no-lock", "ReaderUnlocked", scenario)


@mutant(killer=BELOW, source="seed 002, sendMinDdlTsAsTt", instance=JOB.entry)
def only_the_scheduler_counts(**scenario: Any) -> DdlProgram:
    """The minimum leaves the background out; seed 002 has both."""
    return _beside("only-the-scheduler-counts", "OnlyScheduler", scenario)


@mutant(killer="ddl.minima_never_go_back", source="hazard 53", instance=TASKS.entry)
def task_takes_no_lock(**scenario: Any) -> DdlProgram:
    """A later task may stand in the heap, and be finished, before an earlier one."""
    return _beside("task-takes-no-lock", "TaskUnlocked", scenario)
