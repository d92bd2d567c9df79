"""Portions of a proof in several processes, or as Spark tasks. Each makes the obligations itself: only
answers travel.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tidemark.checks.prove.prover import FIRST_S, PORTION, ObligationOutcome, Progress, Prover
from tidemark.models.symbolic.hints import SmallModel
from tidemark.models.symbolic.solve import Answer
from tidemark.models.symbolic.subject import ProofSubject

ENOUGH = 2 * PORTION
"""Obligations for a solver below which starting processes takes longer than it saves."""

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Reply = tuple[Answer, SmallModel | None]

_here: list[Prover] = []
"""The prover of a worker process: made when it starts, empty elsewhere."""


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """Runs portions of a proof here, in up to ``jobs`` processes or on Spark, with the same answers."""

    def __init__(
        self, prover: Prover, *, jobs: int, progress: Progress, spark: SparkSession | None = None
    ) -> None:
        self.prover = prover
        self._spark = spark
        self.progress = progress
        self.processes = 1
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def run(self, portions: Sequence[Sequence[int]], *, timeout_s: float) -> list[ObligationOutcome]:
        """The outcomes of all portions, in the order of the portions. ``timeout_s`` is for one obligation."""
        if self._spark is not None and portions:
            return self._run_on_spark(self._spark, portions, timeout_s)
        wanted = min(self._jobs, len(portions))
        work = sum(not self.prover.obligations[place].trivial for portion in portions for place in portion)
        quick = work < ENOUGH and timeout_s <= FIRST_S
        if wanted < 2 or (self._pool is None and quick):
            return self._run_here(portions, timeout_s)
        if self._pool is None:
            self.processes = wanted
            self._pool = ProcessPoolExecutor(
                wanted,
                mp_context=get_context("spawn"),
                initializer=_begin,
                initargs=(self.prover.subject, self.prover.seed),
            )
        return self._run_there(self._pool, portions, timeout_s)

    def _run_here(self, portions: Sequence[Sequence[int]], timeout_s: float) -> list[ObligationOutcome]:
        found: list[ObligationOutcome] = []
        total = len(self.prover.obligations)
        for portion in portions:
            self.progress(len(found), total, self.prover.obligations[portion[0]].name)
            found += self.prover.attempt_all(portion, timeout_s=timeout_s)
        return found

    def _run_there(
        self, pool: ProcessPoolExecutor, portions: Sequence[Sequence[int]], timeout_s: float
    ) -> list[ObligationOutcome]:
        futures: dict[Future[list[Reply]], Sequence[int]] = {}
        for portion in portions:
            futures[pool.submit(_portion, tuple(portion), timeout_s)] = portion
        done, total = 0, len(self.prover.obligations)
        self.progress(done, total, f"in {self.processes} processes")
        for future in as_completed(futures):
            done += len(futures[future])
            self.progress(done, total, self.prover.obligations[futures[future][-1]].name)
        return [outcome for future, portion in futures.items() for outcome in self._outcomes(future, portion)]

    def _run_on_spark(
        self, spark: SparkSession, portions: Sequence[Sequence[int]], timeout_s: float
    ) -> list[ObligationOutcome]:
        from tidemark.checks.spark.sweep import run_many

        subject, seed = self.prover.subject, self.prover.seed
        self.processes = min(spark.sparkContext.defaultParallelism, len(portions))
        replies: list[list[Reply]] = run_many(
            spark,
            [(subject, seed, tuple(portion), timeout_s) for portion in portions],
            "tidemark.checks.prove.workers:portion_of",
            name=f"obligations of {subject.protocol}",
            unit="portions",
        )
        return [
            ObligationOutcome(self.prover.obligations[place], *reply)
            for portion, several in zip(portions, replies, strict=True)
            for place, reply in zip(portion, several, strict=True)
        ]

    def _outcomes(self, future: Future[list[Reply]], portion: Sequence[int]) -> list[ObligationOutcome]:
        obligations = [self.prover.obligations[place] for place in portion]
        try:
            replies = future.result()
        except BrokenProcessPool:
            lost = "a worker process ended abruptly"
            return [ObligationOutcome(o, Answer(o.name, "unknown", 0.0, reason=lost)) for o in obligations]
        return [ObligationOutcome(o, *reply) for o, reply in zip(obligations, replies, strict=True)]


def portion_of(item: tuple[ProofSubject, int, tuple[int, ...], float]) -> list[Reply]:
    """The work of one Spark task. A worker process keeps the prover of the last subject."""
    subject, seed, places, timeout_s = item
    if not _here or (_here[0].subject, _here[0].seed) != (subject, seed):
        _begin(subject, seed)
    return _portion(places, timeout_s)


def _begin(subject: ProofSubject, seed: int) -> None:
    _here[:] = [Prover(subject, seed)]


def _portion(places: tuple[int, ...], timeout_s: float) -> list[Reply]:
    outcomes = _here[0].attempt_all(places, timeout_s=timeout_s)
    return [(outcome.answer, outcome.model) for outcome in outcomes]
