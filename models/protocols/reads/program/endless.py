"""Reads whose channel has ticks without an end: what waits is answered in every fair run.

The last tick comes again and again, also where nothing new was issued: a replica whose read has missed a
wake-up, or waits for more than its guarantee, is helped by no greater tick.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import Entry, Tick
from tidemark.models.protocols.reads.ports import Log
from tidemark.models.protocols.reads.program import ReadsProgram, ReadsScenario
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World


class TickingLog(Log):
    """A log whose last tick is repeated. A repeated tick lies at the place of the last entry: a log that grew
    without an end would have no end of states.

    Attributes:
        again: the readers to which a repeated tick is still to come.
    """

    def __init__(self, world: World, *options: Any, readers: Sequence[str], **more: Any) -> None:
        super().__init__(world, *options, **more)
        self.again: set[str] = set()
        self._readers = readers

    async def send_tick(self) -> None:
        """Append a greater tick, if there may be one; else the last one comes again."""

        def put() -> None:
            self._world.touch(writes=self._bit)
            if self._allowed() > self.tick:
                self.tick = self._allowed()
                self.put(Tick(self.tick))
            elif self.tick:
                self.again.update(self._readers)
                self.gate.look()

        await self._world.operation("repeat tick", put)

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog. One entry at a time."""
        del channel
        reader = self._world.caller.title

        def take() -> Sequence[Entry]:
            self._world.touch(reads=self._bit, writes=self._bit)
            if place <= len(self.entries):
                return (self.entries[place - 1],)
            self.again.discard(reader)
            return (Entry(place - 1, 0, Tick(self.tick)),)

        def is_there() -> bool:
            return place <= len(self.entries) or reader in self.again

        found: Sequence[Entry] = await self.gate.operation("read", is_there, take)
        return found


class EndlessProgram(ReadsProgram):
    """Clients, query nodes, and ticks for ever."""

    log: TickingLog

    def populate(self, world: World) -> None:
        """Define the processes."""
        super().populate(world)
        readers = [f"node {number}" for number in range(self.scenario.nodes)]
        self.log = TickingLog(world, self.answers, timestamps=self.scenario.timestamps, readers=readers)

    async def _run_ticker(self, process: Process) -> None:
        del process
        while True:
            await self.log.send_tick()

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        return super().declared(), tuple(sorted(self.log.again))


endless = program(EndlessProgram, ReadsScenario)
"""``ticks`` means nothing here."""
