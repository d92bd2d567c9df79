"""Runs one search on a cluster and prints a line for each round, then the summary as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from checks.spark.runners import OnSpark
from checks.spark.search import Limits, Search
from checks.spark.session import SparkOptions, spark_session, stop_session
from tests.checks.spark.opponents import SIX_MANAGERS, make, summary


def main(master: str, folder: Path) -> None:
    settings = {"spark.executor.memory": "512m", "spark.cores.max": "2", "spark.task.maxFailures": "8"}
    # A lost executor is noticed at once instead of after three times five seconds.
    settings |= {"spark.shuffle.io.maxRetries": "1", "spark.shuffle.io.retryWait": "200ms"}
    spark = spark_session(
        master=master, build=folder / "build", options=SparkOptions(memory_gib=1, settings=settings)
    )
    directory = make(folder / "run", SIX_MANAGERS, partitions=4)
    search = Search(directory, spark=OnSpark(spark), limits=Limits(handover=4000))

    def watch(done):
        print(f"round {done.depth} {'spark' if done.on_spark else 'driver'} {done.seconds:.2f}", flush=True)

    found = summary(search.run(watch))
    print("result", json.dumps({**found, "events": sorted(found["events"])}), flush=True)
    stop_session()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
