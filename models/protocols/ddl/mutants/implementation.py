"""Mutants of the DDL source's implementation.

The functions compare their fault with the variant of the specification that makes the same mistake, so that
what is refuted is a property and not only the likeness.
"""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.ddl.program import ddl

SCHEDULER = "rootcoord/ddl_scheduler.py:DdlScheduler."
BACKGROUND = "rootcoord/ddl_lock_manager.py:DdlTsLockManager."

TASKS = Host("ddl-impl-two-tasks", ddl)
JOB = Host("ddl-impl-task-and-job", ddl)
BELOW = "ddl.minimum_is_below_all_to_come"

VARIANTS = "tidemark.models.protocols.ddl.mutants.specification:"

MUTANTS = patches(
    __name__,
    Patch(
        "only-the-first-task-is-finished",
        at=SCHEDULER + "finish",
        old="task.phase = DdlPhase.FINISHED",
        new="if self.heap[0] is task:\n            task.phase = DdlPhase.FINISHED",
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
    Patch(
        "last-finished-task-counts",
        at=SCHEDULER + "finish",
        old="heapq.heappop(self.heap).ts",
        new="heapq.heappop(self.heap).ts\n        self.min_ddl_ts = max(self.min_ddl_ts, task.ts)",
        killer=BELOW,
        on=TASKS.like(protocol=VARIANTS + "LastFinished"),
        source="hazard 53",
        says="The minimum is the last finished task, though an earlier one still runs.",
    ),
    Patch(
        "noted-before-the-append",
        at=BACKGROUND + "_work",
        old="await execute(job.ts)",
        new="self.last_ts = job.ts\n            await execute(job.ts)",
        killer=BELOW,
        on=JOB.like(protocol=VARIANTS + "NotedBeforeAppend"),
        walked=Host("ddl-driven", ddl),
        source="hazard 53",
        says="The timestamp of a job is done with before its message is in the logs.",
    ),
    Patch(
        "reader-takes-no-lock",
        at=BACKGROUND + "_new_minimum",
        old='async with self.lock.holding("background.minimum"):',
        new="if True:",
        killer=BELOW,
        on=JOB.like(protocol=VARIANTS + "ReaderUnlocked"),
        source="hazard 53",
        says="The loop saw nothing in progress, and does not wait for the lock.",
    ),
    Patch(
        "only-the-scheduler-counts",
        at="rootcoord/ddl_source.py:DdlSource.minimum",
        old="min(background, self.scheduler.min_ddl_ts)",
        new="self.scheduler.min_ddl_ts",
        killer=BELOW,
        on=JOB.like(protocol=VARIANTS + "OnlyScheduler"),
        source="seed 002, sendMinDdlTsAsTt",
        says="The minimum leaves the background out; seed 002 has both.",
    ),
    Patch(
        "task-takes-no-lock",
        at=SCHEDULER + "begin",
        old='async with self.lock.holding("ddl.begin"):',
        new="if True:",
        killer="ddl.minima_never_go_back",
        on=TASKS.like(protocol=VARIANTS + "TaskUnlocked"),
        source="hazard 53",
        says="A later task may stand in the heap, and be finished, before an earlier one.",
    ),
)

"""Killed only beside a variant of the specification: the functions below are these mutants."""
