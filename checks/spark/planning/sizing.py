"""How large a cluster a search needs: memory, disk, bytes moved, rounds and time.

Everything is derived from the rounds of a search that was run, as its history has them: seconds are fitted as
latency + cost x states, bytes are taken as they were. The rest is arithmetic on the layout of the files.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.dataset as ds

from tidemark.checks.spark.planning.history import Row
from tidemark.checks.spark.search.breadth_first import JOB_STATES, TOGETHER
from tidemark.checks.spark.states.table import FULL
from tidemark.checks.verdicts.errors import BadInputError

RESERVE = 2.0
"""Memory that is asked for, as a multiple of what a task needs: Python, the kernel, unlike partitions."""

TASK_BYTES = 256e6
"""Candidates that one task should have to sort at most."""

TASKS_A_SECOND = 300.0
"""What a Spark driver starts. A rule of thumb, not measured here: it only bounds the number of partitions."""

LOAD = FULL * 0.75
"""States by slot of a table, on average over its growth from half of ``FULL``."""

BELL = 2.5
"""Greatest level of a search as a multiple of its average level: that of a bell curve cut at its feet."""


FEWEST = 6
"""Rounds without which nothing is fitted."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What the rounds of a search cost; ``core_seconds`` and ``sent_bytes`` are those of one state."""

    instance: str
    master: str
    cores: int
    distinct: int
    rounds: int
    on_spark: int
    words: int
    latency: float
    """Seconds of a round without states."""
    core_seconds: float
    sent_bytes: float


@dataclass(frozen=True, kw_only=True)
class Sizing:
    """What a search takes. Bytes and seconds."""

    states: int
    executors: int
    cores: int
    rounds: int
    partitions: int
    log_bytes: float
    """Level logs, which hold every state once; merged runs take as much again."""
    sent_bytes: float
    """All that is shuffled, in the whole search."""
    round_bytes: float
    """The same in the greatest round."""
    read_bytes: float
    """Known states that are read again in the whole search if no task ever meets a worker that has them."""
    memory_bytes: float
    """One executor: what its tasks sort at the same time, with reserve."""
    cache_bytes: float
    """One executor: its tables of known states. They are mapped, and best in the page cache."""
    compute_seconds: float
    latency_seconds: float

    @property
    def seconds(self) -> float:
        """The whole search."""
        return self.compute_seconds + self.latency_seconds

    @property
    def settings(self) -> dict[str, str]:
        """Settings of Spark that follow."""
        gib = max(1, math.ceil(self.memory_bytes / 2**30))
        return {
            "spark.executor.instances": str(self.executors),
            "spark.executor.cores": str(self.cores),
            # States lie in the Python workers, outside the heap; the JVM only passes packets on.
            "spark.executor.memory": f"{max(1, math.ceil(gib / 4))}g",
            "spark.executor.memoryOverhead": f"{gib}g",
            "spark.default.parallelism": str(self.partitions),
            "spark.speculation": "true",
            "spark.task.maxFailures": "8",
        }


def rounds_of(folder: Path, instance: str) -> list[Row]:
    """The rounds of the last run of an instance that has enough of them on Spark.

    Raises BadInputError if the history has none.
    """
    paths = sorted(folder.glob("*.parquet"), reverse=True) if folder.is_dir() else []
    for path in paths:
        rows = [Row(**values) for values in ds.dataset(path).to_table().to_pylist()]
        if rows[0].instance == instance and len(_warm(rows)) >= FEWEST:
            return rows
    raise BadInputError(
        f"the history in {folder} has no search of {instance!r} with {FEWEST} rounds on Spark",
        remedy=f"run  tidemark spark distribute distribute/{instance} --handover 1000  on a quiet machine",
    )


def _warm(rows: Sequence[Row]) -> list[Row]:
    """The first round on Spark starts the workers."""
    return [row for row in rows if row.on_spark][1:]


def measured(rows: Sequence[Row]) -> Measured:
    """Fit what a round and a state cost."""
    warm = _warm(rows)
    states = np.array([row.expanded for row in warm], float)
    seconds = np.array([row.seconds for row in warm])
    slope, latency = (float(value) for value in np.polyfit(states, seconds, 1))
    if slope <= 0 or latency <= 0:  # noise is greater than what is looked for: the mean is an upper bound
        slope = float(seconds.sum() / states.sum())
        latency = float(np.median(seconds[states <= np.median(states)]))
    first = rows[0]
    return Measured(
        instance=first.instance,
        master=first.master,
        cores=first.cores,
        distinct=rows[-1].distinct,
        rounds=len(rows),
        on_spark=len(warm) + 1,
        words=first.words,
        latency=latency,
        core_seconds=slope * min(first.cores, first.partitions),
        sent_bytes=sum(row.sent_bytes for row in rows) / rows[-1].distinct,
    )


def size(found: Measured, *, states: int, executors: int, cores: int, rounds: int | None = None) -> Sizing:
    """The plan for a search of so many states, in so many rounds (None: as many as the measured one)."""
    levels = rounds or found.rounds
    slots = executors * cores
    widest = BELL * states / levels
    round_bytes = widest * found.sent_bytes
    # Every task of a round in a few waves at most, each with as much as it can sort.
    partitions = slots * max(1, math.ceil(round_bytes / slots / TASK_BYTES))
    together = max(1.0, min(TOGETHER, JOB_STATES * partitions / (states / levels)))
    task = (round_bytes + 8 * found.words * widest) / partitions
    return Sizing(
        states=states,
        executors=executors,
        cores=cores,
        rounds=levels,
        partitions=partitions,
        log_bytes=8.0 * found.words * states,
        sent_bytes=states * found.sent_bytes,
        round_bytes=round_bytes,
        # Known states grow like the area below a bell curve: half of them, on average over the rounds.
        read_bytes=8.0 * found.words * states * levels / 2,
        memory_bytes=RESERVE * cores * 3 * task,
        cache_bytes=8.0 * found.words * states / executors / LOAD,
        compute_seconds=states * found.core_seconds / slots,
        latency_seconds=levels * (found.latency + (1 + 1 / together) * partitions / TASKS_A_SECOND),
    )
