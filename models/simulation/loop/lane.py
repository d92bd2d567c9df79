"""One incarnation of a simulated process: its ready queue, tasks, timers and clock."""

import asyncio
import contextvars
import itertools
import os
import types
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from typing import Any, Protocol


class Ending(Enum):
    """How far the end of a process is whose other tasks are cancelled when its main task has ended."""

    NO = 0
    WATCHED = 1
    """The main task has not ended."""
    TOLD = 2
    """It has, and the loop is about to stop."""
    STOPPED = 3
    """The pass of the loop that was the last one is over: what is left is to be cancelled."""


LANE: contextvars.ContextVar["Lane"] = contextvars.ContextVar("lane")
"""The lane to which a task belongs. Tasks inherit it with their context."""


class Carried(Protocol):
    """What is known of the message of an event."""

    arguments: tuple[Any, ...]
    answer: str


@dataclass(slots=True, eq=False, repr=False)
class Event:
    """One thing that may happen next. ``label``: the same in every execution with the same history of the
    process concerned. ``fire`` runs with ``lane`` as the current one. ``fault``: firing spends a budget.
    ``owner``: name of the task that waits for it. ``does``: what it is going to do, where no task waits that
    shows it. ``message``: what is delivered, answered or lost.
    """

    label: str
    lane: "Lane"
    fire: Callable[[], None]
    _: KW_ONLY
    fault: bool = False
    owner: str = ""
    does: object = None
    message: "Carried | None" = None

    def __repr__(self) -> str:
        return f"Event({self.label!r})"


class LaneHandle(asyncio.Handle):
    """A ready callback, without a trace of where it was scheduled. ``serial``: its number among those of its
    process, where a history is recorded.
    """

    __slots__ = ("serial",)

    serial: int

    def __init__(
        self,
        callback: Callable[..., Any],
        arguments: tuple[Any, ...],
        loop: asyncio.AbstractEventLoop,
        context: contextvars.Context | None,
    ) -> None:
        self._context = contextvars.copy_context() if context is None else context
        self._loop = loop
        self._callback = callback
        self._args = arguments
        self._cancelled = False
        self._repr = None
        self._source_traceback = None

    def cancel(self) -> None:
        """Cancel, and let the loop know, so that it need not look for cancelled callbacks at each step."""
        super().cancel()
        self._loop.cancelled = True  # type: ignore[attr-defined]


_make_task = asyncio.Task.__init__
_apart = itertools.count()


class LaneTask(asyncio.Task[Any]):
    """A task whose hash is its number in its lane: sets of tasks (``asyncio.wait``, ``TaskGroup``) have the
    same order in every execution with the same history, and not that of addresses.
    """

    number = 0
    position: tuple[str, tuple[int, ...]] | None = None
    """Its name and where it is suspended, if that was looked at since it was last scheduled to run; and which
    asynchronous generators of its lane it is inside of."""

    def __init__(
        self,
        coroutine: Any,
        number: int,
        *,
        loop: asyncio.AbstractEventLoop,
        name: str,
        context: contextvars.Context | None,
    ) -> None:
        # The constructor puts the task into the registry of asyncio, which keeps the hash that it finds.
        # Tasks of other executions are in there: with the same hash, each would be compared with all of them.
        self.number = next(_apart)
        _make_task(self, coroutine, loop=loop, name=name, context=context)
        self.number = number

    def __hash__(self) -> int:
        return self.number


class LaneTimer(asyncio.TimerHandle):
    """A timer of a lane. Cancelling it takes it out of the set of events."""

    __slots__ = ("label", "lane")

    label: str
    lane: "Lane"


class Record(Protocol):
    """What keeps the history of a process: see ``tidemark.models.simulation.loop.history``."""

    def ran(self, handle: asyncio.Handle) -> None:
        """Add a callback that runs now."""

    def happened(self, label: str) -> None:
        """Add an event that ran code."""

    def digest(self) -> bytes:
        """Return 16 bytes that stand for the history so far."""


