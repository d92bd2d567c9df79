"""Mutants of the coordinator that hands channels to nodes, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.ownership.program:ownership``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import ChannelLivesError
from tidemark.impl.types import (
    DROPPED_CHECKPOINT,
    ChannelName,
    ChannelRecord,
    EndPosition,
    Owner,
    SaveBinlogPaths,
    SegmentRecord,
)
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.ownership.program import OwnershipProgram, ownership

MOVES = "ownership-impl-moves"
DROP = "ownership-impl-drop"


class TakesRowsAgain(Coordinator):
    """Takes a save that it has recorded for a new one."""

    def _brings_rows(self, record: SegmentRecord, request: SaveBinlogPaths) -> bool:
        return not record.flushed and not record.dropped and request.position.ts >= record.dml_position.ts


@mutant(killer="ownership.stored_once", source="hazard 46", instance=MOVES)
def a_save_counts_twice(**scenario: Any) -> OwnershipProgram:
    """A save that arrives again is recorded again."""
    return ownership(coordinator=TakesRowsAgain, **scenario)


class _AnyTenure(Coordinator):
    def _owner_may_write(self, channel: ChannelName, owner: Owner) -> bool:
        record = self.channels.get(channel)
        return record is not None and not record.dropped


@mutant(killer="refinement", source="hazard 22; B27", instance=MOVES)
def saves_of_any_tenure_are_taken(**scenario: Any) -> OwnershipProgram:
    """A node that lost the channel may still save."""
    return ownership(coordinator=_AnyTenure, **scenario)


class _DropsForAnybody(Coordinator):
    async def drop_channel(self, channel: ChannelName, owner: Owner) -> None:
        async with self.lock.holding("coordinator.lock"):
            record = self.channel(channel)
            await self._save_channel(replace(record, checkpoint=DROPPED_CHECKPOINT, dropped=True))


@mutant(killer="ownership.what_is_gone_has_no_checkpoint", source="hazard 14; facts 7.9", instance=DROP)
def a_late_drop_takes_the_next_channel(**scenario: Any) -> OwnershipProgram:
    """A request to drop is not compared with the present tenure."""
    return ownership(coordinator=_DropsForAnybody, **scenario)


class _NoSentinel(Coordinator):
    async def _save_channel(self, record: ChannelRecord) -> None:
        if record.dropped and not record.collected:
            record = replace(record, checkpoint=self.channels[record.channel].checkpoint)
        await super()._save_channel(record)


@mutant(killer="refinement", source="hazard 14; facts 7.9", instance=DROP)
def a_dropped_channel_keeps_its_checkpoint(**scenario: Any) -> OwnershipProgram:
    """No sentinel is stored: a late checkpoint may still be greater."""
    return ownership(coordinator=_NoSentinel, **scenario)


class _KeepsTheCheckpoint(Coordinator):
    async def _save_channel(self, record: ChannelRecord) -> None:
        kept = self.channels.get(record.channel)
        if record.collected and kept is not None:
            record = replace(record, checkpoint=kept.checkpoint)
        await super()._save_channel(record)


@mutant(killer="ownership.what_is_gone_has_no_checkpoint", source="hazard 14", instance=DROP)
def what_is_collected_keeps_its_checkpoint(**scenario: Any) -> OwnershipProgram:
    """The checkpoint of a dropped channel outlives it."""
    return ownership(coordinator=_KeepsTheCheckpoint, **scenario)


class _CollectsToMakeRoom(Coordinator):
    async def create_channel(self, channel: ChannelName, begins: EndPosition) -> None:
        try:
            await super().create_channel(channel, begins)
        except ChannelLivesError:
            await self.collect_channel(channel)
            raise


@mutant(killer="refinement", source="hazard 14; facts 10.1", instance=DROP)
def a_creation_collects_what_was_dropped(**scenario: Any) -> OwnershipProgram:
    """A creation that comes too early is refused, and collects: a step of the protocol, of another event."""
    return ownership(coordinator=_CollectsToMakeRoom, **scenario)
