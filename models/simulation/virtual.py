"""The virtual machine under a coroutine function: clocks, random numbers, a process id.

Code that knows nothing of this project asks the machine for them through modules of Python. Here the clocks
show the virtual time of the loop, which passes at awaits, timers and ``time.sleep`` only; random numbers come
from one seed; the process has a number. All of it is a function of what the program did before, so that an
execution can be repeated.
"""

import random
import time
import uuid
from collections.abc import Callable
from typing import Any

EPOCH = 1_700_000_000.0
"""Unix time at which each execution begins, in seconds. Monotonic clocks begin with 0, as the loop does."""

SEED = 20240229
PROCESS_ID = 4242
READINGS = 10_000
"""Readings of clocks at one moment of virtual time before the code counts as one that waits for a clock."""

RANDOM, CLOCK, THREADS = "random numbers", "clocks", "executors"
"""Names by which ``Machine.used`` says what an execution has asked for."""

Original = Callable[..., Any]
_Virtual = Callable[..., Any]


class PollingError(Exception):
    """Code reads a clock again and again without an await: virtual time does not pass meanwhile."""


class Machine:
    """What the modules of Python are asked for in one execution. ``now``: the virtual time in seconds;
    ``sleep`` lets so many seconds pass. ``used``: what was asked for so far.
    """

    def __init__(self, now: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._now = now
        self._sleep = sleep
        self._generator: random.Random | None = None
        self._moment = -1.0
        self._readings = 0
        self.used: set[str] = set()

    def answer(
        self, name: str, original: Original, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Return what a function of Python, by its full name in ``ANSWERS``, returns here. Raises
        PollingError.
        """
        return ANSWERS[name](self, original, *arguments, **options)

    def monotonic(self) -> float:
        """Return the virtual time in seconds."""
        self.used.add(CLOCK)
        now = self._now()
        if now != self._moment:
            self._moment, self._readings = now, 0
        self._readings += 1
        if self._readings > READINGS:
            raise PollingError(
                f"the clock is read {READINGS} times at one moment: time passes at awaits only"
            )
        return now

    def unix(self) -> float:
        """Return the virtual time of day in seconds since 1970."""
        return EPOCH + self.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let time pass while the whole process stands still."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self._sleep(seconds)

    def drawn(self) -> tuple[object, ...]:
        """Return the state of the random numbers; empty if none were asked for."""
        return self._generator.getstate() if self._generator is not None else ()

    @property
    def generator(self) -> random.Random:
        """The one source of random numbers. Seeding takes long, so it is made when it is needed."""
        self.used.add(RANDOM)
        if self._generator is None:
            self._generator = random.Random(SEED)
        return self._generator


def _clock(*, unix: bool, whole: bool) -> _Virtual:
    def read(machine: Machine, _original: Original, *_arguments: Any) -> float:
        seconds = machine.unix() if unix else machine.monotonic()
        return round(seconds * 1e9) if whole else seconds

    return read


def _clock_by_id(*, whole: bool) -> _Virtual:
    def read(machine: Machine, _original: Original, clock: int) -> float:
        unix = clock == getattr(time, "CLOCK_REALTIME", None)
        return float(_clock(unix=unix, whole=whole)(machine, _original))

    return read


def _calendar(machine: Machine, original: Original, *_nothing: Any) -> Any:
    """A function that takes the present moment where no other one is given."""
    return original(machine.unix())


def _asctime(machine: Machine, original: Original, *_nothing: Any) -> Any:
    return original(time.localtime(machine.unix()))


def _strftime(machine: Machine, original: Original, form: str, *_nothing: Any) -> Any:
    return original(form, time.localtime(machine.unix()))


def _seed_of_an_object(
    machine: Machine, original: Original, generator: random.Random, *_nothing: Any
) -> None:
    original(generator, machine.generator.getrandbits(64))


def _seed_of_the_module(machine: Machine, _original: Original, *given: Any, **options: Any) -> None:
    machine.generator.seed(*(given or (SEED,)), **options)


def _of_the_generator(name: str) -> _Virtual:
    def draw(machine: Machine, _original: Original, *arguments: Any, **options: Any) -> Any:
        return getattr(machine.generator, name)(*arguments, **options)

    return draw


def _bytes(machine: Machine, _original: Original, count: int | None = None, *_flags: Any) -> bytes:
    return machine.generator.randbytes(32 if count is None else count)


def _unique(version: int) -> _Virtual:
    def make(machine: Machine, _original: Original, *_arguments: Any, **_options: Any) -> uuid.UUID:
        return uuid.UUID(bytes=machine.generator.randbytes(16), version=version)

    return make


_MONOTONIC = ("monotonic", "perf_counter", "process_time", "thread_time")

ANSWERS: dict[str, _Virtual] = {
    **{f"time.{name}": _clock(unix=False, whole=False) for name in _MONOTONIC},
    **{f"time.{name}_ns": _clock(unix=False, whole=True) for name in _MONOTONIC},
    "time.time": _clock(unix=True, whole=False),
    "time.time_ns": _clock(unix=True, whole=True),
    "time.clock_gettime": _clock_by_id(whole=False),
    "time.clock_gettime_ns": _clock_by_id(whole=True),
    "time.sleep": lambda machine, _original, seconds: machine.sleep(seconds),
    "time.gmtime": _calendar,
    "time.localtime": _calendar,
    "time.ctime": _calendar,
    "time.asctime": _asctime,
    "time.strftime": _strftime,
    **{
        f"random.{name}": _of_the_generator(name)
        for name in dir(random.Random)
        if not name.startswith("_") and name != "seed"
    },
    "random.seed": _seed_of_the_module,
    "random.Random.seed": _seed_of_an_object,
    "random._urandom": _bytes,
    "os.urandom": _bytes,
    "os.getrandom": _bytes,
    "os.getpid": lambda _machine, _original: PROCESS_ID,
    "uuid.uuid1": _unique(1),
    "uuid.uuid4": _unique(4),
    "secrets.token_bytes": _bytes,
    "secrets.token_hex": lambda machine, _original, count=None: _bytes(machine, _original, count).hex(),
    "secrets.randbits": lambda machine, _original, bits: machine.generator.getrandbits(bits),
    "secrets.choice": lambda machine, _original, options: machine.generator.choice(options),
}
"""What each function of Python that asks the machine does instead, by its full name."""
