"""Searching the interleavings of a program on Spark, with a session of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tidemark.bench.sample import NotMeasured, Sample


def spread(*, program: str, arguments: dict[str, Any], reduction: str, master: str) -> Sample:
    """All interleavings in rounds of tasks. Starting the session is a value of its own, not part of the time.

    The workers have imported the program before the clock starts, like the process of the other side.

    Raises:
        RuntimeError: the search was cut.
    """
    from tidemark.checks.interleave import Options, Reduction, Status
    from tidemark.checks.interleave.spark import Round, Spread, explore_on_spark
    from tidemark.checks.spark.session import spark_session, stop_session
    from tidemark.checks.verdicts.errors import MissingToolError
    from tidemark.models.simulation import ProgramRef

    chosen = ProgramRef.of(program, **arguments)
    options = Options(reduction=Reduction(reduction))
    rounds: list[Round] = []
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-spark-") as folder:
        try:
            session = spark_session(master=master, build=Path(folder))
        except MissingToolError as error:
            raise NotMeasured(f"{error.message}; {error.remedy}") from error
        warm = Spread(parts=8, budget=1, rounds=1)
        explore_on_spark(session, chosen, options, spread=warm)
        found = explore_on_spark(session, chosen, options, tick=lambda done, _found: rounds.append(done))
        stop_session()
    if found.status is not Status.EXHAUSTED:
        raise RuntimeError(f"{program} {arguments} on {master}: {found.status}: {found.reason}")
    last = rounds[-1]
    return Sample(
        seconds=last.wall,
        counts={
            "final_states": len(found.finals),
            f"executions by {reduction}": found.statistics.executions,
        },
        texts={"digest of the final states": found.finals_digest()},
        values={"overhead": 100 * last.overhead, "rounds": last.number, "rate": found.done / last.wall},
    )
