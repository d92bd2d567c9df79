"""A standalone cluster on this machine: two executors against one, and what a killed executor costs."""

import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil

from tidemark.bench.instances import subject
from tidemark.bench.measures.search import STATES
from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import Clock, NotMeasured, Sample, Side, rate, value
from tidemark.bench.series import NOT_QUICK, Measure, Plan, Row, left_out
from tidemark.checks.spark.search.breadth_first import Round, RoundLimits, Search
from tidemark.checks.spark.search.native_kernel import FACTORY
from tidemark.checks.spark.search.run_directory import RunDirectory
from tidemark.checks.spark.search.runners import OnSpark
from tidemark.checks.spark.session import SparkOptions, cluster, executors, spark_session, stop_session
from tidemark.checks.verdicts.errors import MissingToolError

_SETTINGS = {
    "spark.executor.memory": "512m",
    "spark.task.maxFailures": "8",
    # A lost executor is noticed at once instead of after three times five seconds.
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "200ms",
}
_WARM = "flush/tiny"


def on_cluster(*, reference: str, workers: int, handover: int, kill: bool = False) -> Sample:
    """All states, with so many executors of one core, which a small search has warmed up.

    ``kill``: search twice more, and end one executor in the middle of the last search.
    ``recovery_seconds`` is what that takes longer than the one before it.
    """
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-cluster-") as name:
        folder = Path(name)
        try:
            with cluster(folder / "cluster", workers=workers) as (master, processes):
                values, levels, seconds = _measure(
                    folder, master, processes, reference=reference, handover=handover, kill=kill
                )
        except MissingToolError as error:
            raise NotMeasured(f"{error.message}; {error.remedy}") from error
    return Sample(seconds=seconds, counts={"distinct": sum(levels), "depth": len(levels)}, values=values)


def _measure(
    folder: Path, master: str, processes: list[psutil.Process], *, reference: str, handover: int, kill: bool
) -> tuple[dict[str, float], list[int], float]:
    options = SparkOptions(memory_gib=1, settings=_SETTINGS)
    try:
        runner = OnSpark(spark_session(master=master, build=folder / "build", options=options))
        _search(folder / "warm", _WARM, runner, handover=0)
        levels, seconds = _search(folder / "run", reference, runner, handover=handover)
        if not kill:
            return {}, levels, seconds
        # Java is faster the second time: the third search is compared with that one.
        _, undisturbed = _search(folder / "calm", reference, runner, handover=handover)
        killer = _Killer(processes, depth=levels.index(max(levels)))
        again, longer = _search(folder / "hit", reference, runner, handover=handover, killer=killer)
        if again != levels or not killer.killed:
            raise RuntimeError(f"{reference}: other levels after a killed executor, or none was killed")
        return {"recovery_seconds": longer - undisturbed}, levels, seconds
    finally:
        stop_session()


class _Killer:
    """Ends one executor shortly after the round of a depth has begun."""

    def __init__(self, processes: list[psutil.Process], *, depth: int) -> None:
        self.killed = 0
        self._processes, self._depth = processes, depth

    def __call__(self, done: Round) -> None:
        if done.depth == self._depth:
            threading.Thread(target=self._kill, daemon=True).start()

    def _kill(self) -> None:
        time.sleep(0.15)
        executor = executors(self._processes)[0]
        executor.kill()
        self.killed = executor.pid


def _search(
    folder: Path, reference: str, runner: OnSpark, *, handover: int, killer: _Killer | None = None
) -> tuple[list[int], float]:
    instance = subject(reference).instance
    clock = Clock()
    run = RunDirectory.create(folder, instance, factory=FACTORY, partitions=2)
    result = Search(run, spark=runner, limits=RoundLimits(handover=handover)).run(killer)
    return result.levels, clock.seconds


NAME = "cluster"
REFERENCE = "flush/million"
HANDOVER = 20_000
ONE, TWO = "one executor", "two executors"


def run(plan: Plan) -> Iterator[Row]:
    """The same search with one and with two executors of one core each."""
    if plan.quick:
        yield left_out(NAME, "all", NOT_QUICK)
        return
    found = subject(REFERENCE)
    series = plan.series([_side(ONE, 1), _side(TWO, 2)], measure=NAME, size=found.size)
    note = "every process on one machine; the executors are warm"
    yield from (
        series.row(ONE, ONE, rate("distinct"), unit=STATES, note=note),
        series.row(TWO, TWO, rate("distinct"), unit=STATES, against=ONE, note=note),
        series.row(
            TWO, "a killed executor", value("recovery_seconds"), unit="s",
            note="what a search takes longer in which one executor of two is killed; equal levels",
        ),
    )  # fmt: skip


def _side(name: str, workers: int) -> Side:
    found = subject(REFERENCE)
    work = partial(
        in_fresh_process,
        on_cluster,
        family=True,
        reference=REFERENCE,
        workers=workers,
        handover=HANDOVER,
        kill=workers > 1,
    )
    expected = {count: found.expected[count] for count in ("distinct", "depth")}
    return replace(Side(name, work, subject=REFERENCE), expected=expected)


MEASURE = Measure(NAME, "A standalone cluster: two executors against one, and a killed executor.", run)
