"""Tries mutants in processes, several at a time. What a process does not say by itself is said of it here.

Tries mutants as tasks of a Spark session: local cores or a cluster, by the session's master.

A task tries its mutants one after the other, each in a process of its own as on one machine, and says what
became of them. So the fates are those of one machine; only the order in which they come is Spark's.
"""

from __future__ import annotations

import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

import psutil

from tidemark.checks.mutation.implementation.fate import Fate, Trial
from tidemark.checks.mutation.implementation.hosts import AnyHost
from tidemark.checks.mutation.implementation.trial import Began, Job, Noted, Target, work
from tidemark.checks.spark.sweep import run_many
from tidemark.checks.verdicts.progress import Progress
from tidemark.models.cores import METHOD
from tidemark.models.refinement.queries import Asked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENDED_BY_US = frozenset({-signal.SIGXCPU, -signal.SIGKILL})
"""Exit status of a process that a limit has ended."""
_POLL_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long one host may take with a mutant.

    factor, extra: of the processor time that it takes with the real code, and seconds on top. idle: wall
    seconds without any work, after which a process counts as stuck. unknown: the processor time of a host
    that was not measured.
    """

    factor: float = 4.0
    extra: float = 5.0
    idle: float = 20.0
    unknown: float = 10.0

    def of(self, seconds: float | None) -> float:
        """Processor seconds for a host that takes so many."""
        return self.factor * (self.unknown if seconds is None else seconds) + self.extra


@dataclass
class _Running:
    mutant: str
    process: BaseProcess
    pipe: Connection
    host: str = ""
    trial: Trial | None = None
    used: float = 0.0
    worked: float = field(default_factory=time.monotonic)


Order = tuple[str, Sequence[AnyHost]]
"""A mutant's id and the hosts that are to try it, in order."""
Main = Callable[..., None]


class Farm:
    """Tries mutants of one target.

    Args:
        seconds: by host the processor time that it takes with the real code, as far as it is known.
        jobs: processes at a time.
        noting: note what the trials ask of specifications.
        main: what a process does; another one only for tests of the farm itself.
    """

    def __init__(
        self,
        target: Target,
        *,
        seconds: Mapping[str, float],
        jobs: int = 1,
        seed: int = 0,
        limits: Limits | None = None,
        noting: bool = False,
        main: Main = work,
    ) -> None:
        self._target = target
        self._seconds = dict(seconds)
        self._jobs = jobs
        self._seed = seed
        self._limits = limits or Limits()
        self._noting = noting
        self._main = main
        self.asked: dict[str, tuple[Asked, ...]] = {}
        """By mutant what its trial has asked; nothing of one whose process did not end by itself."""

    def trials(self, orders: Sequence[Order]) -> Iterator[Trial]:
        """The trial of each mutant, as they end."""
        waiting = list(reversed(orders))
        running: list[_Running] = []
        try:
            while waiting or running:
                while waiting and len(running) < self._jobs:
                    running.append(self._start(*waiting.pop()))
                connection.wait([one.pipe for one in running], timeout=_POLL_S)
                for one in list(running):
                    self._listen(one)
                    self._look_after(one)
                    if one.trial is not None:
                        running.remove(one)
                        _end(one)
                        yield one.trial
        finally:
            for one in running:
                _end(one)

    def _start(self, mutant: str, hosts: Sequence[AnyHost]) -> _Running:
        context: Any = get_context(METHOD)
        here, there = context.Pipe()
        limits = tuple(self._limits.of(self._seconds.get(host.name)) for host in hosts)
        job = Job(self._target, mutant, tuple(hosts), limits, self._seed, self._noting)
        process = context.Process(target=_quietly, args=(self._main, there, job), name=f"mutant {mutant}")
        with warnings.catch_warnings():
            # The other threads of this process only wait for its parent: they hold nothing that is needed.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        there.close()
        return _Running(mutant, process, here)

    def _listen(self, one: _Running) -> None:
        try:
            while one.trial is None and one.pipe.poll():
                message = one.pipe.recv()
                if isinstance(message, Trial):
                    one.trial = message
                elif isinstance(message, Noted):
                    self.asked[one.mutant] = message.asked
                elif isinstance(message, Began):
                    one.host = message.host
        except (EOFError, OSError):
            one.process.join(_POLL_S)
            one.trial = _unsaid(one)

    def _look_after(self, one: _Running) -> None:
        """End a process that waits for something that never comes."""
        if one.trial is not None or one.process.pid is None:
            return
        try:
            times = psutil.Process(one.process.pid).cpu_times()
        except psutil.Error:
            return
        now, used = time.monotonic(), times.user + times.system
        if used - one.used > 0.01:
            one.used, one.worked = used, now
        elif now - one.worked > self._limits.idle:
            words = f"no work was done for {self._limits.idle:g} s"
            one.trial = Trial(id=one.mutant, fate=Fate.LATE, host=one.host, words=words, seconds=used)


def _quietly(main: Callable[[Connection, Job], None], parent: Connection, job: Job) -> None:
    """Run the main function of a process. What Python cannot raise is not printed: a mutant may leave
    coroutines behind that refuse to be closed, which says nothing about it.
    """
    sys.unraisablehook = lambda _: None
    main(parent, job)


def _unsaid(one: _Running) -> Trial:
    """What is said of a process that has ended without a word: it was late, or it is broken. Never a kill."""
    status = one.process.exitcode
    if status in ENDED_BY_US:
        words = f"the limit of processor time was reached ({signal.Signals(-(status or 0)).name})"
        return Trial(id=one.mutant, fate=Fate.LATE, host=one.host, words=words, seconds=one.used)
    words = f"the process that tried it ended with exit status {status}"
    return Trial(id=one.mutant, fate=Fate.BROKEN, host=one.host, words=words, seconds=one.used)


def _end(one: _Running) -> None:
    with suppress(OSError):
        one.process.kill()
    one.process.join()
    one.pipe.close()


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
            "tidemark.checks.mutation.implementation.farm:trials_of_part",
            name=f"mutants of {name}",
            unit="parts",
            progress=progress,
        )
        yield [trial for part in results for trial in part]


def trials_of_part(part: Part) -> list[Trial]:
    """The work of one Spark task."""
    where, orders, seconds, seed = part
    return list(Farm(Target.of(*where), seconds=seconds, seed=seed).trials(orders))
