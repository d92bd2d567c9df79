"""Tries mutants on a cluster, as ``tidemark mutants --master`` does; prints what became of them as JSON."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.checks.spark.cluster_driver import SETTINGS
from tests.manifests import entry_of, manifests
from tidemark.checks.mutation.implementation import command
from tidemark.checks.mutation.implementation.command import Chosen
from tidemark.checks.mutation.implementation.fate import Trial
from tidemark.checks.mutation.implementation.judge import Plan
from tidemark.checks.spark.session import SparkOptions, spark_session, stop_session

HOST = "tso-impl-takeover"


def tried(names: Sequence[str], *, master: str | None, build: Path) -> list[Trial]:
    """Trials of mutants of the oracle, each with one host, here or on Spark."""
    plan = Plan.of(entry_of("tso-impl-places-sample"), manifests()["tso"])
    hosts = tuple(host for host in plan.hosts if host.name == HOST)
    options = Chosen(entry="", only="", listed=False, last=False, build=build, jobs=2, master=master)
    return list(command._trials(plan, [(name, hosts) for name in names], {}, options))


def main(master: str, build: Path, names: Sequence[str]) -> None:
    # The command takes the session that runs.
    session = spark_session(master=master, build=build, options=SparkOptions(memory_gib=1, settings=SETTINGS))
    found = tried(names, master=session.sparkContext.master, build=build)
    print(json.dumps({trial.id: [trial.fate.value, trial.host, trial.claim] for trial in found}), flush=True)
    stop_session()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
