"""The controlled event loop: it never runs by itself, and it hands every ready callback to the lane it
belongs to.

The C implementation of ``asyncio.Task`` calls ``call_soon`` for each of its steps, so this one method sees
everything that becomes ready. Whatever code calls while a lane is current belongs to that lane: futures and
tasks are never shared between processes. A context variable checks this for each task step.
"""

import asyncio
import contextvars
import sys
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any, NoReturn

from tidemark.models.simulation.closed_world import calling_line, line_of
from tidemark.models.simulation.errors import ClosedWorldError, SharedObjectError, SpinError
from tidemark.models.simulation.loop.factories import made_by
from tidemark.models.simulation.loop.lane import LANE, Lane, LaneHandle, LaneTask, LaneTimer
from tidemark.models.simulation.settings import ClockOrder
from tidemark.models.simulation.spinning import SPIN, WAITING, spins

_REAL = ("sock_", "sendfile", "start_tls", "getaddrinfo", "getnameinfo", "connect_", "subprocess_", "add_")
_REFUSED = tuple(
    name
    for name in dir(asyncio.AbstractEventLoop)
    if name.startswith((*_REAL, "run_forever", "run_until_complete", "create_"))
    and name not in ("create_task", "create_future")
)
"""Methods that belong to the real world."""

_SHIELD = asyncio.shield.__code__
current_task: Callable[[asyncio.AbstractEventLoop], asyncio.Task[Any] | None] = asyncio.current_task
"""The task that a loop runs."""
if sys.version_info < (3, 12):  # where it is no C function, on the hot path
    current_task = asyncio.tasks._current_tasks.get  # type: ignore[attr-defined]  # noqa: SLF001
_TIME_OUTS = frozenset({asyncio.timeout.__code__, asyncio.Timeout.reschedule.__code__})
"""They ask what time it is to arm a timer, and do not tell."""


def _fresh() -> dict[str, object]:
    """Return what ``BaseEventLoop.__init__`` sets. It asks the machine for its clock, which takes long."""
    loop = asyncio.BaseEventLoop()
    attributes = dict(vars(loop))
    loop.close()
    return attributes


