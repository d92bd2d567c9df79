"""Tasks in several processes. A process that dies costs its task, nothing else; none outlives the run.

The parent judges nothing: it hands out tasks, shows what the processes tell, and passes results on. Processes
are forked where that is safe, after the imports and the traces that all of them need.
"""

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import psutil

from tidemark.checks.gate.judging import in_pool, judge_task, processor_seconds
from tidemark.checks.gate.schedule import Due, Schedule
from tidemark.checks.gate.settings import Settings
from tidemark.checks.spark.session import active_session
from tidemark.checks.verdicts.errors import StoppedError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.judge import Registry
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.progress import Progress, Reporter, silent
from tidemark.checks.verdicts.result import TaskResult, Unjudged
from tidemark.models.cores import METHOD

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
    # A process group of its own, so that Ctrl-C reaches it through its parent alone, once; the group ends
    # with the parent, however that ends.
    with suppress(OSError):
        os.setpgid(0, 0)
    above = parent_process()
    assert above is not None
    threading.Thread(target=_watch, args=(above.sentinel,), daemon=True, name="parent").start()
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
        # Stop the session of this process, if it started one.
        session = sys.modules.get("tidemark.checks.spark.session")
        if session is not None:
            session.stop_session()


def _watch(parent: int) -> None:
    connection.wait([parent])
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


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


GRACE_S = 20.0
"""What a process gets to save what it has, or to end what it started."""

_OF_THE_SYSTEM = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU})
"""Signals that come from outside: they say nothing about the program."""


class Worker:
    """A process, and the task that it has."""

    def __init__(self, number: int, process: BaseProcess, pipe: Connection) -> None:
        self.number = number
        self.process = process
        self.pipe = pipe
        self.due: Due | None = None
        self.progress: Progress = silent
        self.begun = 0.0
        self.processor = 0.0


