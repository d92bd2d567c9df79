"""Many independent items as Spark tasks: mutants, proof obligations, interleavings, instances.

Spark's honest gain: nothing is exchanged, so that the time falls with the number of cores.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.traceback_utils import SCCallSiteSync

from tidemark.checks.verdicts.progress import Progress, silent
from tidemark.spec.language.references import load_callable

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


class _CallSite(SCCallSiteSync):
    """Spark takes the name of a stage from the place of the call; the outermost place wins."""

    def __init__(self, context: SparkContext, text: str) -> None:
        super().__init__(context)  # type: ignore[no-untyped-call]
        self._call_site = text


@contextmanager
def named(context: SparkContext, job: str, *, stage: str = "") -> Iterator[None]:
    """Name the jobs started inside, and the stages made inside (like the job, unless given)."""
    context.setLocalProperty("spark.job.description", job)
    site = _CallSite(context, stage or job)
    site.__enter__()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        with unless_ended():
            site.__exit__(None, None, None)  # type: ignore[no-untyped-call]
            context.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]


def unless_ended() -> suppress:
    """For what is tidied up in a session: a signal that stops us may have ended Spark as well, and its error
    must not take the place of the stop.
    """
    return suppress(Py4JError, PySparkException, OSError)


T = TypeVar("T")

_SECONDS_BETWEEN_REPORTS = 0.3

_Outcome = tuple[int, Any, str]
"""Place of the item, result, and what was raised (empty if nothing)."""


class SweepError(RuntimeError):
    """The function failed on an item; the message has the item and what it raised."""


def run_many(
    spark: SparkSession,
    items: Sequence[T],
    function: str,
    *,
    name: str,
    unit: str = "items",
    progress: Progress = silent,
) -> list[Any]:
    """Apply a function to every item, each in a task of its own; the results are in the order of the items.

    They depend neither on the order in which tasks end nor on a task that runs twice, provided that the
    function depends on its argument only. ``function``: ``module:function`` of one argument, importable on
    the executors; its result is picklable. Raises ReferenceNotFoundError: the function cannot be found;
    SweepError: it raised; of several items, the first in order is named.
    """
    find(function)
    if not items:
        return []
    context = spark.sparkContext
    tasks = context.parallelize(list(enumerate(items)), len(items))
    with _job(
        context, f"{name}: {len(items)} {unit}", partial(progress, total=len(items), unit=unit, note=name)
    ):
        outcomes: list[_Outcome] = tasks.mapPartitions(partial(_run, function)).collect()
    for place, _, error in sorted(outcomes, key=lambda outcome: outcome[0]):
        if error:
            raise SweepError(f"{function} failed on {items[place]!r}: {error}")
    results = {place: result for place, result, _ in outcomes}
    if len(results) != len(items):
        raise SweepError(f"{function}: {len(results)} results for {len(items)} {unit}")
    return [results[place] for place in range(len(items))]


def find(function: str) -> Callable[[Any], Any]:
    """The function of a reference ``module:function``. Raises ReferenceNotFoundError."""
    found: Callable[[Any], Any] = load_callable(function, what="function")
    return found


def _run(function: str, items: Iterable[tuple[int, Any]]) -> Iterator[_Outcome]:
    call = find(function)
    for place, item in items:
        try:
            yield place, call(item), ""
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported with its item
            yield place, None, f"{type(error).__name__}: {error}"


@contextmanager
def _job(context: SparkContext, description: str, report: Callable[[int], None]) -> Iterator[None]:
    """Names the jobs started inside, reports their finished tasks, and cancels them if the user stops."""
    group = uuid.uuid4().hex
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(context, group, report, over), daemon=True)
    context.setJobGroup(group, description, interruptOnCancel=True)
    watcher.start()
    try:
        with named(context, description):
            yield
    except KeyboardInterrupt:
        with unless_ended():
            context.cancelJobGroup(group)
        raise
    finally:
        over.set()
        watcher.join()
        with unless_ended():
            for key in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
                context.setLocalProperty(key, None)  # type: ignore[arg-type]


def _watch(context: SparkContext, group: str, report: Callable[[int], None], over: threading.Event) -> None:
    tracker = context.statusTracker()
    while not over.wait(_SECONDS_BETWEEN_REPORTS):
        stages = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
        jobs = [tracker.getJobInfo(j) for j in tracker.getJobIdsForGroup(group)]
        mine = {stage for job in jobs if job is not None for stage in job.stageIds}
        done = [s.numCompletedTasks for s in stages if s is not None and s.stageId in mine]
        if done:
            report(sum(done))
