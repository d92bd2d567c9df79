"""Mutants of a query node whose channel has ticks for ever: what only endless runs show.

The functions return the program of ``tidemark.models.protocols.reads.endless:endless`` with the fault in it.
Each is compared with a variant of the specification that makes the same mistake, if a step is one of it.
"""

import asyncio
from typing import Any

from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.pipeline import ShardPipeline
from tidemark.impl.querynode.query_node import QueryNodeParts
from tidemark.impl.querynode.service_time import ServiceTime
from tidemark.impl.querynode.values import ReadStage, ShardRead
from tidemark.impl.stream.packs import StreamPack
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.reads.endless import endless
from tidemark.models.protocols.reads.mutants.implementation import (
    ClosesSilentlyDelegator,
    RaisesSilentlyDelegator,
)
from tidemark.models.protocols.reads.program import ReadsProgram
from tidemark.spec.language import action, require
from tidemark.spec.reads import Reads

_ENDLESS = "reads-endless"
_RELEASE = "reads-endless-release"
_HERE = "tidemark.models.protocols.reads.mutants.endless"
_VARIANTS = "tidemark.models.protocols.reads.mutants.specification"


def _with(delegator: type[ShardDelegator], **scenario: Any) -> ReadsProgram:
    return endless(parts=QueryNodeParts(delegator=delegator), **scenario)


@mutant(killer="reads.a_waiting_read_ends", source="H34: the update without a broadcast", instance=_ENDLESS)
def raise_wakes_nobody(**scenario: Any) -> ReadsProgram:
    """The service time is raised and the sleepers are not told; an equal tick raises nothing."""
    return _with(RaisesSilentlyDelegator, protocol=f"{_VARIANTS}:RaiseWakesNobody", **scenario)


@mutant(killer="reads.a_waiting_read_ends", source="H34: close must broadcast too", instance=_RELEASE)
def release_wakes_nobody(**scenario: Any) -> ReadsProgram:
    """A channel is released and the sleepers are not told: their node gets ticks, and they hear of none."""
    return _with(ClosesSilentlyDelegator, protocol=f"{_VARIANTS}:CloseWakesNobody", **scenario)


class LooksThenSleeps(Reads):
    """A read that has looked may sleep, whatever the service time is by now."""

    @action(source="hazard 34")
    def fall_asleep(s, q: Reads.Read):
        """The read sleeps, because of what it saw before."""
        require(s.progress[q] == "waiting")
        s.progress[q] = "asleep"


class _LooksThenSleeps(ServiceTime):
    async def _sleep(self, read: ShardRead) -> None:
        await self._preemption.point("tsafe.sleep")
        await super()._sleep(read)


class _LooksThenSleepsDelegator(ShardDelegator):
    service_time_class = _LooksThenSleeps


@mutant(killer="reads.a_waiting_read_ends", source="H34: looks without the lock", instance=_ENDLESS)
def sleeps_on_an_old_look(**scenario: Any) -> ReadsProgram:
    """Looking and falling asleep are two steps: a raise in between is missed, and no other one comes."""
    return _with(_LooksThenSleepsDelegator, protocol=f"{_HERE}:LooksThenSleeps", **scenario)


class ServedAbove(Reads):
    """The service time must be above the guarantee."""

    def is_served(s, q):
        return s.safe[s.place(q)] > s.guarantee[q]


class _ServedAbove(ServiceTime):
    def is_served(self, read: ShardRead) -> bool:
        return self.value > read.guarantee


class _ServedAboveDelegator(ShardDelegator):
    service_time_class = _ServedAbove


@mutant(killer="reads.a_waiting_read_ends", source="seed 002, waitTSafe: at or above", instance=_ENDLESS)
def served_above_the_guarantee(**scenario: Any) -> ReadsProgram:
    """A read waits until the service time is above its guarantee: a tick at it is not enough."""
    return _with(_ServedAboveDelegator, protocol=f"{_HERE}:ServedAbove", **scenario)


class _LooksAgain(_ServedAbove):
    async def _sleep(self, read: ShardRead) -> None:
        read.stage = ReadStage.WAITING
        await asyncio.sleep(1.0)


class _LooksAgainDelegator(ShardDelegator):
    service_time_class = _LooksAgain


@mutant(killer="reads.a_waiting_read_ends", source="seed 002, waitTSafe: at or above", instance=_ENDLESS)
def looks_again_for_ever(**scenario: Any) -> ReadsProgram:
    """The same, and the read looks again each second in place of being woken: nothing ever stands still."""
    return _with(_LooksAgainDelegator, protocol=f"{_HERE}:ServedAbove", **scenario)


class _PassesEmptyPacks(ShardPipeline):
    async def process(self, pack: StreamPack) -> None:
        if pack.messages:
            await super().process(pack)


@mutant(killer="reads.service_time_follows_the_oracle", source="B48", instance=_ENDLESS)
def empty_packs_are_passed_over(**scenario: Any) -> ReadsProgram:
    """A pack without messages leaves the service time where it was."""
    return endless(parts=QueryNodeParts(pipeline=_PassesEmptyPacks), **scenario)
