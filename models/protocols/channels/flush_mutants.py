"""Mutants of the flush of a channel. Each is the program of ``flush_life`` with the fault in it."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.impl.datacoord.flush_service import FlushService
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, SegmentId
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.channels.flush_life import ASKED, OVER, FlushLife, life


class _TellsOnce(FlushService):
    async def _until_confirmed(
        self, channel: ChannelName, flush_ts: Timestamp, segments: Sequence[SegmentId]
    ) -> None:
        told = False
        while not await self._coordinator.confirm_flush(channel, flush_ts, segments):
            told = told or await self._tell_node(channel, flush_ts, segments)
            await self._clock.sleep(self._config.poll_seconds)


@mutant(killer=ASKED, source="seed 004, 6.3", instance="flush-service-impl-life")
def a_node_that_comes_again_is_not_told() -> FlushLife:
    """A node that has forgotten the flush, since it died, is not told again."""
    return life(service=_TellsOnce)


class _ResumesOne(FlushService):
    async def resume(self) -> None:
        for channel in sorted(self._coordinator.channels):
            for request in self._coordinator.channel(channel).flush_requests[:1]:
                await self._until_confirmed(channel, request.flush_ts, request.segments)


@mutant(killer=OVER, source="facts 7.8: after a restart", instance="flush-service-impl-life")
def one_request_of_a_channel_is_resumed() -> FlushLife:
    """Of several requests of a channel that were recorded only the first one is resumed."""
    return life(service=_ResumesOne)
