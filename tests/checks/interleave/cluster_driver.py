"""Searches the interleavings of a program on a cluster; prints a line for each round, then what was found."""

import sys
from pathlib import Path

from tests.checks.spark.cluster_driver import SETTINGS
from tidemark.checks.interleave import Options, Reduction
from tidemark.checks.interleave.result import Exploration
from tidemark.checks.interleave.spark import Spread, explore_on_spark
from tidemark.checks.spark.session import SparkOptions, spark_session, stop_session
from tidemark.models.simulation import ProgramRef

PROGRAM = ProgramRef.of(
    "tidemark.models.protocols.flush.program:flush", rows=(1,), sync_each_row=True, crashes=1
)
OPTIONS = Options(reduction=Reduction.SLEEP_SETS, classes=True, audit=0)


def facts(found: Exploration) -> str:
    """What must not depend on who searched. The way to a part of the tree is observed once for each part."""
    counts = found.statistics.counts()
    for work in ("checked_again", "audited", "commuting", "visible_steps"):
        del counts[work]
    classes = sum(int.from_bytes(digest[:7]) for digest in found.classes)
    return f"{sorted(counts.items())} {found.finals_check_sum()} {len(found.classes)} {classes}"


def main(master: str, folder: Path) -> None:
    session = spark_session(
        master=master, build=folder / "build", options=SparkOptions(memory_gib=1, settings=SETTINGS)
    )
    found = explore_on_spark(
        session,
        PROGRAM,
        OPTIONS,
        spread=Spread(partitions=4, parts=24, budget=60),
        tick=lambda done, _found: print(f"round {done.number} {done.left}", flush=True),
    )
    print("result", found.status.value, facts(found), flush=True)
    stop_session()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