class Pool(AbstractContextManager["Pool"]):
    """``jobs`` processes for the tasks of a plan. Use it with ``with``: at the end no process is left."""

    def __init__(
        self,
        tasks: Sequence[Task],
        schedule: Schedule,
        *,
        registry: Registry,
        settings: Settings,
        method: str | None = None,
    ) -> None:
        self._arguments = (tuple(tasks), registry, settings)
        self._schedule = schedule
        self._workers: list[Worker] = []
        self._ended = 0.0
        self._used = _own_seconds()
        # How the first processes start. A fork would share the connection to a Spark session of this
        # process.
        self._begin(range(settings.jobs), method or (METHOD if active_session() is None else "spawn"))

    def _begin(self, numbers: range | list[int], method: str) -> None:
        context: Any = get_context(method)
        # A signal between two starts would leave a process that never ends. Each worker lets them in.
        allowed = signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED)
        gc.freeze()  # else the collector of a forked process would copy what it shares with this one
        try:
            for number in numbers:
                here, there = context.Pipe()
                process = context.Process(target=work, args=(there, *self._arguments), name=f"judge-{number}")
                process.start()
                there.close()
                self._workers.append(Worker(number, process, here))
        finally:
            gc.unfreeze()
            signal.pthread_sigmask(signal.SIG_SETMASK, allowed)

    @property
    def processor_seconds(self) -> float:
        """Processor time of this process, of the pool, and of all that this started."""
        workers = self._ended + sum(worker.processor for worker in self._workers)
        return _own_seconds() - self._used + workers

    def results(self, show: Reporter) -> Iterator[tuple[int, TaskResult]]:
        """Place in the plan and result of each task, as they are judged.

        Raises StoppedError if a judge was stopped.
        """
        while True:
            self._hand_out(show)
            if not self._running():
                assert not len(self._schedule), "tasks are left that no process takes"
                return
            for worker in self._ready():
                found = self._news(worker)
                if found is not None and worker.due is not None:
                    due, worker.due = worker.due, None
                    yield due.place, found
                if not worker.process.is_alive() and worker.due is None:
                    self._replace(worker)

    def _running(self) -> list[Due]:
        return [worker.due for worker in self._workers if worker.due is not None]

    def _hand_out(self, show: Reporter) -> None:
        for worker in self._workers:
            if worker.due is not None:
                continue
            due = self._schedule.next(worker.number, self._running())
            if due is None:
                continue
            worker.due, worker.begun = due, time.perf_counter()
            worker.progress = show.started(due.task)
            with suppress(OSError):  # it died while it waited: noticed in a moment
                worker.pipe.send(Order(due.place, self._schedule.is_wide(due), self._schedule.share))

    def _ready(self) -> list[Worker]:
        """Those that have something to say, or died."""
        waiting = [worker for worker in self._workers if worker.due is not None]
        known: dict[object, Worker] = {worker.pipe: worker for worker in waiting}
        known |= {worker.process.sentinel: worker for worker in waiting}
        found = connection.wait([*known])  # type: ignore[list-item]  # pipes and numbers of pipes
        return list(dict.fromkeys(known[item] for item in found))

    def _news(self, worker: Worker) -> TaskResult | None:
        """The result of the worker's task if it is there, or what its death says; None if it still works."""
        try:
            if not worker.pipe.poll():
                return None if worker.process.is_alive() else self._died(worker)
            message = worker.pipe.recv()
        except (EOFError, OSError):
            return self._died(worker)
        if isinstance(message, Judged):
            worker.processor = message.processor
            return message.result
        if isinstance(message, Stopped):
            raise StoppedError("a judge was stopped", remedy="run it again with --resume")
        assert isinstance(message, Progressed)
        worker.progress(message.done, total=message.total, unit=message.unit, note=message.note)
        return None

    def _died(self, worker: Worker) -> TaskResult:
        worker.process.join(GRACE_S)
        assert worker.due is not None
        task, status = worker.due.task, worker.process.exitcode
        why, code = _cause(status)
        unjudged = Unjudged(
            task=task.name,
            exit_code=code,
            message=f"the process that judged it {why}",
            remedy="free memory, or run it alone" if status == -signal.SIGKILL else "run it alone",
            replay=task.command,
        )
        return TaskResult(task=task.name, unjudged=unjudged, seconds=time.perf_counter() - worker.begun)

    def _replace(self, worker: Worker) -> None:
        """Take a dead process out, with what it started, and start another one if there is work."""
        group = worker.process.pid
        assert group is not None  # 0 would be our own group
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)
        worker.pipe.close()
        self._ended += worker.processor
        self._workers.remove(worker)
        self._schedule.gone(worker.number)
        if len(self._schedule):
            self._begin([worker.number], "spawn")

    def __exit__(self, *_: object) -> None:
        """End all processes. Those that have a task are interrupted, and may save what they have; those that
        do not end in time are killed.
        """
        started = [child for worker in self._workers for child in _family(worker)]
        try:
            for worker in self._workers:
                with suppress(OSError):
                    if worker.due is None:
                        worker.pipe.send(None)
                    elif worker.process.pid is not None:
                        os.kill(worker.process.pid, signal.SIGINT)
            deadline = time.monotonic() + GRACE_S
            for worker in self._workers:
                self._drain(worker, deadline)
            psutil.wait_procs(started, timeout=max(0.1, min(5.0, deadline - time.monotonic())))
        finally:
            for child in started:
                with suppress(psutil.Error):
                    child.kill()
            for worker in self._workers:
                worker.process.join()
                worker.pipe.close()
                self._ended += worker.processor
            self._workers.clear()

    def _drain(self, worker: Worker, deadline: float) -> None:
        """Wait for the end of a process. What it still says is read, so that it is not held up by that."""
        while worker.process.is_alive() and time.monotonic() < deadline:
            with suppress(EOFError, OSError):
                while worker.pipe.poll():
                    worker.pipe.recv()
            worker.process.join(0.05)


def _own_seconds() -> float:
    spent = os.times()
    return spent.user + spent.system


def _family(worker: Worker) -> list[psutil.Process]:
    """A process and all that it started. They are known by number and time of start, so that no foreign one
    is ever taken for one of them.
    """
    try:
        above = psutil.Process(worker.process.pid)
        return [above, *above.children(recursive=True)]
    except psutil.Error:
        return []


def _cause(status: int | None) -> tuple[str, ExitCode]:
    """What became of a process, in words; a kill from outside says nothing, all else is a fault of ours."""
    if status is None:
        return "does not answer", ExitCode.INTERNAL_ERROR
    if status >= 0:
        return f"ended with exit status {status}", ExitCode.INTERNAL_ERROR
    name = signal.Signals(-status).name
    text = f"was killed by signal {-status} ({name})"
    if -status == signal.SIGKILL:
        text += ", as the system does when memory runs out"
    return text, ExitCode.INCONCLUSIVE if -status in _OF_THE_SYSTEM else ExitCode.INTERNAL_ERROR
