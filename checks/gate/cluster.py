"""Checks as tasks of a Spark cluster (``verify --master spark://...``): one task judges one check.

What is itself spread over Spark (large searches, interleavings, mutants) is judged from this process, as jobs
of the same session, beside the others. A result depends on its check only, so that an executor that is lost
costs the time of its tasks: Spark judges them again.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from tidemark.checks.gate.judging import judge_task
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.schedule import last_seconds, needs_of
from tidemark.checks.gate.settings import Settings
from tidemark.checks.spark.session import spark_session
from tidemark.checks.spark.sweep import SweepError, run_many, unless_ended
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.progress import Reporter, silent
from tidemark.checks.verdicts.result import TaskResult, Unjudged

_JUDGE = "tidemark.checks.gate.cluster:judge_there"
_AHEAD = 2
"""Checks for each core that are handed to Spark at a time: none waits for the driver."""
_LOOK_S = 0.2


def judge_there(item: tuple[Task, Settings]) -> TaskResult:
    """Judge one check on an executor, on one core, with nothing taken over, in a folder that is removed."""
    task, settings = item
    with TemporaryDirectory(prefix="tidemark-") as build:
        there = replace(settings, build=Path(build), workers=settings.workers or 1, reuse={})
        return judge_task(task, registry=registry(), settings=there, progress=silent)


class Cluster:
    """Judges the tasks of a plan on the executors of ``settings.master``, the longest first.

    Raises, at the beginning, what ``spark_session`` raises.
    """

    def __init__(self, tasks: Sequence[Task], due: Sequence[int], *, settings: Settings) -> None:
        self._session = spark_session(master=settings.master, build=settings.build)
        self._settings = settings
        self._tasks = {place: tasks[place] for place in due}
        self.processor_seconds = 0.0
        """Processor time of the checks, wherever they were judged."""
        last = last_seconds(settings.build)
        needs = {place: needs_of(task, last) for place, task in self._tasks.items()}
        longest = sorted(due, key=lambda place: (-needs[place].seconds, place))
        self._here = [place for place in longest if needs[place].spark]
        self._there = [place for place in longest if not needs[place].spark]

    def results(self, show: Reporter) -> Iterator[tuple[int, TaskResult]]:
        """Place in the plan and result of each task, as they are judged."""
        with ThreadPoolExecutor(self._session.sparkContext.defaultParallelism * _AHEAD) as pool:
            waiting = {pool.submit(self._send, self._tasks[place]): place for place in self._there}
            try:
                for place in self._here:
                    task = self._tasks[place]
                    progress = show.started(task)
                    yield self._counted(
                        place,
                        judge_task(task, registry=registry(), settings=self._settings, progress=progress),
                    )
                    yield from self._arrived(waiting, show, seconds=0.0)
                while waiting:
                    yield from self._arrived(waiting, show, seconds=_LOOK_S)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                while any(future.running() for future in waiting):  # the run was stopped
                    with unless_ended():
                        self._session.sparkContext.cancelAllJobs()
                    time.sleep(_LOOK_S)

    def _arrived(
        self, waiting: dict[Future[TaskResult], int], show: Reporter, *, seconds: float
    ) -> Iterator[tuple[int, TaskResult]]:
        for future in wait(waiting, timeout=seconds, return_when=FIRST_COMPLETED).done:
            place = waiting.pop(future)
            show.started(self._tasks[place])
            yield self._counted(place, future.result())

    def _counted(self, place: int, result: TaskResult) -> tuple[int, TaskResult]:
        self.processor_seconds += result.processor_seconds
        return place, result

    def _send(self, task: Task) -> TaskResult:
        try:
            found: list[TaskResult] = run_many(
                self._session, [(task, self._settings)], _JUDGE, name=task.name, unit="checks"
            )
            return found[0]
        except (SweepError, PySparkException, Py4JError) as error:
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
            lost = Unjudged(
                task=task.name,
                exit_code=ExitCode.INCONCLUSIVE,
                message=f"no executor could judge it: {why}",
                remedy="look at the executors' logs, or run it alone without --master",
                replay=task.command,
            )
            return TaskResult(task=task.name, unjudged=lost, seconds=0.0)
