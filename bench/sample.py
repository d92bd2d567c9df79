"""One repetition of one side of a comparison."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import psutil


class Clock:
    """Started when made; processor time is that of all threads of this process."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._wall

    @property
    def cpu_seconds(self) -> float:
        """Seconds of processor time since the start."""
        return time.process_time() - self._cpu


def family_cpu() -> float:
    """Seconds of processor time of this process and of those that it started and that still run."""
    total, me = 0.0, psutil.Process()
    for process in (me, *me.children(recursive=True)):
        try:
            used = process.cpu_times()
        except psutil.Error:  # it has just ended
            continue
        total += used.user + used.system
    return total


class NotMeasured(Exception):  # noqa: N818  it is no error: the rest of the run goes on
    """Something cannot be measured here. ``reason`` says why, and what to do about it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class BrokenRun(Exception):  # noqa: N818  named after what it says about the side
    """A side crashed or printed nonsense: a fault, unlike a missing tool."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What one repetition gave.

    ``seconds`` is the time that is compared: of the search alone, say, without starting Python.
    ``counts`` must not differ between sides and repetitions; ``values`` may.
    """

    seconds: float
    cpu_seconds: float = 0.0
    """Processor time of the same stretch, of all threads; 0 if unknown. It suffers less from neighbours."""
    peak_bytes: int = 0
    """Greatest resident memory of the whole process; 0 if unknown."""
    counts: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    """What must not differ either and is no number: a digest, say."""
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def facts(self) -> dict[str, int | str]:
        """All that must not differ."""
        return {**self.counts, **self.texts}


@dataclass(frozen=True)
class Side:
    """One of the things that are compared. ``run`` may raise NotMeasured or BrokenRun.

    Facts must be equal between sides of the same ``subject``, and equal to what is ``expected``.
    """

    name: str
    run: Callable[[], Sample]
    subject: str = ""
    expected: Mapping[str, int | str] = field(default_factory=dict)


Number = Callable[[Sample], float]
"""What is looked at in a sample."""


def rate(count: str) -> Number:
    """So many of ``count`` a second."""
    return lambda sample: sample.counts[count] / max(sample.seconds, 1e-9)


def cpu_rate(count: str) -> Number:
    """So many of ``count`` a second of processor time; NaN if that is unknown."""
    return lambda sample: sample.counts[count] / sample.cpu_seconds if sample.cpu_seconds else float("nan")


def seconds(sample: Sample) -> float:
    """The time that is compared."""
    return sample.seconds


def value(name: str) -> Number:
    """A value by name; NaN if the sample has none."""
    return lambda sample: sample.values.get(name, float("nan"))


def count(name: str) -> Number:
    """A count by name."""
    return lambda sample: float(sample.counts[name])
