"""The interleavings of one program on Spark: two local cores against one process, and on a standalone cluster
of this machine two executors against one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.bench.measures.interleave import executions
from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import NotMeasured, Sample, Side, seconds, value
from tidemark.bench.series import Goal, Measure, Plan, Row
from tidemark.checks.verdicts.errors import MissingToolError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CLUSTER = {"spark.executor.memory": "512m"}


def spread(*, program: str, arguments: dict[str, Any], reduction: str, parts: int, master: str) -> Sample:
    """All interleavings in rounds of tasks, after the driver has cut the tree in so many ``parts``.

    The session runs and the workers have imported the program before the clock starts, like the process of
    the other side. Raises RuntimeError: the search was cut, or the tree has fewer parts.
    """
    with _folder() as folder, _session(folder, master) as session:
        return _explored(session, program=program, arguments=arguments, reduction=reduction, parts=parts)


def spread_on_cluster(
    *, program: str, arguments: dict[str, Any], reduction: str, parts: int, workers: int
) -> Sample:
    """The same on a standalone cluster of this machine, with so many executors of one core.

    Raises RuntimeError: the search was cut, or the tree has fewer parts; TimeoutError: not all executors
    registered.
    """
    from tidemark.checks.spark.session import cluster, executors, wait_for

    with (
        _folder() as folder,
        cluster(folder / "cluster", workers=workers) as (master, processes),
        _session(folder, master, settings=_CLUSTER) as session,
    ):
        # The driver's own memory is one entry.
        known = session.sparkContext._jsc.sc()  # noqa: SLF001 - Python has no other way to ask
        wait_for(lambda: known.getExecutorMemoryStatus().size() == workers + 1)
        if len(executors(processes)) != workers:
            raise RuntimeError(f"{len(executors(processes))} executors, not {workers}")
        return _explored(session, program=program, arguments=arguments, reduction=reduction, parts=parts)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-spark-") as folder:
        try:
            yield Path(folder)
        except MissingToolError as error:
            raise NotMeasured(f"{error.message}; {error.remedy}") from error


@contextmanager
def _session(folder: Path, master: str, settings: dict[str, str] | None = None) -> Iterator[SparkSession]:
    from tidemark.checks.spark.session import SparkOptions, spark_session, stop_session

    try:
        options = SparkOptions(settings=settings or {})
        yield spark_session(master=master, build=folder / "build", options=options)
    finally:
        stop_session()


def _explored(
    session: SparkSession, *, program: str, arguments: dict[str, Any], reduction: str, parts: int
) -> Sample:
    from tidemark.checks.interleave import Options, Reduction, Status
    from tidemark.checks.interleave.spark import Round, Spread, explore_on_spark
    from tidemark.models.simulation import ProgramRef

    chosen = ProgramRef.of(program, **arguments)
    options = Options(reduction=Reduction(reduction))
    rounds: list[Round] = []
    explore_on_spark(session, chosen, options, spread=Spread(parts=parts, budget=1, rounds=2))
    found = explore_on_spark(
        session,
        chosen,
        options,
        spread=Spread(parts=parts),
        tick=lambda done, _found: rounds.append(done),
    )
    if found.status is not Status.EXHAUSTED:
        raise RuntimeError(
            f"{program} {arguments} on {session.sparkContext.master}: {found.status}: {found.reason}"
        )
    last = rounds[-1]
    if last.number == 0:
        raise RuntimeError(f"{program} {arguments}: fewer than {parts} parts, Spark was given nothing")
    return Sample(
        seconds=last.wall,
        counts={
            "final_states": len(found.finals),
            f"executions by {reduction}": found.statistics.executions,
        },
        texts={"digest of the final states": found.finals_digest()},
        values={"overhead": 100 * last.overhead, "rounds": last.number, "rate": found.done / last.wall},
    )


NAME = "interleave-spark"
MASTER = "local[2]"
ALONE, TOGETHER = "one process", f"Spark, {MASTER}"
ONE, TWO = "one executor", "two executors"
AGAINST_ALONE = Goal(at_least=1.7)
AGAINST_ONE = Goal(at_least=1.7)
OVERHEAD = Goal(at_most=10, unit="%")
LARGE: dict[str, Any] = {
    "program": "tidemark.bench.programs:row_flush_and_tick",
    "arguments": {},
    "reduction": "none",
}
SMALL: dict[str, Any] = {
    "program": "tidemark.bench.programs:row_and_flush",
    "arguments": {},
    "reduction": "none",
}


def run(plan: Plan) -> Iterator[Row]:
    """The same executions and the same final states, or it is an error."""
    case = SMALL if plan.quick else LARGE
    spark = {**case, "parts": 8 if plan.quick else 64}
    sides = [
        Side(ALONE, partial(in_fresh_process, executions, **case)),
        Side(TOGETHER, partial(in_fresh_process, spread, family=True, master=MASTER, **spark)),
        Side(ONE, partial(in_fresh_process, spread_on_cluster, family=True, workers=1, **spark)),
        Side(TWO, partial(in_fresh_process, spread_on_cluster, family=True, workers=2, **spark)),
    ]
    size = "one row, one flush" + ("" if plan.quick else ", one more tick")
    series = plan.series(sides, measure=NAME, size=size)
    yield series.row(ALONE, f"{ALONE}: executions a second", value("rate"), unit="/s")
    yield series.row(TOGETHER, f"{TOGETHER}: executions a second", value("rate"), unit="/s")
    yield series.row(
        TOGETHER,
        f"{TOGETHER}: time",
        seconds,
        unit="s",
        against=ALONE,
        inverse=True,
        goal=AGAINST_ALONE,
        note="the session runs already; memory of all its processes",
    )
    yield series.row(
        TOGETHER,
        "cores that do not search",
        value("overhead"),
        unit="%",
        goal=OVERHEAD,
        note="1 - (time of all tasks) / (time x cores): Spark's own share, and waiting for the last task",
    )
    yield series.row(TOGETHER, "rounds", value("rounds"), unit="")
    note = "a standalone cluster, every process on this machine; executors of one core, which are warm"
    yield series.row(ONE, f"{ONE}: time", seconds, unit="s", note=note)
    yield series.row(
        TWO, f"{TWO}: time", seconds, unit="s", against=ONE, inverse=True, goal=AGAINST_ONE, note=note
    )


MEASURE = Measure(
    NAME, "Interleavings on Spark: two local cores against one process, two executors against one.", run
)
