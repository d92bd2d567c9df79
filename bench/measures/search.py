"""States a second: the plain interpreter, the compiled kernel with one and two workers, Spark."""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from tidemark.bench.instances import subject
from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import Clock, NotMeasured, Sample, Side, cpu_rate, family_cpu, rate, value
from tidemark.bench.series import NOT_QUICK, Goal, Measure, Plan, Row, Series, left_out


def distributed(*, reference: str, master: str, handover: int, together: int | None = None) -> Sample:
    """All states. Starting the session and its workers is a value of its own, not part of the time.

    ``handover``: frontier from which rounds go to Spark; ``together``: so many in a job.
    """
    from tidemark.checks.spark.search.breadth_first import RoundLimits
    from tidemark.checks.spark.search.breadth_first import Search as SparkSearch
    from tidemark.checks.spark.search.native_kernel import FACTORY
    from tidemark.checks.spark.search.run_directory import RunDirectory
    from tidemark.checks.spark.search.runners import OnSpark
    from tidemark.checks.spark.session import spark_session, stop_session
    from tidemark.checks.verdicts.errors import MissingToolError

    instance = subject(reference).instance
    limits = (
        RoundLimits(handover=handover)
        if together is None
        else RoundLimits(handover=handover, together=together)
    )
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-spark-") as folder:
        start = Clock()
        try:
            runner = OnSpark(spark_session(master=master, build=Path(folder)))
        except MissingToolError as error:
            raise NotMeasured(f"{error.message}; {error.remedy}") from error
        runner.warm(instance, FACTORY).join()
        starting, used, clock = start.seconds, family_cpu(), Clock()
        run = RunDirectory.create(
            Path(folder) / "run", instance, factory=FACTORY, partitions=max(2, runner.cores)
        )
        result = SparkSearch(run, spark=runner, limits=limits).run()
        seconds, used = clock.seconds, family_cpu() - used
        stop_session()
    if result.stopped:
        raise RuntimeError(f"the search of {reference} is incomplete: {result.stopped}")
    on_spark = [done.seconds for done in result.rounds if done.on_spark]
    return Sample(
        seconds=seconds,
        cpu_seconds=used,
        counts={
            "distinct": result.distinct,
            "generated": result.levels[0] + result.generated,
            "depth": len(result.levels),
        },
        values={
            "session_seconds": starting,
            "rounds_on_spark": len(on_spark),
            "seconds_a_round": median(on_spark) if on_spark else float("nan"),
            "sent_bytes_a_state": result.steps.sent * 8 * run.plan.kernel.words / max(1, result.distinct),
        },
    )


_WARM = 20_000
"""States of a first search that only loads compiled code, that of the growing table included."""


def interpreted(*, reference: str) -> Sample:
    """All states, by the interpreter."""
    from tidemark.models.interpreted.interpreter import Interpreter
    from tidemark.models.interpreted.search import Search

    interpreter = Interpreter(subject(reference).instance)
    clock = Clock()
    reached = Search(interpreter).run()
    return Sample(
        seconds=clock.seconds,
        cpu_seconds=clock.cpu_seconds,
        counts={"distinct": len(reached.parents), "generated": reached.generated, "depth": reached.depth},
    )


def native(*, reference: str, workers: int, orbits: bool = False) -> Sample:
    """All states, by the compiled kernel, or one of each orbit. Loading the code is not part of the time."""
    from tidemark.models.native.kernel import compile_kernel
    from tidemark.models.native.search.breadth_first import Search, SearchLimits

    known = subject(reference)
    kernel = compile_kernel(known.instance)
    symmetry = known.symmetry if orbits else ()
    Search(kernel, SearchLimits(states=_WARM), workers=workers, symmetry=symmetry).run()
    search = Search(kernel, workers=workers, symmetry=symmetry)
    clock = Clock()
    result = search.run()
    seconds, cpu_seconds = clock.seconds, clock.cpu_seconds
    if result.stopped:
        raise RuntimeError(f"the search of {reference} is incomplete: {result.stopped}")
    return Sample(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        counts={"distinct": result.distinct, "generated": result.generated, "depth": result.depth},
        values={"bytes_per_state": result.visited.bytes_per_state, "words": kernel.words},
    )


