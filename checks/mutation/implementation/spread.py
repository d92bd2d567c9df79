"""Tries mutants as tasks of a Spark session: local cores or a cluster, by the session's master.

A task tries its mutants one after the other, each in a process of its own as on one machine, and says what
became of them. So the fates are those of one machine; only the order in which they come is Spark's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tidemark.checks.mutation.implementation.farm import Farm, Order
from tidemark.checks.mutation.implementation.fate import Trial
from tidemark.checks.mutation.implementation.trial import Target
from tidemark.checks.spark.sweep import run_many
from tidemark.checks.verdicts.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTS_OF_A_CORE = 4
"""Tasks for each core of the session in one round: the last one to end does not hold up the others long."""
_MUTANTS_OF_A_PART = 4
"""Mutants of one task, which itself costs some tenths of a second."""

Part = tuple[tuple[str, str], tuple[Order, ...], dict[str, float], int]


def spread(
    spark: SparkSession,
    target: Target,
    orders: Sequence[Order],
    *,
    name: str,
    seconds: Mapping[str, float],
    seed: int,
    progress: Progress,
) -> Iterator[list[Trial]]:
    """Yield the trials of one round after the other, so that what was tried can be kept between them.

    Raises SweepError when a task fails: a mutant that fails is a trial, and no error. ``target``: the code
    that is made wrong; the executors have the same, each in its own place.
    """
    cores = spark.sparkContext.defaultParallelism
    size = cores * _PARTS_OF_A_CORE * _MUTANTS_OF_A_PART
    for begin in range(0, len(orders), size):
        chosen = orders[begin : begin + size]
        # Neighbours are alike and go to different tasks, so that the tasks take the same time.
        number = max(1, min(len(chosen), cores * _PARTS_OF_A_CORE))
        where = (target.package, target.slips)
        parts = [(where, tuple(chosen[place::number]), dict(seconds), seed) for place in range(number)]
        results: list[list[Trial]] = run_many(
            spark,
            parts,
            "tidemark.checks.mutation.implementation.spread:trials_of_part",
            name=f"mutants of {name}",
            unit="parts",
            progress=progress,
        )
        yield [trial for part in results for trial in part]


def trials_of_part(part: Part) -> list[Trial]:
    """The work of one Spark task."""
    where, orders, seconds, seed = part
    return list(Farm(Target.of(*where), seconds=seconds, seed=seed).trials(orders))
