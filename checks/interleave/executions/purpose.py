"""What an event is for, before it happens: whom a timer wakes, who is cancelled where."""

import asyncio
from typing import Any

from tidemark.models.simulation.loop.lane import Lane, LaneTimer, where
from tidemark.models.simulation.world.cancellation import title_of


def purpose(label: str, lanes: list[Lane]) -> str:
    """Return what a timer or a cancellation does, before it does it."""
    if label.startswith("thread "):
        return "runs in an executor"
    for lane in lanes:
        for timer in lane.timers:
            if timer.label == label:
                return f"due at {timer.when():g} s, {_effect(timer, lane)}"
        for task in lane.tasks:
            if label == f"cancel {title_of(task, lane)}":
                return f"is cancelled where it waits, {where(task)}"
    return ""


def _effect(timer: LaneTimer, lane: Lane) -> str:
    """Return what a timer is for: whom it wakes, whose time is over, or what it calls."""
    callback: Any = timer._callback  # type: ignore[attr-defined]  # noqa: SLF001
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Timeout):
        task = owner._task  # type: ignore[attr-defined]  # noqa: SLF001
        return f"ends the time of {where(task)}" if task is not None else "ends a time-out"
    if isinstance(owner, asyncio.Task):
        return f"calls {callback.__name__} of {where(owner) if not owner.done() else owner.get_name()}"
    arguments = timer._args or ()  # noqa: SLF001
    for task in lane.pending_tasks():
        if getattr(task, "_fut_waiter", None) in arguments:
            return f"wakes {where(task)}"
    return f"calls {getattr(callback, '__qualname__', type(callback).__name__)}"
