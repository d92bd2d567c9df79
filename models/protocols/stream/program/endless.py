"""A consumer of channels with ticks of their own, whose caller asks again and again.

An attempt to read ends when no pack has come for some time, wherever the consumer is; what it has read it
keeps. So nothing is ever at rest, and that packs come is a promise about endless runs.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace

from tidemark.models.protocols.stream.program.minimum import MinimumProgram, MinimumScenario
from tidemark.models.protocols.stream.refinement import Consumer
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.settings import ClockOrder
from tidemark.models.simulation.world.process import Process

ATTEMPT_S = 3.0
"""How long an attempt waits for a pack, in seconds (facts 5.1)."""


class AttemptsScenario(MinimumScenario):
    """What happens.

    Attributes:
        asks_again: whether the caller does so after an attempt that has brought no pack.
    """

    asks_again: bool = True


class AttemptsProgram(MinimumProgram):
    """Logs with ticks of their own, and a caller that asks for packs in attempts."""

    def __init__(self, scenario: AttemptsScenario) -> None:
        super().__init__(scenario)
        self.settings = replace(self.settings, clock=ClockOrder.UNTIMED, timer_firings=None)
        self._asks_again = scenario.asks_again

    async def _store_packs(self, consumer: Consumer, process: Process) -> None:
        del process
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(ATTEMPT_S):
                    self.pack = await consumer.next_pack()
            if self.pack is not None:
                await self.sink.put(self.pack)
                self.pack = None
            elif not self._asks_again:
                await asyncio.get_running_loop().create_future()


endless = program(AttemptsProgram, AttemptsScenario)
