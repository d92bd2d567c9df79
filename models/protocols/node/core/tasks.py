"""The supervisor of a process by itself: tasks that fail, are stopped, or stop others; plain waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from tidemark.impl.runtime import AsyncioClock, NoPreemption, Supervisor
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

FIRST = "the_first_failure_of_a_process_is_kept"
"""Claim id: whoever checks, or waits for a failure, is told the first one, when it happens and not before."""
STOPPED = "a_stop_ends_all_tasks_but_the_caller"
"""Claim id: it returns when each has ended; what never ran is not made; a failure at the end is kept."""
FORGOTTEN = "a_task_that_has_ended_is_forgotten"
"""Claim id: a process keeps the tasks that run, and no others."""
WAITS = "a_clock_waits_as_long_as_it_is_told"
"""Claim id: a pause takes its time, and a point of preemption none."""

SCRIPTS: tuple[Script, ...] = tuple(
    {"story": story} for story in ("failures", "stop", "own_stop", "stop_at_once", "cancelled", "clock")
)


class TasksProgram(ComparedProgram):
    """One supervisor and its tasks."""

    async def live(self, process: Process) -> None:
        """Tell one story."""
        self._process = process
        self._from = process.now()
        self._seen: list[tuple[float, str]] = []
        self._ended = False
        self._supervisor = Supervisor()
        self.begun = True
        await getattr(self, f"_{self.script['story']}")()
        self._ended = True

    def _note(self, what: str) -> None:
        self._seen.append((self._process.now() - self._from, what))

    async def _work(self, name: str, seconds: float, *, fails: bool = False, after: float = 0) -> None:
        """Take ``seconds``; when it is stopped, take ``after`` more."""
        self._note(f"{name} begins")
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            if after:
                await asyncio.sleep(after)
            self._note(f"{name} is stopped")
            if fails:
                raise ValueError(name) from None
            raise
        if fails:
            raise ValueError(name)

    async def _waiter(self) -> None:
        try:
            await self._supervisor.wait_failed()
        except ValueError as failure:
            self._note(f"the waiter hears of {failure}")
        else:
            self._note("the waiter hears nothing")

    async def _failures(self) -> None:
        watcher = asyncio.get_running_loop().create_task(self._waiter(), name="waiter")
        for name, seconds, fails in (("a", 1, False), ("b", 2, True), ("c", 3, True)):
            self._supervisor.spawn(
                lambda name=name, seconds=seconds, fails=fails: self._work(name, seconds, fails=fails),  # type: ignore[misc]
                name,
            )
        await asyncio.sleep(1.5)
        self.compare(FIRST, "before any failure", self._checked(), "")
        self.compare(FORGOTTEN, "tasks after the first end", self._kept(), ["b", "c"])
        await asyncio.sleep(2.5)
        await asyncio.wait([watcher], timeout=1)
        self.compare(FIRST, "after two failures", self._checked(), "b")
        self.compare(FORGOTTEN, "tasks at the end", self._kept(), [])
        due = [*((0, f"{name} begins") for name in "abc"), (2, "the waiter hears of b")]
        self.compare(FIRST, "what has happened", self._seen, due)

    async def _stop(self) -> None:
        tasks = [
            self._supervisor.spawn(lambda: self._work("a", 9), "a"),
            self._supervisor.spawn(lambda: self._work("b", 9, after=1), "b"),
            self._supervisor.spawn(lambda: self._work("c", 9, fails=True), "c"),
        ]
        await asyncio.sleep(2)
        await self._supervisor.stop()
        self._note("the stop returns")
        due = [
            *((0, f"{name} begins") for name in "abc"),
            (2, "a is stopped"),
            (2, "c is stopped"),
            (3, "b is stopped"),
            (3, "the stop returns"),
        ]
        self.compare(STOPPED, "what has happened", self._seen, due)
        self.compare(
            STOPPED, "which were cancelled", [task.cancelled() for task in tasks], [True, True, False]
        )
        self.compare(FIRST, "a failure while it is stopped", self._checked(), "c")
        self.compare(FORGOTTEN, "tasks after a stop", self._kept(), [])

    async def _own_stop(self) -> None:
        async def stops() -> None:
            await asyncio.sleep(1)
            await self._supervisor.stop()
            self._note(f"it goes on, beside {self._kept()}")

        self._supervisor.spawn(lambda: self._work("a", 9), "a")
        task = self._supervisor.spawn(stops, "s")
        await asyncio.wait([task])
        due = [(0, "a begins"), (1, "a is stopped"), (1, "it goes on, beside ['s']")]
        self.compare(STOPPED, "what has happened", self._seen, due)
        self.compare(STOPPED, "the caller is cancelled", task.cancelled(), due=False)
        self.compare(FORGOTTEN, "tasks at the end", self._kept(), [])

    async def _stop_at_once(self) -> None:
        self._supervisor.spawn(lambda: self._work("a", 9), "a")
        await self._supervisor.stop()
        self.compare(STOPPED, "work that never ran", self._seen, [])
        self.compare(FORGOTTEN, "tasks that never ran", self._kept(), [])

    async def _cancelled(self) -> None:
        task = self._supervisor.spawn(lambda: self._work("a", 9), "a")
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        self.compare(FORGOTTEN, "a task that is cancelled by itself", self._kept(), [])
        self.compare(FIRST, "that is no failure", self._checked(), "")

    async def _clock(self) -> None:
        await NoPreemption().point("here")
        self._note("a point")
        await AsyncioClock().sleep(2.5)
        self._note("a pause")
        self.compare(WAITS, "a point and a pause", self._seen, [(0, "a point"), (2.5, "a pause")])

    def _checked(self) -> str:
        try:
            self._supervisor.check()
        except ValueError as failure:
            return str(failure)
        except Exception as failure:  # noqa: BLE001  whatever it is, it is compared
            return type(failure).__name__
        return ""

    def _kept(self) -> list[str]:
        return list(self._supervisor._tasks.values())  # noqa: SLF001

    def look(self) -> Hashable:
        """What has happened."""
        return tuple(self._seen)

    def wrong_at_the_end(self) -> str | None:
        """The story has ended."""
        return None if self._ended else f"{STOPPED}: it waits for ever"


def tasks() -> TasksProgram:
    """Return the program of all stories."""
    return TasksProgram(SCRIPTS, timers=20)
