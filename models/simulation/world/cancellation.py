"""Cancellation: of any task at an await at which it waits, as a fault; of what is left at the end."""

import asyncio
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from tidemark.models.simulation.loop.lane import Ending, Event, Lane, LaneTask, where
from tidemark.models.simulation.settings import FaultKind


def can_be_cancelled(task: "asyncio.Task[Any]", lane: Lane, exempt: Sequence[str] = ()) -> bool:
    """Tell whether a task waits at an await, no cancellation is on its way to it, no shield keeps it, and
    neither its name nor that of its coroutine function is exempt.
    """
    if task.done() or lane.out_of_reach(task) or task._must_cancel:  # type: ignore[attr-defined]  # noqa: SLF001  # documented nowhere else
        return False
    coroutine = task.get_coro()
    names = (task.get_name(), getattr(coroutine, "__name__", ""), getattr(coroutine, "__qualname__", ""))
    if any(fnmatchcase(name, pattern) for pattern in exempt for name in names):
        return False
    return bool(getattr(coroutine, "cr_suspended", True))


def cancel_event(task: "asyncio.Task[Any]", lane: Lane, spend: Callable[[FaultKind], None]) -> Event:
    """Return the fault that cancels a task."""

    def fire() -> None:
        spend(FaultKind.CANCELLATION)
        task.cancel()

    return Event(f"cancel {title_of(task, lane)}", lane, fire, fault=True, owner=task.get_name())


def title_of(task: "asyncio.Task[Any]", lane: Lane) -> str:
    """Return the name of a task; with its number in its process if the program has named it."""
    name = task.get_name()
    if name.startswith(f"{lane.title}/") or not isinstance(task, LaneTask):
        return name
    return f"{name} ({lane.title}/task{task.number})"


def wind_up(lane: Lane, drain: Callable[[Lane], None] | None) -> None:
    """End a process whose main task has ended, as ``asyncio.run`` does: after one more pass of the loop, in
    which it learns that the main task has ended, all tasks that are left are cancelled. ``drain`` runs the
    process until nothing is ready, where that is one step.
    """
    main = lane.main
    if main is None or not main.done():
        return
    if lane.ending is Ending.STOPPED:
        _cancel_all(lane)
    elif lane.ending is Ending.WATCHED:
        lane.ending = Ending.TOLD
        if not lane.pending_tasks():
            lane.ending = Ending.NO
        elif drain is None:
            main.get_loop().call_soon(_stop, lane)
        else:
            _cancel_all(lane)
            drain(lane)


def _stop(lane: Lane) -> None:
    """The loop stops when this pass is over: callbacks that are ready behind this one still run."""
    lane.ending = Ending.STOPPED


def _cancel_all(lane: Lane) -> None:
    lane.ending = Ending.NO
    main = lane.main
    pending = lane.pending_tasks()
    if main is not None and not main.cancelled() and main.exception() is None:
        lane.left_behind = tuple(where(task) for task in pending if not task.cancelling())
    for task in pending:
        task.cancel()
