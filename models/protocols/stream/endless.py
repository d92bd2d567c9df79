"""A consumer of channels with ticks of their own, whose caller asks again and again.

An attempt to read ends when no pack has come for some time, wherever the consumer is; what it has read it
keeps. So nothing is ever at rest, and that packs come is a promise about endless runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from tidemark.impl.stream.minimum import MinimumConsumer
from tidemark.models.protocols.stream.minimum import MinimumProgram
from tidemark.models.protocols.stream.program import AT_THE_MINIMUM, StreamScenario
from tidemark.models.protocols.stream.refinement import Consumer
from tidemark.models.simulation.settings import ClockOrder
from tidemark.models.simulation.world.process import Process

ATTEMPT_S = 3.0
"""How long an attempt waits for a pack, in seconds (facts 5.1)."""


class AttemptsProgram(MinimumProgram):
    """Logs with ticks of their own, and a caller that asks for packs in attempts.

    Args:
        scenario: what happens.
        protocol: the specification that each step must follow.
        asks_again: whether the caller does so after an attempt that has brought no pack.
    """

    def __init__(self, scenario: StreamScenario, *, protocol: str, asks_again: bool = True) -> None:
        super().__init__(scenario, consumer=MinimumConsumer, protocol=protocol)
        self.settings = replace(self.settings, clock=ClockOrder.UNTIMED, timer_firings=None)
        self._asks_again = asks_again

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


def endless(
    *,
    messages: Sequence[int],
    ticks: Sequence[Sequence[int]],
    channel: Sequence[int] = (),
    protocol: str = AT_THE_MINIMUM,
    asks_again: bool = True,
) -> AttemptsProgram:
    """Return a program whose caller asks without an end.

    Args:
        messages: by message its timestamp. channel: by message its channel.
        ticks: by channel its ticks.
        protocol: the specification, or a variant of it.
        asks_again: the caller does so after an attempt that has brought no pack.
    """
    scenario = StreamScenario(
        messages=tuple(messages),
        own_ticks=tuple(tuple(own) for own in ticks),
        channels=len(ticks),
        channel=tuple(channel),
        aligned=True,
    )
    return AttemptsProgram(scenario, protocol=protocol, asks_again=asks_again)