class ControlledLoop(asyncio.BaseEventLoop):
    """An event loop whose callbacks wait in lanes until the next event is picked. ``current``: the lane whose
    code runs now. ``clock_bit``: of the common clock in footprints; 0 when each process has its own.
    ``reads``, ``writes``: objects of the present step. ``cancelled``: a callback was, which may be ready.
    ``complaints``: what the exception handler was told, and misuse that the program might swallow.
    ``start_thread``: None refuses executors. ``cancels``: tasks may be cancelled as a fault.
    """

    current: Lane
    _task_factory: Callable[..., Any] | None
    start_thread: Callable[[object, Callable[..., Any], tuple[Any, ...]], asyncio.Future[Any]] | None = None

    def __init__(self, *, clock: ClockOrder, clock_bit: int) -> None:
        self.clock_bit = clock_bit if clock is ClockOrder.GLOBAL else 0
        self.reads = 0
        self.writes = 0
        self.cancelled = self.cancels = False
        self.clock_read = False
        self.complaints: list[tuple[str, str]] = []
        self.common_clock = 0.0

    def call_soon(  # type: ignore[override]  # as below
        self, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        """Append a callback to the ready queue of the current lane."""
        lane = self.current
        if context is not None and (owner := context.get(LANE)) is not lane and owner is not None:
            self._refuse_shared(owner)
        lane.positions = None
        task = getattr(callback, "__self__", None)
        if type(task) is LaneTask:
            task.position = None  # a task runs only by a callback of its own
        handle = LaneHandle(callback, args, self, context)
        if lane.history is not None:
            lane.scheduled += 1
            handle.serial = lane.scheduled
        ready = lane.ready
        ready.append(handle)
        if len(ready) > WAITING:
            self._end_step(len(ready), "callbacks")
        return handle

    def call_soon_threadsafe(  # type: ignore[override]  # the stub types arguments one by one
        self, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        """Do the same as ``call_soon``: there is only one thread."""
        return self.call_soon(callback, *args, context=context)

    def _end_step(self, count: int, what: str) -> NoReturn:
        """End a step that puts more and more into the queue of its process."""
        self.complain_of_step(sys._getframe(2), f"{count} {what} wait for it")  # noqa: SLF001
        raise SpinError

    def complain_of_step(self, frame: FrameType | None, how: str) -> None:
        """Say that the present step does not suspend, and where it is."""
        task = asyncio.current_task(self)
        name = task.get_name() if task is not None else self.current.title
        self.complaints.append((SPIN, spins(name, line_of(frame), how)))

    def _refuse_shared(self, owner: Lane) -> None:
        message = (
            f"a step of process {self.current.title} woke a task of {owner.title}: they share a Python "
            "object. Let processes talk through the network, a store or a cell only."
        )
        self.complaints.append(("shared-object", message))
        raise SharedObjectError(message)

    def time(self) -> float:
        """Return the virtual time of the current process in seconds."""
        if sys._getframe(1).f_code not in _TIME_OUTS:  # noqa: SLF001  # nothing else tells who asks
            self.clock_read = True
        return self._now()

    def _now(self) -> float:
        if self.clock_bit:
            self.reads |= self.clock_bit
            return self.common_clock
        return self.current.clock

    def call_later(  # type: ignore[override]  # as above
        self,
        delay: float,
        callback: Callable[..., Any],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Arm a timer. The program does not learn what time it is."""
        if delay is None:
            raise TypeError("delay must not be None")
        return self.call_at(self._now() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]  # as above
        self,
        when: float,
        callback: Callable[..., Any],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Arm a timer. It fires when it is picked among the earliest ones."""
        lane = self.current
        timer = LaneTimer(when, callback, args, self, context)
        timer.lane = lane
        timer.label = f"timer {lane.title}#{lane.next_number()}"
        lane.timers.append(timer)
        self.writes |= self.clock_bit
        if len(lane.timers) > WAITING:
            self._end_step(len(lane.timers), "timers")
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        if isinstance(handle, LaneTimer):
            handle.lane.timers = [timer for timer in handle.lane.timers if timer is not handle]
            self.writes |= self.clock_bit
            self.cancelled = True

    def create_task(
        self,
        coro: Any,
        *,
        name: object = None,
        context: contextvars.Context | None = None,
    ) -> asyncio.Task[Any]:
        """Start a task in the current lane. Its name is a function of the history of that lane."""
        lane = self.current
        tasks = lane.tasks
        number = len(tasks) + 1
        title = str(name) if name is not None else f"{lane.title}/task{number}"
        if self._task_factory is None:
            task: asyncio.Task[Any] = LaneTask(coro, number, loop=self, name=title, context=context)
        else:
            given = title if name is not None else None
            task = made_by(self._task_factory, self, coro, lane=lane, name=given, context=context)
        tasks.append(task)
        lane.starters.append(current_task(self))
        return task

    def create_future(self) -> "asyncio.Future[Any]":
        """Make a future. Where ``asyncio.shield`` asks for one and that matters, note the task under it."""
        if self.cancels:
            caller = sys._getframe(1)  # noqa: SLF001  # nothing else tells that a shield is made
            if caller.f_code is _SHIELD and isinstance(inner := caller.f_locals["inner"], asyncio.Task):
                self.current.shielded.add(id(inner))
        return asyncio.Future(loop=self)

    def start(self, lane: Lane, coroutine: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start a task in a lane from outside of that lane's code."""
        context = contextvars.copy_context()
        context.run(LANE.set, lane)
        return self.create_task(coroutine, name=name, context=context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Record what a plain loop would only log."""
        error = context.get("exception")
        message = f"{context.get('message', 'error in a callback')}: {error!r}"
        self.complaints.append(("callback-exception", message))

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        """Let a function be one step that comes at any later time; refused where nothing is stood in for."""
        if self.start_thread is None:
            raise self.refusal("run_in_executor")
        return self.start_thread(executor, func, args)

    def refusal(self, name: str) -> ClosedWorldError:
        """Complain about something of the real world, and return the error to be raised."""
        message = (
            f"loop.{name} at {calling_line()} is outside of the closed world of process "
            f"{self.current.title}: pass in an object for it (a network, a storage, a timer)"
        )
        self.complaints.append(("closed-world", message))
        return ClosedWorldError(message)

    def close(self) -> None:
        """Mark the loop as closed. There is nothing to release."""
        self._closed = True

    def __del__(self, _warn: object = None) -> None:
        """Do nothing: a controlled loop that was left open holds nothing of the machine."""


def _refused(name: str) -> Callable[..., NoReturn]:
    def method(self: ControlledLoop, *_arguments: Any, **_options: Any) -> NoReturn:
        raise self.refusal(name)

    method.__name__ = name
    method.__doc__ = f"Refuse `{name}`: it belongs to the real world."
    return method


# Attributes of the class, shared by all loops: the queues and sets among them are those that a controlled
# loop does not use, and a loop is made for each execution.
for _name, _value in _fresh().items():
    setattr(ControlledLoop, _name, _value)
ControlledLoop.get_debug = bool  # type: ignore[assignment,method-assign]  # never; asked by each future
for _name in _REFUSED:
    setattr(ControlledLoop, _name, _refused(_name))
