"""Sends the ticks of one round after another to the channels."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from impl.errors import RpcError
from impl.ports import Preemption
from impl.rootcoord.ports import TickStreams
from impl.rootcoord.report import Timestamp
from impl.rootcoord.time_tick_sync import Round
from impl.types import ChannelName


class TickSender:
    """The channels of a round are ticked at the same time; the next round begins when all have ended.

    last: the last tick of each channel that is in its log.
    """

    def __init__(
        self,
        *,
        channels: Sequence[ChannelName],
        rounds: asyncio.Queue[Round],
        streams: TickStreams,
        preemption: Preemption,
    ) -> None:
        self.last: dict[ChannelName, Timestamp] = dict.fromkeys(channels, 0)
        self.sending: dict[ChannelName, Timestamp] = {}
        self._rounds = rounds
        self._streams = streams
        self._preemption = preemption

    async def load(self) -> None:
        """Take up what is in the logs: ticks must not go back after a restart (hazard 30)."""
        for channel in self.last:
            self.last[channel] = await self._streams.last_tick(channel)

    async def run(self) -> None:
        """Send rounds. Ends by cancellation."""
        while True:
            complete = await self._rounds.get()
            await self._preemption.point("sender.round")
            await self.send_round(complete)

    async def send_round(self, complete: Round) -> None:
        """Tick each channel at the least value that is reported for it."""
        self.sending = {channel: self._tick_of(channel, complete) for channel in self.last}
        await asyncio.gather(*(self._send(channel, ts) for channel, ts in list(self.sending.items())))

    def _tick_of(self, channel: ChannelName, complete: Round) -> Timestamp:
        return min(report.value(channel) for report in complete.values())

    async def _send(self, channel: ChannelName, ts: Timestamp) -> None:
        """A failed tick is not repeated: the next round has a greater one."""
        try:
            if self._goes_on(channel, ts):
                await self._streams.send_tick(channel, ts)
                self._sent(channel, ts)
        except RpcError:
            self._failed(channel, ts)
        finally:
            del self.sending[channel]

    def _goes_on(self, channel: ChannelName, ts: Timestamp) -> bool:
        """A session that joins may report less than was ticked before: such a tick is left out."""
        return ts > self.last[channel]

    def _sent(self, channel: ChannelName, ts: Timestamp) -> None:
        self.last[channel] = ts

    def _failed(self, channel: ChannelName, ts: Timestamp) -> None:
        """Nothing is counted (B10)."""
