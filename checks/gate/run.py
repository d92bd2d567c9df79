"""The gate: run what the manifest asks for, compare with what it expects, lose nothing.

Each result is written to the journal as soon as it is there, so that a run that is stopped or killed keeps
what it has found. The gate knows no judge by itself; it is given a registry.
"""

import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Protocol

from tidemark.checks.cache.kept import Kept, Nothing
from tidemark.checks.gate.judging import judge_task, processor_seconds
from tidemark.checks.gate.resume import Journal
from tidemark.checks.gate.schedule import Due, Schedule, keep_seconds, last_seconds, needs_of
from tidemark.checks.gate.settings import Settings
from tidemark.checks.gate.texts import Texts, texts_of
from tidemark.checks.spark.master import parse_master
from tidemark.checks.verdicts.errors import MissingToolError, StoppedError
from tidemark.checks.verdicts.judge import Registry
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.progress import Quiet, Reporter
from tidemark.checks.verdicts.result import RunResult, TaskResult

REUSING = ("prove",)
"""Judges that keep answers below their verdicts."""


def run(
    tasks: Sequence[Task],
    *,
    registry: Registry,
    settings: Settings,
    reporter: Reporter | None = None,
    earlier: Mapping[str, TaskResult] | None = None,
    kept: Kept | None = None,
    method: str | None = None,
) -> RunResult:
    """Judge the tasks, in ``settings.jobs`` processes; the result does not depend on how many.

    A task that cannot be judged does not keep the others from running, and a process that dies costs its task
    alone. On KeyboardInterrupt, SIGTERM, or StoppedError of a judge, the run ends with ``stopped``; what was
    found so far is in the result and on disk. Tasks that ``earlier`` (a stopped run of the same sources) has
    judged are taken from there. ``kept``: verdicts of earlier runs; those of which nothing has changed are
    taken over. ``method``: how processes are started; see ``multiprocessing``. Raises BadInputError: the
    build folder cannot be written.
    """
    show = reporter or Quiet()
    cache = kept or Nothing()
    known = _known(tasks, {**cache.take_over(tasks), **(earlier or {})})
    due = [place for place in range(len(tasks)) if place not in known]
    parts = {name: found for name in REUSING if (found := cache.reuse(name)) is not None}
    parts |= {tasks[place].name: found for place in due if (found := cache.asked(tasks[place])) is not None}
    settings = replace(settings, reuse=parts)
    state = _Run(tasks, settings=settings, texts=texts_of(tasks, cache.said))
    source: _Source | None = None
    with _terminable():
        try:
            with (
                Journal(settings, (earlier or {}).values()) if due else nullcontext() as saved,
                _source(tasks, due, registry=registry, settings=settings, method=method) as source,
            ):
                show.begin(tasks)
                for place, result in known.items():
                    show.started(tasks[place])
                    state.add(place, result, show)
                for place, judged in source.results(show):
                    result = cache.keep(tasks[place], judged)
                    if saved is not None:
                        saved.add(result)
                    state.add(place, result, show)
        except (KeyboardInterrupt, StoppedError):
            state.stopped = True
        finally:
            show.end()
            judged_now = [state.results[place] for place in due if place in state.results]
            if judged_now:
                keep_seconds(settings.build, judged_now)
            cache.close()
    return state.result(source.processor_seconds if source else 0.0, remarks=cache.remarks)


def _known(tasks: Sequence[Task], earlier: Mapping[str, TaskResult]) -> dict[int, TaskResult]:
    """Results that are there before anything is judged, by place in the plan."""
    return {place: earlier[task.name] for place, task in enumerate(tasks) if task.name in earlier}


class _Source(Protocol):
    """Where the results of the other tasks come from."""

    def results(self, show: Reporter) -> Iterator[tuple[int, TaskResult]]:
        """Place in the plan and result of each task, as they are judged."""

    @property
    def processor_seconds(self) -> float:
        """Processor time of all that the run has started."""


@contextmanager
def _source(
    tasks: Sequence[Task], due: Sequence[int], *, registry: Registry, settings: Settings, method: str | None
) -> Iterator[_Source]:
    """The cluster that the master names, the pool, or this process if one is enough."""
    if due and not parse_master(settings.master).is_local:
        from tidemark.checks.gate.cluster import Cluster  # loads Spark

        yield Cluster(tasks, due, settings=settings)
        return
    jobs = min(settings.jobs, len(due))
    if jobs < 2:
        yield _Here(tasks, due, registry=registry, settings=settings)
        return
    from tidemark.checks.gate.pool import Pool

    last = last_seconds(settings.build)
    schedule = Schedule((Due(place, tasks[place], needs_of(tasks[place], last)) for place in due), jobs=jobs)
    for name in {tasks[place].judge for place in due} & set(registry):
        with suppress(MissingToolError):  # said for each task of the judge
            _ = registry[name].kinds  # imported once, for all processes
    with Pool(
        tasks, schedule, registry=registry, settings=replace(settings, jobs=jobs), method=method
    ) as pool:
        yield pool


class _Here:
    """Judges the tasks in this process, in the order of the plan."""

    def __init__(
        self, tasks: Sequence[Task], due: Sequence[int], *, registry: Registry, settings: Settings
    ) -> None:
        self._tasks = [(place, tasks[place]) for place in due]
        self._registry = registry
        self._settings = settings
        self._used = processor_seconds()

    def results(self, show: Reporter) -> Iterator[tuple[int, TaskResult]]:
        """See ``_Source``."""
        for place, task in self._tasks:
            progress = show.started(task)
            yield (
                place,
                judge_task(task, registry=self._registry, settings=self._settings, progress=progress),
            )

    @property
    def processor_seconds(self) -> float:
        """See ``_Source``."""
        return processor_seconds() - self._used


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM stops a run like Ctrl-C does: in order, with what was found."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    saved = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, saved)


class _Run:
    """What has been found so far."""

    def __init__(self, tasks: Sequence[Task], *, settings: Settings, texts: Texts) -> None:
        self.tasks = tasks
        self.settings = settings
        self.texts = texts
        self.results: dict[int, TaskResult] = {}
        self.stopped = False
        self.begun = time.perf_counter()

    def add(self, place: int, result: TaskResult, show: Reporter) -> None:
        """Note the result of a task, and show it."""
        self.results[place] = result
        if result.unjudged is not None:
            show.unjudged(self.tasks[place], result.unjudged)
        else:
            show.judged(self.tasks[place], result.judgements, seconds=result.seconds)

    def result(self, processor: float, *, remarks: Sequence[str]) -> RunResult:
        """The whole, in the order of the plan. ``processor``: seconds of processor time."""
        found = [self.results[place] for place in sorted(self.results)]
        new = list(dict.fromkeys(result.unpinned for result in found if result.unpinned))
        if new:
            told = f"no pin is there to compare with;  tidemark pin  would write: {'; '.join(new)}"
            remarks = [*remarks, told]
        return RunResult(
            tier=self.settings.tier,
            seed=self.settings.seed,
            judgements=tuple(judgement for result in found for judgement in result.judgements),
            unjudged=tuple(result.unjudged for result in found if result.unjudged is not None),
            planned=len(self.tasks),
            done=len(found),
            stopped=self.stopped,
            descriptions=self.texts.descriptions,
            kinds=self.texts.kinds,
            frames=tuple(self.texts.frames),
            sources=self.texts.sources,
            places=self.texts.places,
            seconds=time.perf_counter() - self.begun,
            task_seconds={result.task: result.seconds for result in found},
            processor_seconds=processor,
            remarks=tuple(remarks),
        )
