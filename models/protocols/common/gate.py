"""Operations that may happen only once something is there: an entry in a log, a state of the world."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from tidemark.models.simulation.loop.futures import settle
from tidemark.models.simulation.loop.lane import Event, Lane
from tidemark.models.simulation.world.world import World


class Waiting(NamedTuple):
    """An operation that waits for its condition."""

    title: str
    lane: Lane
    event: Event
    ready: Callable[[], bool]


class Gate:
    """Operations that wait for a condition on shared data. Each change of the data calls ``look``."""

    def __init__(self, world: World) -> None:
        self.waiting: list[Waiting] = []
        self._world = world

    async def operation(self, title: str, ready: Callable[[], bool], effect: Callable[[], Any]) -> Any:
        """Wait until the condition holds and the operation is picked, perform its effect, return the
        result.
        """
        world, lane = self._world, self._world.caller
        future: asyncio.Future[Any] = world.loop.create_future()
        label = f"{title} {lane.title}#{lane.next_number()}"
        task = asyncio.current_task()

        def fire() -> None:
            del world.events[label]
            settle(future, effect)

        event = Event(label, lane, fire, owner="" if task is None else task.get_name())
        waiting = Waiting(title, lane, event, ready)
        self.waiting.append(waiting)
        self.look()
        try:
            return await future
        except asyncio.CancelledError:
            world.events.pop(label, None)
            self.waiting = [other for other in self.waiting if other is not waiting]
            raise

    def look(self) -> None:
        """Offer what may happen now. What a dead process waited for is forgotten."""
        living = [one for one in self.waiting if one.lane.alive]
        for one in living:
            if one.ready():
                self._world.events[one.event.label] = one.event
        self.waiting = [one for one in living if one.event.label not in self._world.events]

    def view(self) -> tuple[tuple[str, str], ...]:
        """What waits, and whose it is."""
        return tuple(sorted((one.title, one.lane.title) for one in self.waiting))