NAME = "search"
INTERPRETER, ONE, TWO, SPARK = "interpreter", "one worker", "two workers", "Spark, two cores"
ORBITS, ORBIT_COST = "orbits, one worker", Goal(at_least=0.6)
SYMMETRIC = "proxy/proxy-three-tasks"
STATES = "states/s"
LARGE = ("flush/million", "flush/ten-million")
TWO_CORES = Goal(at_least=1.6)
BYTES = Goal(at_most=24, unit="bytes")
MASTER = "local[2]"


def side(name: str, reference: str) -> Side:
    """A side of a comparison on an instance."""
    runs = {
        INTERPRETER: partial(in_fresh_process, interpreted, reference=reference),
        ONE: partial(in_fresh_process, native, reference=reference, workers=1),
        TWO: partial(in_fresh_process, native, reference=reference, workers=2),
        SPARK: partial(
            in_fresh_process, distributed, family=True, reference=reference, master=MASTER, handover=0
        ),
    }
    return Side(name, runs[name], subject=reference, expected=subject(reference).expected)


def run(plan: Plan) -> Iterator[Row]:
    """Compare on one small instance all of them, on large ones those that can."""
    yield from _small(plan, "flush/tiny" if plan.quick else "flush/calm")
    if not plan.quick:
        yield from _orbits(plan)
    for reference in LARGE:
        if plan.quick:
            yield left_out(NAME, "all", NOT_QUICK, size=reference)
        else:
            yield from _large(plan, reference)


def _small(plan: Plan, reference: str) -> list[Row]:
    names = (INTERPRETER, ONE) if plan.quick else (INTERPRETER, ONE, TWO, SPARK)
    series = _series(plan, reference, names)
    rows = [
        series.row(INTERPRETER, INTERPRETER, rate("distinct"), unit=STATES),
        series.row(ONE, f"native, {ONE}", rate("distinct"), unit=STATES, against=INTERPRETER),
    ]
    if plan.quick:
        return rows
    return [
        *rows,
        series.row(TWO, f"native, {TWO}", rate("distinct"), unit=STATES, against=INTERPRETER),
        series.row(
            SPARK, f"{SPARK}, every round", rate("distinct"), unit=STATES, against=INTERPRETER,
            note="the session runs already; memory of all its processes",
        ),
    ]  # fmt: skip


def _orbits(plan: Plan) -> list[Row]:
    """What a representative costs, compared with a state of the search without symmetry."""
    known = subject(SYMMETRIC)
    whole = partial(in_fresh_process, native, reference=SYMMETRIC, workers=1)
    sides = [
        Side(ONE, whole),
        Side(ORBITS, partial(whole, orbits=True), subject=SYMMETRIC, expected=known.expected),
    ]
    series = plan.series(sides, measure=NAME, size=f"{SYMMETRIC}: {known.expected['distinct']:,} orbits")
    states, orbits = cpu_rate("distinct"), "up to renamings, by processor time"
    return [
        series.row(ONE, "without symmetry, by processor time", states, unit="states/cpu-s"),
        series.row(ORBITS, orbits, states, unit="orbits/cpu-s", against=ONE, goal=ORBIT_COST),
    ]


def _large(plan: Plan, reference: str) -> list[Row]:
    series = _series(plan, reference, (ONE, TWO))
    return [
        series.row(ONE, f"native, {ONE}", rate("distinct"), unit=STATES),
        series.row(ONE, "the same by processor time", cpu_rate("distinct"), unit="states/cpu-s"),
        series.row(TWO, f"native, {TWO}", rate("distinct"), unit=STATES, against=ONE, goal=TWO_CORES),
        series.row(TWO, "the same by processor time", cpu_rate("distinct"), unit="states/cpu-s", against=ONE),
        bytes_row(series),
    ]


def _series(plan: Plan, reference: str, names: tuple[str, ...]) -> Series:
    sides = [side(name, reference) for name in names]
    return plan.series(sides, measure=NAME, size=subject(reference).size)


def bytes_row(series: Series) -> Row:
    """Bytes of table, state and parent; the goal speaks of states of one word."""
    samples = series.samples[ONE]
    words = int(samples[0].values["words"]) if samples else 0
    note = f"table, state, parent; {words} words a state" if words > 1 else "table, state, parent"
    goal = BYTES if words == 1 else None
    return series.row(ONE, "bytes a state", value("bytes_per_state"), unit="bytes", goal=goal, note=note)


MEASURE = Measure(NAME, "Distinct states a second, with equal counts, by each engine.", run)
