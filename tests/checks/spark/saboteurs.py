"""Kernels that count right, and something goes wrong beside them: a task hangs, a shuffle file is lost."""

import time
from pathlib import Path
from typing import Any

from pyspark import SparkContext, TaskContext

from tidemark.checks.spark.search.native_kernel import NativeKernel, native
from tidemark.models.instance import Instance

SLOW_AT_FIRST = "tests.checks.spark.saboteurs:slow_at_first"
THIEF = "tests.checks.spark.saboteurs:thief"
IN_SMALL_BLOCKS = "tests.checks.spark.saboteurs:in_small_blocks"


class _SlowAtFirst(NativeKernel):
    def expand(self, block):
        task = TaskContext.get()
        if task is not None and task.partitionId() == 3 and task.attemptNumber() == 0:
            time.sleep(2.0)
        return super().expand(block)


def slow_at_first(instance: Instance) -> Any:
    """The first attempt of the last task hangs for a while, so that Spark starts a second one beside it."""
    return _with(_SlowAtFirst, native(instance))


class _Thief(NativeKernel):
    folder: Path

    def failing(self, block):
        task = TaskContext.get()
        if task is not None and task.partitionId() == 0:
            folder = self.folder
            stolen = folder / "stolen.txt"
            if not stolen.exists():
                files = list((folder / "local").rglob("shuffle_*.data"))
                stolen.write_text(str(len(files)))
                for file in files:
                    file.unlink()
        return super().failing(block)


class _InSmallBlocks(NativeKernel):
    chunk = 50


def in_small_blocks(instance: Instance) -> Any:
    """States are expanded some at a time."""
    return _with(_InSmallBlocks, native(instance))


def thief(instance: Instance) -> Any:
    """The first task that absorbs removes the shuffle files below the folder that names the instance."""
    kernel = _with(_Thief, native(instance))
    kernel.folder = Path(instance.name)
    return kernel


def _with(kind: Any, kernel: Any) -> Any:
    kernel.__class__ = kind
    return kernel


def runs_of(context: SparkContext) -> int:
    """Tasks that were started beside others, as Spark counts them."""
    store = context._jsc.sc().statusStore()
    found = 0
    for stage in stages_of(context):
        tasks = store.taskList(stage.stageId(), stage.attemptId(), 1000)
        found += sum(tasks.apply(n).speculative() for n in range(tasks.size()))
    return found


def stages_of(context: SparkContext) -> list[Any]:
    store = context._jsc.sc().statusStore()
    jobs = store.jobsList(None)
    numbers = [jobs.apply(n).stageIds() for n in range(jobs.size())]
    return [store.lastStageAttempt(ids.apply(n)) for ids in numbers for n in range(ids.size())]


def jobs_of(context: SparkContext) -> list[str]:
    """Descriptions of all jobs so far, the first one first."""
    jobs = context._jsc.sc().statusStore().jobsList(None)
    found = {jobs.apply(n).jobId(): jobs.apply(n).description() for n in range(jobs.size())}
    return [str(found[number].get()) for number in sorted(found) if found[number].isDefined()]
