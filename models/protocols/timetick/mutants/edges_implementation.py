"""Mutants of the logs and of the session store under a coordinator that takes over: what a fence is not.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.timetick.takeover:takeover``. Where a variant of the specification makes the same
mistake, the mutant is compared with that, so that what is refuted is a property and not only the likeness.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.broker.broker import CoordinatorStreams
from tidemark.impl.broker.channel_log import Append, ChannelLog
from tidemark.impl.broker.messages import DdlMessage, Tick
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.timetick.takeover import TakeoverParts, TakeoverProgram, takeover

_VARIANTS = "tidemark.models.protocols.timetick.mutants.edges"


class _DoesNotWait(ChannelLog):
    async def follow(self, coordinator: int) -> None:
        self.coordinator = min(self.coordinator, coordinator)


@mutant(killer="refinement", source="hazards 12, 30", instance="timetick-edges-tick")
def fence_is_not_waited_for(**scenario: Any) -> TakeoverProgram:
    """A log says its last tick while a line of the predecessor is being written."""
    return takeover(edges=TakeoverParts(log=_DoesNotWait), **scenario)


class _ReadsFirst(CoordinatorStreams):
    async def last_tick(self, channel: ChannelName) -> Timestamp:
        found = self._broker.log(channel).last_tick
        await super().last_tick(channel)
        return found


@mutant(killer="refinement", source="hazard 30", instance="timetick-edges-tick")
def last_tick_is_read_before_the_fence(**scenario: Any) -> TakeoverProgram:
    """A coordinator asks for the last tick, and then for the fence."""
    return takeover(edges=TakeoverParts(streams=_ReadsFirst), **scenario)


class _TakesOldTicks(ChannelLog):
    def _refuse(self, append: Append) -> None:
        if not isinstance(append.message, Tick):
            super()._refuse(append)


@mutant(killer="timetick.ticks_never_go_back", source="hazards 12, 30", instance="timetick-edges-tick")
def tick_of_the_old_coordinator_is_taken(**scenario: Any) -> TakeoverProgram:
    """A log that has been fenced takes ticks of earlier coordinators."""
    return takeover(
        edges=TakeoverParts(log=_TakesOldTicks),
        protocol=f"{_VARIANTS}:TicksAreTaken",
        **{**scenario, "others": 2},
    )


class _TakesOldDdl(ChannelLog):
    def _refuse(self, append: Append) -> None:
        if not isinstance(append.message, DdlMessage):
            super()._refuse(append)


@mutant(
    killer="timetick.ticks_are_below_all_to_come", source="B46; hazard 12", instance="timetick-edges-crash"
)
def ddl_message_of_the_old_coordinator_is_taken(**scenario: Any) -> TakeoverProgram:
    """A log that has been fenced takes DDL messages of earlier coordinators."""
    return takeover(edges=TakeoverParts(log=_TakesOldDdl), protocol=f"{_VARIANTS}:DdlIsTaken", **scenario)


class _LetsGo(ChannelLog):
    async def fence(self, source: int) -> None:
        self._fenced.add(source)


@mutant(killer="refinement", source="hazard 11", instance="timetick-edges-lease", tier="full")
def fence_of_a_session_is_not_waited_for(**scenario: Any) -> TakeoverProgram:
    """All logs are said to refuse a source while a line of its is being written."""
    return takeover(edges=TakeoverParts(log=_LetsGo), **scenario)