@dataclass(slots=True, eq=False, repr=False)
class Lane:
    """The execution state of one incarnation of a process.

    Attributes:
        name: name of the process.
        title: name with the incarnation, unique in the execution.
        bit: the bit of the process in footprints. All incarnations share it.
        ending: what is to be done about the tasks that are left when the main task has ended.
        left_behind: tasks that were pending when the main task returned, and where they waited.
        history: what has run, if it is recorded.
        scheduled: how many callbacks were scheduled so far, if it is recorded.
        shielded: ``id`` of each task over which ``asyncio.shield`` was put.
        starters: of each task, the task that has started it.
        positions: digest of where its tasks are suspended, as long as none of its code has run since that was
            looked at; None if it has to be looked at.
    """

    name: str
    _: KW_ONLY
    incarnation: int
    bit: int
    daemon: bool
    clock: float
    title: str = ""
    alive: bool = True
    counter: int = 0
    ready: deque[asyncio.Handle] = field(default_factory=deque)
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)
    timers: list[LaneTimer] = field(default_factory=list)
    calls: dict[str, Callable[[], None]] = field(default_factory=dict)
    asyncgens: list[object] = field(default_factory=list)
    begun: list[weakref.ref[AsyncGenerator[Any, Any]]] = field(default_factory=list)
    main: asyncio.Task[Any] | None = None
    turn: Event | None = None
    ending: Ending = Ending.NO
    left_behind: tuple[str, ...] = ()
    history: Record | None = None
    scheduled: int = 0
    shielded: set[int] = field(default_factory=set)
    starters: list[asyncio.Task[Any] | None] = field(default_factory=list)
    positions: bytes | None = None

    def __post_init__(self) -> None:
        self.title = self.name if self.incarnation == 1 else f"{self.name}@{self.incarnation}"

    def forget_cancelled(self) -> None:
        """Take callbacks that were cancelled out of the queue: they are no step."""
        if any(handle.cancelled() for handle in self.ready):
            self.ready = deque(handle for handle in self.ready if not handle.cancelled())

    def out_of_reach(self, task: "asyncio.Task[Any] | None") -> bool:
        """Tell whether a shield keeps cancellations from a task: from the one that it was put over, and from
        those that this one starts. A cancelled waiter cancels the future that ``asyncio.shield`` hands out;
        only the program itself can cancel the task inside.
        """
        if not self.shielded:
            return False
        while task is not None and id(task) not in self.shielded:
            task = self.starters[self.tasks.index(task)] if task in self.tasks else None
            if task is not None and task.done():
                return False
        return task is not None

    def generators(self) -> dict[int, types.AsyncGeneratorType[Any, Any]]:
        """Asynchronous generators that have begun and are not over, by their number in the lane."""
        found: dict[int, types.AsyncGeneratorType[Any, Any]] = {}
        for number, begun in enumerate(self.begun):
            generator = begun()
            if isinstance(generator, types.AsyncGeneratorType) and generator.ag_frame is not None:
                found[number] = generator
        return found

    def next_number(self) -> int:
        """Return the next number in this lane. Names of events and messages are built with it."""
        self.counter += 1
        return self.counter

    def run_pass(self) -> None:
        """Run what is ready now, the oldest first, as one pass of asyncio's loop does."""
        ready, history = self.ready, self.history
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:  # noqa: SLF001  # on the hot path
                if history is not None:
                    history.ran(handle)
                handle._run()  # noqa: SLF001  # the loop's own business, as in BaseEventLoop._run_once

    def run_oldest(self) -> None:
        """Run the oldest of the ready callbacks."""
        self.run_at(0)

    def run_at(self, place: int) -> None:
        """Run the callback at a place of the queue."""
        ready = self.ready
        ready.rotate(-place)
        handle = ready.popleft()
        ready.rotate(place)
        if not handle.cancelled():
            if self.history is not None:
                self.history.ran(handle)
            handle._run()  # noqa: SLF001  # as above

    def earliest_timers(self) -> list[LaneTimer]:
        """Return the armed timers with the least deadline, in the order of their arming."""
        if not self.timers:
            return []
        least = min(timer.when() for timer in self.timers)
        return [timer for timer in self.timers if timer.when() == least]

    def dismantle(self) -> None:
        """Forget everything that refers to the program."""
        self.ready.clear()
        self.tasks.clear()
        self.starters.clear()
        self.timers.clear()
        self.calls.clear()
        self.main = None
        self.turn = None

    def pending_tasks(self) -> list[asyncio.Task[Any]]:
        """Return the tasks that have not ended."""
        return [task for task in self.tasks if not task.done()]


_METHODS = frozenset(dir(asyncio.Task))


def task_of(handle: asyncio.Handle) -> str:
    """Return the name of the task whose step or wake-up a handle is; empty if it is another callback."""
    callback = handle._callback  # type: ignore[attr-defined]  # noqa: SLF001
    task = getattr(callback, "__self__", None)
    if not isinstance(task, asyncio.Task) or getattr(callback, "__name__", "") in _METHODS:
        return ""  # a method that anybody may call, as in call_later(1, task.cancel), is no step of the task
    return task.get_name()


INSIDE: tuple[str, ...] = (
    os.path.dirname(os.path.dirname(__file__)) + os.sep,  # noqa: PTH120
    os.path.dirname(asyncio.__file__) + os.sep,  # noqa: PTH120
)
"""Folders whose lines are no lines of a program: the simulation, and asyncio."""


LOCKS = frozenset({"Lock.acquire", "Semaphore.acquire"})
"""Where a task waits for what another one holds."""
WAKERS = frozenset({"Event.wait", "Condition.wait", "Queue.get", "Queue.put"})
"""Where a task waits to be woken."""


def where(task: asyncio.Task[Any]) -> str:
    """Return the task's name, the innermost line of the program at which it waits, and in which primitive."""
    place, primitive = _position(task)
    return f"{task.get_name()} in {place}{f', in {primitive}' if primitive else ''}"


def waits_in(task: asyncio.Task[Any]) -> str:
    """Return the function of asyncio in which a task waits, as in "Lock.acquire"; empty if in none."""
    return _position(task)[1]


def _position(task: asyncio.Task[Any]) -> tuple[str, str]:
    coroutine: Any = task.get_coro()
    place, primitive = "not started", ""
    while isinstance(coroutine, types.CoroutineType) and coroutine.cr_frame is not None:
        frame = coroutine.cr_frame
        code = frame.f_code
        if not code.co_filename.startswith(INSIDE):
            place = f"{code.co_qualname} ({code.co_filename.rpartition('/')[2]}:{frame.f_lineno})"
            primitive = ""
        elif code.co_filename.startswith(INSIDE[-1]):
            primitive = code.co_qualname
        coroutine = coroutine.cr_await
    return place, primitive
