"""Dispatchers of a channel that has ticks without an end: who takes its packs gets every tick.

When all is in the log, the last tick comes again and again. So nothing is ever at rest: a target that waits
for what does not come, and a merge that does not end, are endless runs.
"""

import asyncio
from collections.abc import Hashable, Sequence

from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import Entry, Tick
from tidemark.models.protocols.dispatch.ports import Log
from tidemark.models.protocols.dispatch.program import MERGES_END, DispatchProgram, DispatchScenario
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World


class TickingLog(Log):
    """A log whose last tick is repeated. A repeated tick lies at the place of the last entry: a log that grew
    without an end would have no end of states.

    Attributes:
        again: names of the tasks to which a repeated tick is still to come.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.again: set[str] = set()

    async def repeat_tick(self) -> None:
        """Whoever has read everything gets the last tick again."""

        def put() -> None:
            self._world.touch(writes=self._bit)
            self.again |= {one.event.owner for one in self.gate.waiting if one.title.startswith("read")}
            self.gate.look()

        await self._world.operation("repeat tick", put)

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog. One entry at a time. Who reads is told apart: each of them has its turn."""
        del channel
        task = asyncio.current_task()
        reader = "" if task is None else task.get_name()

        def take() -> Sequence[Entry]:
            self._world.touch(reads=self._bit, writes=self._bit)
            if place <= len(self.entries):
                self.handed = max(self.handed, place)
                return (Entry(place, 0, self.entries[place - 1]),)
            self.again.discard(reader)
            return (Entry(place - 1, 0, Tick(self.highest)),)

        def is_there() -> bool:
            return place <= len(self.entries) or reader in self.again

        found: Sequence[Entry] = await self.gate.operation(f"read for {reader}", is_there, take)
        return found


class EndlessProgram(DispatchProgram):
    """One log with its producers, a node with the dispatchers, and ticks for ever."""

    log: TickingLog

    def populate(self, world: World) -> None:
        """Define the processes."""
        super().populate(world)
        self.log = TickingLog(world)

    async def _run_producers(self, process: Process) -> None:
        await super()._run_producers(process)
        while True:
            await self.log.repeat_tick()

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        return super().declared(), tuple(sorted(self.log.again))


class EndlessScenario(DispatchScenario):
    """What happens; see ``DispatchScenario``."""

    protocol: str = MERGES_END


endless = program(EndlessProgram, EndlessScenario)
