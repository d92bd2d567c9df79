"""Steps that do not end: code that never suspends keeps the loop, and the search, for ever.

Two nets. *By count*: a step that has put thousands of callbacks or timers into the queue of its process, of
which none can run before the step ends, is ended at once, always at the same place; what it holds stays
small. *By time*: a thread beside the search ends a step that has taken ``STEP_SECONDS`` of processor time.
Time that the machine gives to others, and time at a debugger's prompt, do not count. Where such a step is
when it is ended may differ from run to run.

Either way ``SpinError`` is raised where the code is, and the task, the file and the line are told.
"""

import contextlib
import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from tidemark.models.simulation.errors import SpinError

SPIN = "spin"
"""Kind of violation: a step does not suspend."""

STEP_SECONDS = 5.0
"""Processor time that one step may take, in seconds. Steps take milliseconds."""
WAITING = 20_000
"""Callbacks, and likewise timers, that may wait in one process at a time."""
_LOOK, _INSIST = 0.5, 0.01
"""Seconds between two looks at the step; and between two attempts to end one that handles ``SpinError``."""

_HINT = "an await of what is ready at once does not suspend"


class StepWatch:
    """What the thread beside the search sees of it. ``with`` it code of the program runs, which it may end.
    ``step``: odd while such code runs; another number in each step. ``complain``: says what is wrong with the
    step, given its frame.
    """

    def __init__(self) -> None:
        self.step = 0
        self.complain: Callable[[FrameType | None, str], None] = _nobody

    def __enter__(self) -> None:
        self.step += 1

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self.step += 1
        return kind is SpinError  # outside of any task; the complaint says it

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """End steps of this thread that do not end by themselves."""
        done = threading.Event()
        watch = threading.Thread(
            target=self._watch, args=(threading.get_ident(), done), name="tidemark step watch", daemon=True
        )
        watch.start()
        try:
            yield
        finally:
            done.set()
            watch.join()

    def _watch(self, thread: int, done: threading.Event) -> None:
        seen, since, told = 0, 0.0, -1
        while not done.wait(_INSIST if told == seen else _LOOK):
            step, now = self.step, _processor_time(thread)
            if step != seen or step % 2 == 0:
                seen, since = step, now
            elif now - since >= STEP_SECONDS:
                if told != step:
                    words = f"{STEP_SECONDS:g} s of processor time in one step"
                    self.complain(sys._current_frames().get(thread), words)  # noqa: SLF001
                    told = step
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(SpinError)
                )


def spins(task: str, place: str, how: str) -> str:
    """Return what is wrong with a step, in words: which task (or process) ran at which place, and how much it
    did.
    """
    return f"{task} runs on without suspending at {place}: {how}; {_HINT}"


def _nobody(frame: FrameType | None, how: str) -> None:
    """Nothing is explored: there is nobody to complain to."""


def _processor_time(thread: int) -> float:
    """Return the processor time of a thread in seconds; the time of day where the system does not tell it."""
    clock = getattr(time, "pthread_getcpuclockid", None)
    return _clock_gettime(clock(thread)) if clock is not None else _monotonic()


_clock_gettime, _monotonic = time.clock_gettime, time.monotonic

WATCH = StepWatch()
"""The one of this interpreter: there is one controlled loop at a time."""
