"""Evidence: a log on Spark against one core and against other engines, monitors, client histories."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tidemark.bench.measure import Measure, Plan
from tidemark.bench.process import in_fresh_process
from tidemark.bench.row import Goal, Row
from tidemark.bench.sample import Sample, Side, cpu_rate, rate, seconds
from tidemark.bench.work.evidence import (
    duckdb_log,
    history,
    plain_log,
    plain_monitors,
    polars_log,
    spark_log,
    spark_monitors,
    write_log,
    write_logs,
)

NAME = "evidence"
CORES = 2
PLAIN, SPARK, POLARS, DUCKDB = (
    "a loop, one core",
    f"Spark, local[{CORES}]",
    "Polars",
    f"DuckDB, {CORES} threads",
)


def run(plan: Plan) -> Iterator[Row]:
    """Lines, events and operations a second."""
    yield from _logs(plan)
    yield from _files(plan)
    yield from _monitors(plan)
    yield from _histories(plan)


def _logs(plan: Plan) -> Iterator[Row]:
    lines = 50_000 if plan.quick else 4_000_000
    path = plan.scratch / "synthetic.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_log(str(path), lines=lines)
    work = {
        PLAIN: partial(in_fresh_process, plain_log, path=str(path)),
        SPARK: partial(
            in_fresh_process, spark_log, family=True, path=str(path), cores=CORES, build=_build(plan)
        ),
        POLARS: partial(in_fresh_process, polars_log, path=str(path)),
        DUCKDB: partial(in_fresh_process, duckdb_log, path=str(path), cores=CORES),
    }
    sides = [Side(name, one, subject="log") for name, one in work.items()]
    series = plan.series(sides, measure=NAME, size=f"{lines:,} lines, one in twelve an event")
    note = "the session runs before the clock starts; the others use the same regular expressions"
    yield series.row(PLAIN, PLAIN, rate("lines"), unit="lines/s")
    yield series.row(
        SPARK, SPARK, rate("lines"), unit="lines/s", against=PLAIN, goal=Goal(at_least=1.5), note=note
    )
    what = "Spark's processor time against a loop's: two cores at work win by twice this"
    yield series.row(SPARK, what, cpu_rate("lines"), unit="lines/s of a core", against=PLAIN)
    for other in (POLARS, DUCKDB):
        what = f"Spark against {other}"
        yield series.row(SPARK, what, rate("lines"), unit="lines/s", against=other, goal=Goal(at_least=0.5))


def _files(plan: Plan) -> Iterator[Row]:
    """The same lines in few and in many files: the memory must not grow with their number."""
    lines, few, many = (20_000, 2, 40) if plan.quick else (1_000_000, 10, 2_000)
    sides = []
    for count in (few, many):
        folder = plan.scratch / f"files-{count}"
        write_logs(folder, lines=lines, files=count)
        work = partial(in_fresh_process, plain_log, path=str(folder))
        sides.append(Side(f"{count:,} files", work, subject="files"))
    series = plan.series(sides, measure=NAME, size=f"{lines:,} lines in few and in many files")
    yield series.row(sides[0].name, sides[0].name, peak, unit="bytes")
    yield series.row(
        sides[1].name, sides[1].name, peak, unit="bytes", against=sides[0].name, goal=Goal(at_most=1.2)
    )


def peak(sample: Sample) -> float:
    """Greatest memory of the process."""
    return float(sample.peak_bytes)


def _monitors(plan: Plan) -> Iterator[Row]:
    count = 100_000 if plan.quick else 10_000_000
    small = min(count, 1_000_000)
    core = plan.series(
        [Side(PLAIN, partial(in_fresh_process, plain_monitors, count=small))],
        measure=NAME,
        size=f"{small:,} events of 16 channels",
    )
    goal = Goal(at_least=1e5, unit="events/s of a core")
    yield core.row(PLAIN, "all monitors, a core", cpu_rate("events"), unit="events/s of a core", goal=goal)
    spread = partial(
        in_fresh_process, spark_monitors, family=True, count=count, cores=CORES, build=_build(plan)
    )
    series = plan.series([Side(SPARK, spread)], measure=NAME, size=f"{count:,} events of 16 channels")
    limit = Goal(at_most=180.0, unit="s")
    yield series.row(
        SPARK, f"all monitors, {SPARK}", seconds, unit="s", goal=limit, note="from Parquet on disk"
    )


def _histories(plan: Plan) -> Iterator[Row]:
    count = 5_000 if plan.quick else 1_000_000
    work = partial(in_fresh_process, history, count=count, folder=str(plan.scratch / "history"))
    series = plan.series([Side(PLAIN, work)], measure=NAME, size=f"{count:,} operations of 8 clients")
    limit = Goal(at_most=60.0, unit="s")
    yield series.row(PLAIN, "client histories, read and judged", seconds, unit="s", goal=limit)


def _build(plan: Plan) -> str:
    return str(Path(plan.scratch) / "spark")


MEASURE = Measure(NAME, "Evidence: logs, monitors and client histories.", run)
