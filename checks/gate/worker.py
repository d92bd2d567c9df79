"""A process of the pool: judges one task after another, as its parent tells it."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from multiprocessing.connection import Connection

from tidemark.checks.gate.judging import in_pool, judge_task, processor_seconds
from tidemark.checks.gate.settings import Settings
from tidemark.checks.verdicts.errors import StoppedError
from tidemark.checks.verdicts.judge import Registry
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.result import TaskResult

BLOCKED = frozenset({signal.SIGINT, signal.SIGTERM})
"""Signals that are held back while a worker starts."""

_COLLECT_AFTER = 100_000
"""New objects after which unreachable cycles are looked for. Trees of formulas and code hardly have any: to
look after each 700, as Python does by itself, finds nothing."""

_EVERY_S = 0.2
"""Time between two messages about progress."""


@dataclass(frozen=True)
class Order:
    """What the parent sends: judge the task of this place in the plan. None instead of it: end."""

    place: int
    wide: bool
    memory: int


@dataclass(frozen=True, kw_only=True)
class Progressed:
    """How far the running task is: the arguments of ``Progress``."""

    done: int
    total: int | None
    unit: str
    note: str


@dataclass(frozen=True)
class Judged:
    """A task is done. ``processor``: seconds that this process and its own have used so far."""

    result: TaskResult
    processor: float


@dataclass(frozen=True)
class Stopped:
    """The task was stopped; nothing is said about it."""


Message = Progressed | Judged | Stopped


def work(parent: Connection, tasks: Sequence[Task], registry: Registry, settings: Settings) -> None:
    """The main function of the process. It ends when it is told to, or when its parent is gone."""
    _alone()
    gc.set_threshold(_COLLECT_AFTER, 20, 20)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        # An interrupt from here on ends the process in order, whether it waits or works.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, BLOCKED)
        while (order := parent.recv()) is not None:
            result = judge_task(
                tasks[order.place],
                registry=registry,
                settings=in_pool(settings, wide=order.wide, memory=order.memory),
                progress=_Sender(parent),
            )
            parent.send(Judged(result, processor_seconds()))
    except (KeyboardInterrupt, StoppedError):
        with suppress(OSError):
            parent.send(Stopped())
    except (EOFError, BrokenPipeError):
        pass  # the parent is gone
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _end_spark()


def _alone() -> None:
    """A process group of its own, so that Ctrl-C reaches it through its parent alone, once; the group ends
    with the parent, however that ends.
    """
    with suppress(OSError):
        os.setpgid(0, 0)
    above = parent_process()
    assert above is not None
    threading.Thread(target=_watch, args=(above.sentinel,), daemon=True, name="parent").start()


def _watch(parent: int) -> None:
    connection.wait([parent])
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _end_spark() -> None:
    """Stop the session of this process, if it started one."""
    session = sys.modules.get("tidemark.checks.spark.session")
    if session is not None:
        session.stop_session()


class _Sender:
    """Progress as messages, not too many of them."""

    def __init__(self, parent: Connection) -> None:
        self._parent = parent
        self._spoke = 0.0

    def __call__(self, done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
        now = time.monotonic()
        if now - self._spoke >= _EVERY_S:
            self._spoke = now
            self._parent.send(Progressed(done=done, total=total, unit=unit, note=note))
