"""Sends the ticks of one round after another to the channels."""

import asyncio
from collections.abc import Sequence

from tidemark.impl.errors import RpcError
from tidemark.impl.ports import Preemption
from tidemark.impl.rootcoord.ports import TickStreams
from tidemark.impl.rootcoord.round_queue import Round, RoundQueue
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName


class TickSender:
    """The channels of a round are ticked at the same time; the next round begins when all have ended.

    Milvus: sendTimeTick

    last: the greatest tried tick of each channel. A failed send may have put it into the log, and no smaller
        one may follow.
    synced: the greatest tick of each channel that is known to be in its log.
    round: the ticks of the round that is being sent. to_send: its channels that have not ended.
    """

    def __init__(
        self,
        *,
        channels: Sequence[ChannelName],
        rounds: RoundQueue,
        streams: TickStreams,
        preemption: Preemption,
    ) -> None:
        self.last: dict[ChannelName, Timestamp] = dict.fromkeys(channels, 0)
        self.synced: dict[ChannelName, Timestamp] = dict.fromkeys(channels, 0)
        self.round: dict[ChannelName, Timestamp] = {}
        self.to_send: tuple[ChannelName, ...] = ()
        self._rounds = rounds
        self._streams = streams
        self._preemption = preemption

    async def load(self) -> None:
        """Load the last ticks of the logs: ticks must not go back after a restart (hazard 30)."""
        for channel in self.last:
            self.last[channel] = self.synced[channel] = await self._streams.last_tick(channel)

    async def run(self) -> None:
        """Send rounds. Ends by cancellation."""
        while True:
            await self._rounds.arrived()
            await self._preemption.point("sender.round")
            await self._send_round(self._rounds.take())

    async def _send_round(self, complete: Round) -> None:
        self.round = {
            channel: min(report.value(channel) for report in complete.values()) for channel in self.last
        }
        self.to_send = tuple(self.round)
        sends = [
            asyncio.create_task(self._send(channel, ts), name=f"tick {channel}")
            for channel, ts in self.round.items()
        ]
        await asyncio.gather(*sends)
        await self._preemption.point("sender.end_round")
        self.round = {}

    async def _send(self, channel: ChannelName, ts: Timestamp) -> None:
        """A failed tick is not repeated: the next round has a greater one."""
        try:
            if self._goes_on(channel, ts):
                await self._streams.send_tick(channel, ts)
                self.last[channel] = self.synced[channel] = ts
            else:
                await self._preemption.point("sender.skip")
        except RpcError:
            self.last[channel] = ts  # it was tried, and does not count as sent (B10)
        finally:
            self.to_send = tuple(other for other in self.to_send if other != channel)

    def _goes_on(self, channel: ChannelName, ts: Timestamp) -> bool:
        """A session that joins may report less than the last tick: such a tick is left out."""
        return ts > self.last[channel] or self.synced[channel] < ts == self.last[channel]
