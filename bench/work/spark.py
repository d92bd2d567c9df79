"""Searching an instance on Spark, with a session of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from tidemark.bench.instances import subject
from tidemark.bench.sample import NotMeasured, Sample
from tidemark.bench.work.clock import Clock, family_cpu


def distributed(*, reference: str, master: str, handover: int, together: int | None = None) -> Sample:
    """All states. Starting the session and its workers is a value of its own, not part of the time.

    ``handover``: frontier from which rounds go to Spark; ``together``: so many in a job.
    """
    from tidemark.checks.spark.search.breadth_first import RoundLimits, Search
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
        result = Search(run, spark=runner, limits=limits).run()
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
