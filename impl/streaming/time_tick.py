"""The time tick operator: from time to time it writes the acknowledged prefix into the log."""

from collections.abc import Awaitable, Callable

from tidemark.impl.errors import RpcError
from tidemark.impl.ports import Clock
from tidemark.impl.streaming.ack_manager import AckManager
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.values.messages import Tick

Write = Callable[[int, Tick], Awaitable[int]]
"""Append a tick with its start for readers; its place."""


class TimeTickOperator:
    """The ticks of one term. The first one is written at once: it passes all messages of earlier terms.

    Milvus: timeTickSyncOperator

    While no message is appended, ticks are delayed by some rounds (``StreamingConfig.idle_rounds``).

    Attributes:
        to_write: a collected tick that may not be in the log yet; 0: none.
        held_back: rounds without a tick since the last one.
    """

    def __init__(self, *, acks: AckManager, write: Write, clock: Clock, config: StreamingConfig) -> None:
        self.to_write: Timestamp = acks.passed
        self.held_back = 0
        self._acks = acks
        self._write = write
        self._clock = clock
        self._config = config

    async def run(self) -> None:
        """Write ticks. Ends by cancellation, or by the error of the log."""
        await self._write_tick()
        while True:
            await self._clock.sleep(self._config.tick_seconds)
            if not self._is_held_back():
                await self._tick()

    async def _tick(self) -> None:
        try:
            tick = await self._acks.collect()
        except RpcError:
            return  # the next round asks again
        if tick is not None:
            self.held_back, self.to_write = 0, tick
            await self._write_tick()

    async def _write_tick(self) -> None:
        tick = Tick(self.to_write)
        place = await self._write(self._acks.confirmed, tick)
        self.to_write = ZERO
        self._acks.written(tick.ts, place)

    def _is_held_back(self) -> bool:
        """Whether this round passes without a tick: no message is new, and the last tick is recent."""
        if not self._acks.is_quiet or self.held_back >= self._config.idle_rounds:
            return False
        self.held_back += 1
        return True
