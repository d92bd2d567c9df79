"""Mutants of a data node that its life shows: slips of the kind that people make."""

from __future__ import annotations

from collections.abc import Mapping

from tidemark.impl.datanode.buffer_manager import BufferManager
from tidemark.impl.datanode.time_tick_node import TimeTickNode
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, Pack
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.node.life import NodeLife, life
from tidemark.models.protocols.node.reckoning import DUE_IS_ASKED

ALONE = "node-impl-life"


class _OneForAll(TimeTickNode):
    async def operate(self, pack: Pack) -> None:
        self.last_update: Timestamp | None = getattr(self._updater, "last_update", None)
        await super().operate(pack)
        self._updater.__dict__["last_update"] = self.last_update


@mutant(killer=DUE_IS_ASKED, source="facts 8", instance=ALONE)
def channels_share_an_interval() -> NodeLife:
    """A checkpoint of one channel counts as a report of all: the others wait."""
    return life(time_tick_node=_OneForAll)


class _FirstByName(BufferManager):
    def _biggest(self, held: Mapping[ChannelName, int]) -> ChannelName:
        return min(held)


@mutant(killer=DUE_IS_ASKED, source="facts 7.3: memory check", instance=ALONE)
def memory_is_taken_from_the_first_channel() -> NodeLife:
    """When memory is short the first channel by name is synced, whatever it holds."""
    return life(buffer_manager=_FirstByName)
