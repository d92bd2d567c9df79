"""Runs or resumes one search on a cluster and prints a line for each round, then the summary as JSON."""

import argparse
import json
from pathlib import Path

from tests.checks.spark.opponents import SIX_MANAGERS, make, summary
from tests.checks.spark.saboteurs import SLOW_AT_FIRST, runs_of
from tidemark.checks.spark.search.breadth_first import RoundLimits, Search
from tidemark.checks.spark.search.native_kernel import FACTORY as NATIVE
from tidemark.checks.spark.search.run_directory import RunDirectory
from tidemark.checks.spark.search.runners import OnSpark
from tidemark.checks.spark.session import SparkOptions, spark_session, stop_session

SETTINGS = {"spark.executor.memory": "512m", "spark.cores.max": "2", "spark.task.maxFailures": "8"}
# A lost executor is noticed at once instead of after three times five seconds.
SETTINGS |= {"spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
SETTINGS |= {"spark.shuffle.io.maxRetries": "1", "spark.shuffle.io.retryWait": "200ms"}

SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "50ms",
}


def main(master: str, folder: Path, *, resume: bool, speculate: bool) -> None:
    factory = SLOW_AT_FIRST if speculate else NATIVE
    settings = SETTINGS | (SPECULATION if speculate else {})
    spark = spark_session(
        master=master, build=folder / "build", options=SparkOptions(memory_gib=1, settings=settings)
    )
    if resume:
        directory = RunDirectory.resume(folder / "run", SIX_MANAGERS, factory=factory, partitions=None)
        directory.keep(directory.complete_rounds())
    else:
        directory = make(folder / "run", SIX_MANAGERS, partitions=4, factory=factory)
    search = Search(directory, spark=OnSpark(spark), limits=RoundLimits(handover=4000, together=2))

    def watch(done):
        print(f"round {done.depth} {'spark' if done.on_spark else 'driver'} {done.seconds:.2f}", flush=True)

    found = summary(search.run(watch))
    print("twice", runs_of(spark.sparkContext), flush=True)
    print("result", json.dumps({**found, "events": sorted(found["events"])}), flush=True)
    stop_session()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("master")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--speculate", action="store_true")
    given = parser.parse_args()
    main(given.master, given.folder, resume=given.resume, speculate=given.speculate)
