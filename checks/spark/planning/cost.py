"""What a distributed search will cost, said before it starts: also when one core would be faster."""

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tidemark.checks.spark.search.search_kernel import SearchKernel
from tidemark.checks.spark.states.packed_states import minus, sorted_run

_WINDOW = 6
"""Levels that are looked at: fewer are noise, more are history."""

_MOST_ROUNDS = 10_000
"""Rounds after which a forecast is no forecast."""


@dataclass(frozen=True)
class Outlook:
    """What is still to come: rounds, and states in them."""

    rounds: int
    states: int


def outlook(levels: Sequence[int]) -> Outlook | None:
    """The rest of a breadth-first search by the sizes of its levels so far; None if they tell nothing.

    The logarithm of a level's size is taken for a parabola of its depth. That is no more than a rule of
    thumb: most state graphs grow, reach one broad top, and shrink.
    """
    recent = [math.log(size) for size in levels[-_WINDOW:] if size > 0]
    if len(recent) < _WINDOW:
        return None
    slopes = [after - before for before, after in itertools.pairwise(recent)]
    bend = (slopes[-1] - slopes[0]) / (len(slopes) - 1)
    if bend >= 0:
        return None
    size, slope, rounds, states = recent[-1], slopes[-1], 0, 0.0
    while size > 0 and rounds < _MOST_ROUNDS:
        slope += bend
        size += slope
        rounds += 1
        states += math.exp(max(0.0, size))
    return Outlook(rounds, round(states))


ROUND_SECONDS = 0.1
"""Latency of one Spark round, whatever its size: a stage of Python tasks and a part of a job. Measured with
two busy local cores, warm.
"""

SHARE = 0.6
"""Part of the one-core rate that each of several cores keeps: packing, sorting and moving the states takes
the rest.
"""

SAMPLE_SECONDS = 0.25
_FEWEST, _MOST = 20_000, 1 << 21


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The model: one core does N / rate; Spark does rounds x latency + N / (cores x share x rate).

    ``rate`` is in states a second on one core; ``states`` is the expected
    number of states (None: unknown), ``rounds`` an expected number of rounds.
    """

    rate: float
    cores: int
    states: int | None = None
    rounds: int = 40

    @property
    def speed_up(self) -> float:
        """The most that Spark can gain over one core."""
        return self.cores * SHARE

    @property
    def one_core_seconds(self) -> float | None:
        """Predicted time of the native engine."""
        return None if self.states is None else self.states / self.rate

    @property
    def spark_seconds(self) -> float | None:
        """Predicted time of this search."""
        if self.states is None:
            return None
        return self.rounds * ROUND_SECONDS + self.states / (self.rate * self.speed_up)

    @property
    def break_even(self) -> int | None:
        """States from which Spark is faster; None if it never is on so few cores."""
        if self.speed_up <= 1:
            return None
        return math.ceil(self.rounds * ROUND_SECONDS * self.rate / (1 - 1 / self.speed_up))

    @property
    def one_core_is_faster(self) -> bool:
        """Is the native engine predicted to win?"""
        if self.break_even is None:
            return True
        return self.states is not None and self.states < self.break_even

    @property
    def handover(self) -> int:
        """Frontier from which a round is faster on Spark, within what one process can hold."""
        if self.speed_up <= 1:
            return _MOST
        level = ROUND_SECONDS * self.rate / (1 - 1 / self.speed_up)
        return int(min(max(level, _FEWEST), _MOST))

    def text(self) -> str:
        """The forecast in one or two sentences."""
        text = (
            f"one core does about {self.rate:,.0f} states/s here; {self.cores} cores on Spark at most "
            f"{self.speed_up:.1f} x that, less {ROUND_SECONDS} s a round"
        )
        if self.spark_seconds is not None and self.one_core_seconds is not None:
            text += (
                f": about {self.spark_seconds:,.0f} s for {self.states:,} states in some {self.rounds} "
                f"rounds, against {self.one_core_seconds:,.0f} s"
            )
        if self.break_even is None:
            gain = "on so few cores Spark gains no time, only memory and further machines"
        else:
            gain = f"Spark gains time from about {self.break_even:,} states on"
        advice = "One core is faster (tidemark explore); " if self.one_core_is_faster else ""
        return f"{text}. {advice}{gain}."


@dataclass(frozen=True)
class Sample:
    """The first levels of a search, in memory, on one core. ``complete``: there is nothing after them."""

    states: int
    seconds: float
    complete: bool

    @property
    def rate(self) -> float:
        """States a second, at least 1."""
        return max(1.0, self.states / max(self.seconds, 1e-6))


def sample(kernel: SearchKernel, *, seconds: float = SAMPLE_SECONDS) -> Sample:
    """Search for a short time, to measure the rate on this machine. A large level is cut, which costs
    nothing here.
    """
    frontier = sorted_run(kernel.initial())
    # Once without the clock: loads and compiles what is used below.
    minus(sorted_run(kernel.expand(frontier[: kernel.chunk]).successors.copy()), [frontier])
    known, states, cut = [frontier], frontier.shape[0], False
    began = time.perf_counter()
    while frontier.shape[0] and time.perf_counter() - began < seconds:
        size = 4 * kernel.chunk
        cut = cut or frontier.shape[0] > size
        successors = [
            kernel.expand(frontier[at : min(at + kernel.chunk, size)]).successors.copy()
            for at in range(0, min(frontier.shape[0], size), kernel.chunk)
        ]
        frontier = minus(sorted_run(np.concatenate(successors)), known)
        states += frontier.shape[0]
        known.append(frontier)
    return Sample(states, time.perf_counter() - began, not cut and not frontier.shape[0])
