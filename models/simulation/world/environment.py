"""What the parts of a world share: events, budgets of faults, the footprint of a step, waiting operations."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import TypeVar

from tidemark.models.simulation.errors import ProcessDeadError, ProgramError
from tidemark.models.simulation.footprint import Interner
from tidemark.models.simulation.loop.event_loop import ControlledLoop, current_task
from tidemark.models.simulation.loop.futures import settle
from tidemark.models.simulation.loop.lane import Event, Lane
from tidemark.models.simulation.settings import FaultKind, Settings

T = TypeVar("T")


class Environment:
    """Events that may happen next, and what firing one of them touches. Network and storage build on it."""

    def __init__(self, settings: Settings, interner: Interner) -> None:
        self.settings = settings
        self.interner = interner
        self.loop = ControlledLoop(clock=settings.clock, clock_bit=interner.bit("clock"))
        self.events: dict[str, Event] = {}
        self.faults: dict[str, tuple[FaultKind, Event]] = {}
        self.lanes: dict[str, Lane] = {}
        self.environment = Lane("environment", incarnation=1, bit=0, daemon=True, clock=0.0)
        self.loop.current = self.environment

    @functools.cached_property
    def budget(self) -> dict[FaultKind, int]:
        """How many faults of each kind may still happen."""
        return self.settings.faults.remaining()

    @property
    def caller(self) -> Lane:
        """The lane whose code runs now. A dead one is refused."""
        lane = self.loop.current
        if not lane.alive:
            raise ProcessDeadError(f"process {lane.title} is dead and may not touch the world")
        return lane

    def spend(self, kind: FaultKind) -> None:
        """Take one fault from its budget. Faults under one budget depend on each other."""
        self.budget[kind] -= 1
        self.loop.writes |= self.interner.bit(f"budget {kind.value}")

    def _task_name(self) -> str:
        task = current_task(self.loop)
        return task.get_name() if task is not None else ""

    def touch(self, *, reads: int = 0, writes: int = 0) -> None:
        """Add to the footprint of the present step."""
        self.loop.reads |= reads
        self.loop.writes |= writes

    async def operation(self, title: str, effect: Callable[[], T]) -> T:
        """Wait until this operation is picked, perform its effect in that step, return the result."""
        lane = self.caller
        future: asyncio.Future[T] = self.loop.create_future()
        label = f"{title} {lane.title}#{lane.next_number()}"

        def fire() -> None:
            del self.events[label]
            settle(future, effect)

        self.events[label] = Event(label, lane, fire, owner=self._task_name())
        try:
            return await future
        except asyncio.CancelledError:
            self.events.pop(label, None)
            raise

    async def draw(self, count: int, title: str) -> int:
        """Wait until one of the numbers is picked: 0..count-1, and return it."""
        lane = self.caller
        if count < 1:
            raise ProgramError(f"{lane.title} draws {title!r} from {count} values: it takes at least one")
        future: asyncio.Future[int] = self.loop.create_future()
        number = lane.next_number()
        labels = [f"draw {title}={value} {lane.title}#{number}" for value in range(count)]

        def clear() -> None:
            for label in labels:
                self.events.pop(label, None)

        def take(value: int) -> Callable[[], None]:
            def fire() -> None:
                clear()
                if not future.done():
                    future.set_result(value)

            return fire

        for value, label in enumerate(labels):
            self.events[label] = Event(label, lane, take(value), owner=self._task_name())
        try:
            return await future
        except asyncio.CancelledError:
            clear()
            raise
