"""A failing order told step by step: which timers fired, what was cancelled, which tasks moved and where they
wait now.

The traceback of a failed task as text: free of addresses and of folders, so that equal failures look
equal.
"""

import asyncio
import linecache
import os
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tidemark.checks.interleave.executions.replay import Exact
from tidemark.checks.interleave.executions.run import run_once
from tidemark.checks.interleave.result import Found
from tidemark.checks.interleave.search_loop import quiet
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.models.simulation import Execution, Footprint, Interner, ProgramRef
from tidemark.models.simulation.execution import failed_task
from tidemark.models.simulation.loop.freezing import without_addresses
from tidemark.models.simulation.loop.lane import INSIDE, Lane, LaneTimer, where
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
        waiter = getattr(task, "_fut_waiter", None)  # None where the task only yields, as in sleep(0)
        if waiter is not None and waiter in arguments:
            return f"wakes {where(task)}"
    return f"calls {getattr(callback, '__qualname__', type(callback).__name__)}"


_SHARE = 10
"""Timers matter if one of so many steps in the second half is one; a line, if so many of them are its,"""
_OFTEN = 10
"""and this many in all."""


def polling_lines(program: ProgramRef, picks: Sequence[int], *, last: int = 0) -> str:
    """Return where those wait that timers wake in the second half of an execution, in words; empty if timers
    are no large part of it, or none of these lines comes again and again. ``last``: so many steps at its end
    led back to where it was before, and those are meant that timers wake in them.
    """
    watch = _Timers(picks)
    with quiet():
        run_once(program.load(), watch, interner=Interner(), steps=max(len(picks), 1))
    if last:
        return "; ".join(sorted({text for text in watch.woken[-last:] if text}))
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


_HERE = str(Path(__file__).parents[1]) + os.sep
"""This package, whose pytest plugin stands between a test and the simulation."""
_DEEPEST = 4
"""Errors of a chain that are shown."""


def traceback_of(error: BaseException) -> list[str]:
    """Return where an error was raised, call by call, and then the errors that it comes from.

    Frames of the simulation are left out; those of asyncio and of other libraries are shown.
    """
    lines: list[str] = []
    current: BaseException | None = error
    for depth in range(_DEEPEST):
        if current is None:
            break
        lines += ["  while this was handled or because of it:"] if depth else []
        lines += [*_frames(current), f"  {_words(current)}"]
        hidden = current.__suppress_context__
        current = current.__cause__ or (None if hidden else current.__context__)
    return lines


def _words(error: BaseException) -> str:
    text = without_addresses(str(error)).partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _frames(error: BaseException) -> Iterator[str]:
    for frame, number in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if code.co_filename.startswith((INSIDE[0], _HERE)):
            continue
        source = linecache.getline(code.co_filename, number, frame.f_globals).strip()
        place = f"    {code.co_filename.rpartition('/')[2]}:{number} in {code.co_qualname}"
        yield f"{place}: {source}" if source else place


def tell(program: ProgramRef, found: Found) -> str:
    """Run a failing execution again, and return what happened in it, line by line."""
    watch = _Watching(found.picks)
    with quiet():
        run_once(program.load(), watch, interner=Interner(), steps=max(len(found.picks), 1))
    settings = program.load()().settings
    deviations = sum(1 for pick in found.picks if pick)
    lines = [
        found.violation.message,
        f"{program.text()}: {settings.text()}",
        f"{len(found.picks)} steps, {deviations} of them not the default choice:",
    ]
    before: dict[str, str] = watch.seen[0] if watch.seen else {}
    steps = zip(found.labels, watch.meant, watch.seen[1:], strict=False)
    for number, (label, meant, after) in enumerate(steps, start=1):
        moved = [text for name, text in after.items() if before.get(name) != text]
        told = [*([meant] if meant else []), *moved]
        if told:
            lines.append(f"  {number}. {label}: {'; '.join(told)}")
        before = after
    lines += watch.trouble
    lines.append(f"replay token: {found.token}")
    return "\n".join(lines)


class _Watching(Exact, StateStrategy):
    """A replay that notes where each task waits, and what timers and cancellations are for.

    Attributes:
        seen: before each step and after the last one, where each task waits.
        meant: of each step what it does to a task, if it is a timer or a cancellation; otherwise empty.
        trouble: the traceback of the task that failed, line by line.
    """

    def __init__(self, picks: Sequence[int]) -> None:
        super().__init__(picks)
        self.seen: list[dict[str, str]] = []
        self.meant: list[str] = []
        self.trouble: list[str] = []
        self._execution: Execution | None = None

    def arrive(self, execution: Execution) -> bool:
        """Note it, and go on."""
        self._execution = execution
        self._look()
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Note what the step is for."""
        chosen = super().pick(enabled, last)
        if chosen is not None:
            self.meant.append(purpose(enabled[chosen], self._lanes()))
        return chosen

    def done(self, last: Footprint | None) -> None:
        """Note it once more, and who has failed."""
        del last
        self._look()
        failed = next((task for task in map(failed_task, self._lanes()) if task is not None), None)
        error = failed.exception() if failed is not None else None
        if failed is not None and error is not None:
            self.trouble = [
                f"traceback of {failed.get_name()}, the innermost call last:",
                *traceback_of(error),
            ]

    def _lanes(self) -> list[Lane]:
        return self._execution.world.every_lane if self._execution is not None else []

    def _look(self) -> None:
        if self._execution is None:
            return
        tasks = [task for lane in self._lanes() for task in lane.tasks]
        self.seen.append(
            {
                f"{number} {task.get_name()}": f"{task.get_name()} {_end(task)}"
                if task.done()
                else where(task)
                for number, task in enumerate(tasks)
            }
        )


def _end(task: "asyncio.Task[Any]") -> str:
    if task.cancelled():
        return "ended, cancelled"
    error = task._exception  # noqa: SLF001  # asking properly would count as seeing it
    return "ended" if error is None else f"ended with {type(error).__name__}"
