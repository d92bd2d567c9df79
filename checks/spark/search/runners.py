"""Who carries out a round: this process for small levels, Spark for large ones. Both run the same pure
functions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from tidemark.checks.spark.search.rounds import Packet, Plan, absorb, expand
from tidemark.checks.spark.search.search_kernel import judge_states, kernel_of, task_done
from tidemark.checks.spark.states.packed_states import minus, sorted_run
from tidemark.checks.spark.states.sent_filter import SentFilter
from tidemark.checks.spark.states.table import Table, empty_place
from tidemark.checks.spark.sweep import named
from tidemark.models.instance import Instance

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GROWS = 1000  # states with which the smallest table grows
T = TypeVar("T")
Question = Callable[[Plan, int], T | None]
"""A function of a plan and a partition; None is no answer. For Spark it must be picklable by reference."""


class Runner(Protocol):
    """Carries out rounds."""

    def round(self, plan: Plan, *, note: str, count: int = 1) -> None:
        """Write all files of ``count`` rounds from ``plan.number`` on. ``note`` is a short text for people
        who watch.
        """

    def ask(self, plan: Plan, question: Question[T], *, note: str) -> list[T]:
        """The answers of all partitions that have one."""


class InProcess:
    """This process, one partition after the other."""

    def round(self, plan: Plan, *, note: str, count: int = 1) -> None:  # noqa: ARG002 - nothing watches
        """See Runner."""
        for number in range(plan.number, plan.number + count):
            now = replace(plan, number=number)
            waiting: list[list[Packet]] = [[] for _ in range(plan.partitions)]
            for partition in range(plan.partitions):
                for owner, packet in expand(now, partition):
                    waiting[owner].append(packet)
            for partition, packets in enumerate(waiting):
                absorb(now, partition, packets)

    def ask(self, plan: Plan, question: Question[T], *, note: str) -> list[T]:  # noqa: ARG002 - nothing watches
        """See Runner."""
        answers = (question(plan, partition) for partition in range(plan.partitions))
        return [answer for answer in answers if answer is not None]


class OnSpark:
    """One Spark job for a few rounds: expand by partition, send the packets to their owners, absorb and
    expand again in the same task, and so on.

    A stage for each round, one more for each job. A job reads files and writes files, so that no lineage
    grows from job to job.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext

    @property
    def cores(self) -> int:
        """Tasks that can run at the same time."""
        return self._context.defaultParallelism

    @property
    def master(self) -> str:
        """Address of the master."""
        return str(self._context.master)

    def warm(self, instance: Instance, factory: str) -> threading.Thread:
        """Let the workers start and load the kernel while the driver does the small rounds."""

        def load() -> None:
            places = self._context.parallelize(range(self.cores), self.cores)
            # A worker that cannot do it says so, with its reason, in the first round.
            with suppress(Exception), named(self._context, f"{instance.name}: warm up"):
                places.mapPartitions(partial(_load, instance, factory)).partitionBy(self.cores, int).count()

        thread = threading.Thread(target=load, daemon=True, name="warm-up")
        thread.start()
        return thread

    def round(self, plan: Plan, *, note: str, count: int = 1) -> None:
        """See Runner."""
        context, size, name = self._context, plan.partitions, plan.instance.name
        job, last = f"{name}: {note}", plan.number + count - 1
        packets = context.parallelize(range(size), size).mapPartitions(partial(_expand, plan))
        stage = f"{name}: expand the states of depth {plan.number - 1}"
        for number in range(plan.number, last + 1):
            with named(context, job, stage=stage):
                owned = packets.partitionBy(size, int)
            now = replace(plan, number=number)
            packets = owned.mapPartitionsWithIndex(partial(_absorb_and_expand, now))
            stage = f"{name}: absorb and expand the states of depth {number}"
        try:
            with named(context, job, stage=f"{name}: absorb the states of depth {last}"):
                done = sum(owned.mapPartitionsWithIndex(partial(_absorb, now)).collect())
        finally:
            # Without this, shuffle files stay until the JVM's next full collection, which may be after the
            # disk is full.
            owned._jrdd.rdd().cleanShuffleDependencies(False)  # noqa: SLF001, FBT003 - Python has no other way
        if done != size:
            raise RuntimeError(f"{done} of {size} partitions reported for round {last}")

    def ask(self, plan: Plan, question: Question[T], *, note: str) -> list[T]:
        """See Runner."""
        places = self._context.parallelize(range(plan.partitions), plan.partitions)
        with named(self._context, f"{plan.instance.name}: {note}"):
            answers = places.map(partial(question, plan)).collect()
        return [answer for answer in answers if answer is not None]


def _load(instance: Instance, factory: str, places: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """Everything that a round compiles or loads once, and an exchange for Spark's own sake."""
    kernel = kernel_of(instance, factory)
    run = sorted_run(kernel.initial())
    successors = kernel.expand(run[: kernel.chunk]).successors
    remembered = SentFilter(words=kernel.words, partitions=1, memory=0)
    remembered.begin(1)
    remembered.split(successors)
    table = Table(empty_place(Table.size(kernel.words)), words=kernel.words, larger=empty_place)
    table.insert(np.arange(kernel.words * _GROWS, dtype=np.uint64).reshape(-1, kernel.words))
    minus(sorted_run(successors), [run])
    judge_states(kernel, run)
    task_done()
    return ((place, bytes(_GROWS)) for place in places)


def _expand(plan: Plan, partitions: Iterable[int]) -> Iterator[tuple[int, Packet]]:
    for partition in partitions:
        yield from expand(plan, partition)
    task_done()


def _absorb_and_expand(
    plan: Plan, partition: int, packets: Iterable[tuple[int, Packet]]
) -> Iterator[tuple[int, Packet]]:
    absorb(plan, partition, (packet for _, packet in packets))
    yield from expand(replace(plan, number=plan.number + 1), partition)
    task_done()


def _absorb(plan: Plan, partition: int, packets: Iterable[tuple[int, Packet]]) -> Iterator[int]:
    absorb(plan, partition, (packet for _, packet in packets))
    task_done()
    yield 1
