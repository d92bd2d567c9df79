"""Which line polls: where the tasks wait that timers wake again and again until an execution is cut."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tidemark.checks.interleave.executions.replay import Exact
from tidemark.checks.interleave.executions.run import run_once
from tidemark.checks.interleave.search_loop import quiet
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.models.simulation import Execution, Footprint, Interner, ProgramRef
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


_SHARE = 10
"""Timers matter if one of so many steps in the second half is one; a line, if so many of them are its,"""
_OFTEN = 10
"""and this many in all."""


def polling_lines(program: ProgramRef, picks: Sequence[int]) -> str:
    """Return where those wait that timers wake in the second half of an execution, in words; empty if timers
    are no large part of it, or none of these lines comes again and again.
    """
    watch = _Timers(picks)
    with quiet():
        run_once(program.load(), watch, interner=Interner(), steps=max(len(picks), 1))
    half = watch.woken[len(watch.woken) // 2 :]
    late = Counter(text for text in half if text)
    if _SHARE * late.total() < len(half):
        return ""
    every = Counter(watch.woken)
    often = [text for text, count in late.items() if _SHARE * count >= late.total()]
    return "; ".join(sorted(text for text in often if every[text] >= _OFTEN))


class _Timers(Exact, StateStrategy):
    """A replay that notes of each step whom it wakes, if it is a timer; otherwise nothing."""

    def __init__(self, picks: Sequence[int]) -> None:
        super().__init__(picks)
        self.woken: list[str] = []
        self._execution: Execution | None = None

    def arrive(self, execution: Execution) -> bool:
        """Note the execution, and go on."""
        self._execution = execution
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Note whom the step wakes."""
        chosen = super().pick(enabled, last)
        text = ""
        if chosen is not None and enabled[chosen].startswith("timer ") and self._execution is not None:
            meant = purpose(enabled[chosen], self._execution.world.every_lane)
            text = meant.partition("s, ")[2].removeprefix("wakes ")
        self.woken.append(text)
        return chosen
