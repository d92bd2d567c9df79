"""Mutants of the dispatchers of a channel: hazards and real bugs, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.dispatch.program:dispatch``. A claim about states is refuted at the variant of the
specification that makes the same mistake; where there is none, the specification itself tells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tidemark.impl.broker.messages import DdlMessage, collection_of
from tidemark.impl.errors import TargetGoneError
from tidemark.impl.stream.dispatchers import Deputy, MainDispatcher
from tidemark.impl.stream.manager import DispatcherManager, DispatcherParts
from tidemark.impl.stream.packs import StreamPack, StreamPosition
from tidemark.impl.stream.targets import Target
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.dispatch.program import DispatchProgram, dispatch

_VARIANTS = "tidemark.models.protocols.dispatch.mutants.specification"
_PAIRS = "tidemark.models.protocols.dispatch.mutants.pairs"


# ---- merges ----


class MergesUnlooked(DispatcherManager):
    """No second check."""

    def is_level(self, deputy: Deputy, main: MainDispatcher) -> bool:
        del deputy, main
        return True


@mutant(
    killer="dispatch.who_is_at_the_main_is_where_it_is",
    source="H50: no second check",
    instance="dispatch-impl-merge",
)
def merge_without_second_check(**scenario: Any) -> DispatchProgram:
    """Both were at the same tick when the merge began; that they still are is not looked at."""
    variant = f"{_VARIANTS}:MergeWithoutSecondCheck"
    return dispatch(manager=MergesUnlooked, protocol=variant, **scenario)


class _PausesNoDeputy(Deputy):
    def may_take(self) -> bool:
        return not self.target.is_full


@mutant(killer="refinement", source="H50: no pause", instance="dispatch-impl-merge")
def a_paused_deputy_goes_on(**scenario: Any) -> DispatchProgram:
    """A deputy takes packs while it is paused."""
    return dispatch(parts=DispatcherParts(deputy=_PausesNoDeputy), **scenario)


class _PausesNoMain(MainDispatcher):
    def may_take(self) -> bool:
        return True


@mutant(killer="refinement", source="H50: no pause", instance="dispatch-impl-merge")
def a_paused_main_goes_on(**scenario: Any) -> DispatchProgram:
    """The main dispatcher takes packs while it is paused."""
    return dispatch(parts=DispatcherParts(main=_PausesNoMain), **scenario)


class _PausesInHand(DispatcherManager):
    def _is_busy(self, main: MainDispatcher) -> bool:
        del main
        return False


@mutant(killer="refinement", source="H50: the pack in hand", instance="dispatch-impl-merge")
def the_main_is_paused_with_a_pack_in_hand(**scenario: Any) -> DispatchProgram:
    """The main dispatcher is paused before its pack is sent to all."""
    return dispatch(manager=_PausesInHand, **scenario)


class _ResumesNoMain(DispatcherManager):
    def next_step(self) -> Callable[[], None] | None:
        step = super().next_step()
        return None if step == self._resume_main else step


@mutant(
    killer="dispatch.ticks_reach_who_takes_them",
    source="facts 5.2: resume",
    instance="dispatch-impl-merge",
)
def the_main_is_not_resumed(**scenario: Any) -> DispatchProgram:
    """A main dispatcher that was paused stays so."""
    return dispatch(manager=_ResumesNoMain, **scenario)


class _ResumesNoDeputy(DispatcherManager):
    def _give_up(self, deputy: Deputy) -> None:
        deputy.candidate = False


@mutant(killer="refinement", source="facts 5.2: resume", instance="dispatch-impl-merge")
def the_deputy_is_not_resumed(**scenario: Any) -> DispatchProgram:
    """A deputy that was paused and is not merged stays so."""
    return dispatch(manager=_ResumesNoDeputy, **scenario)


class _KeepsItsDeputy(DispatcherManager):
    def _end(self, dispatcher: Any) -> None:
        if isinstance(dispatcher, Deputy):
            dispatcher.paused = False
        else:
            super()._end(dispatcher)


@mutant(killer="no_dispatcher_is_left", source="facts 5.2: merge", instance="dispatch-impl-merge")
def a_merged_deputy_lives_on(**scenario: Any) -> DispatchProgram:
    """The deputy of a target that was merged goes on sending."""
    return dispatch(manager=_KeepsItsDeputy, **scenario)


# ---- packs ----


class SplitsFromTheEnd(MainDispatcher):
    """Goes on behind the pack."""

    def position_of_a_split(self, pack: StreamPack) -> StreamPosition:
        return pack.finish


@mutant(
    killer="dispatch.who_is_at_the_main_is_where_it_is",
    source="H50: the split's position",
    instance="dispatch-impl-slow",
)
def split_from_the_end(**scenario: Any) -> DispatchProgram:
    """A target that is split off goes on behind the pack that it did not take."""
    variant = f"{_VARIANTS}:SplitFromTheEnd"
    return dispatch(parts=DispatcherParts(main=SplitsFromTheEnd), protocol=variant, **scenario)


class _SplitsNobody(MainDispatcher):
    def patience(self) -> float | None:
        return None


@mutant(
    killer="dispatch.ticks_reach_who_takes_them",
    source="facts 5.2: maxTolerantLag",
    instance="dispatch-impl-stuck",
)
def waits_for_slow_targets(**scenario: Any) -> DispatchProgram:
    """The main dispatcher waits for a target that takes nothing."""
    return dispatch(parts=DispatcherParts(main=_SplitsNobody), **scenario)


class _SplitsTheOnlyOne(MainDispatcher):
    def _may_split(self, target: Target) -> bool:
        return target in self.owed and target.is_full


@mutant(
    killer="dispatch.dispatchers_are_there_for_their_targets",
    source="facts 5.2: more than one target",
    instance="dispatch-impl-last",
)
def the_only_target_is_split_off(**scenario: Any) -> DispatchProgram:
    """A target that has become the only one is split off: a main dispatcher without targets is left."""
    return dispatch(parts=DispatcherParts(main=_SplitsTheOnlyOne), **scenario)


class _SendsAtThePosition(MainDispatcher):
    def is_sent(self, target: Target, pack: StreamPack) -> bool:
        return pack.end >= target.position.ts


@mutant(killer="dispatch.nothing_else_is_sent", source="B24: the skip rule", instance="dispatch-impl-merge")
def skips_only_what_ends_below(**scenario: Any) -> DispatchProgram:
    """A pack that ends at a target's position is sent (B24)."""
    variant = f"{_VARIANTS}:SkipsOnlyWhatEndsBelow"
    return dispatch(parts=DispatcherParts(main=_SendsAtThePosition), protocol=variant, **scenario)


class _SendsAll(MainDispatcher):
    def is_sent(self, target: Target, pack: StreamPack) -> bool:
        del target, pack
        return True


@mutant(
    killer="dispatch.nothing_else_is_sent",
    source="facts 5.2: the skip rule",
    instance="dispatch-impl-merge",
    tier="full",
)
def skips_nothing(**scenario: Any) -> DispatchProgram:
    """Every target of the main dispatcher gets every pack, whatever its position."""
    variant = f"{_VARIANTS}:SkipsNothing"
    return dispatch(parts=DispatcherParts(main=_SendsAll), protocol=variant, **scenario)


class _BeginsLate(DispatcherManager):
    def first_position(self, positions: list[StreamPosition]) -> StreamPosition:
        return max(positions, key=lambda position: position.ts)


@mutant(
    killer="dispatch.who_is_at_the_main_is_where_it_is",
    source="facts 5.2: positions",
    instance="dispatch-impl-merge",
    tier="full",
)
def begins_at_the_greatest_position(**scenario: Any) -> DispatchProgram:
    """The main dispatcher begins at the greatest position of the targets that wait."""
    variant = f"{_VARIANTS}:BeginsAtTheGreatestPosition"
    return dispatch(manager=_BeginsLate, protocol=variant, **scenario)


class _SendsNoBareTicks(MainDispatcher):
    def is_sent(self, target: Target, pack: StreamPack) -> bool:
        return super().is_sent(target, pack) and bool(pack.of(target.channel).messages)


@mutant(
    killer="dispatch.who_is_at_the_main_is_where_it_is",
    source="seed 002 (groupingMsgs: ticks for all)",
    instance="dispatch-impl-merge",
)
def no_tick_without_messages(**scenario: Any) -> DispatchProgram:
    """A target without messages in the pack gets nothing, no tick either."""
    variant = f"{_VARIANTS}:NoTickWithoutMessages"
    return dispatch(parts=DispatcherParts(main=_SendsNoBareTicks), protocol=variant, **scenario)


class BySubstring(MainDispatcher):
    """Looks for the number of the collection in the name of the virtual channel."""

    def part_of(self, target: Target, pack: StreamPack) -> StreamPack:
        def is_named(message: Any) -> bool:
            if isinstance(message, DdlMessage):
                return collection_of(message.channel) in target.channel
            return bool(message.channel == target.channel)

        return replace(pack, messages=tuple(filter(is_named, pack.messages)))


@mutant(
    killer="dispatch.nothing_else_is_sent",
    source="facts 5.2: the substring",
    instance="dispatch-impl-collections",
)
def substring_of_the_collection(**scenario: Any) -> DispatchProgram:
    """A message about collection 1 reaches a shard of collection 10."""
    return dispatch(
        parts=DispatcherParts(main=BySubstring),
        protocol=f"{_PAIRS}:SubstringOfTheCollection",
        constants={"contains": [[True, False], [True, True]]},
        **scenario,
    )


class _RowsOnly(MainDispatcher):
    def part_of(self, target: Target, pack: StreamPack) -> StreamPack:
        return replace(pack, messages=tuple(m for m in pack.messages if m.channel == target.channel))


@mutant(killer="dispatch.nothing_is_left_out", source="facts 5.2: all shards", instance="dispatch-impl-leave")
def a_collection_is_one_shard(**scenario: Any) -> DispatchProgram:
    """A message about a collection reaches the shard only that it names."""
    return dispatch(parts=DispatcherParts(main=_RowsOnly), **scenario)


# ---- targets that go ----


class _StillOwed(MainDispatcher):
    def drop(self, target: Target) -> None:
        del self.targets[target.channel]


@mutant(
    killer="dispatch.dispatchers_are_there_for_their_targets",
    source="facts 5.2: a target goes",
    instance="dispatch-impl-leave",
)
def who_is_gone_is_still_owed(**scenario: Any) -> DispatchProgram:
    """The main dispatcher owes its pack to a target that is gone, and waits for it."""
    return dispatch(parts=DispatcherParts(main=_StillOwed), **scenario)


class _NeedsItsMain(DispatcherManager):
    def _next_of_a_merge(self) -> Callable[[], None] | None:
        return None if self.main is None else super()._next_of_a_merge()


@mutant(
    killer="dispatch.ticks_reach_who_takes_them",
    source="facts 5.2: a target goes",
    instance="dispatch-impl-end",
)
def a_paused_deputy_waits_for_a_main(**scenario: Any) -> DispatchProgram:
    """The main dispatcher ended during a merge: the deputy stays paused."""
    return dispatch(manager=_NeedsItsMain, **scenario)


# ---- who is served, and until when ----


class _ForgetsDeputies(DispatcherManager):
    def channels(self) -> tuple[ChannelName, ...]:
        return tuple(channel for channel in super().channels() if channel not in self.deputies)


@mutant(
    killer="a_channel_is_registered_once",
    source="facts 5.2: a target that lags is split off",
    instance="dispatch-impl-leave",
)
def a_channel_with_a_deputy_comes_again(**scenario: Any) -> DispatchProgram:
    """A channel that has a deputy is registered a second time."""
    return dispatch(manager=_ForgetsDeputies, **scenario)


class _LooksTooEarly(Target):
    async def next_pack(self) -> StreamPack:
        await self._changes.until(lambda: bool(self.packs) or self.gone)
        if self.gone:
            raise TargetGoneError(f"channel {self.channel!r} is deregistered")
        await self._preemption.point("target.take")
        pack = self.packs.popleft()
        self._changes.tell()
        return pack


class _GivesAfterwards(DispatcherManager):
    def register(self, channel: ChannelName, position: StreamPosition) -> Target:
        super().register(channel, position)
        target = self.waiting[channel] = _LooksTooEarly(
            channel, position, changes=self._changes, preemption=self._preemption, capacity=1
        )
        return target


@mutant(
    killer="a_target_that_is_gone_takes_nothing",
    source="facts 5.2: targets come and go",
    instance="dispatch-impl-leave",
)
def a_target_that_is_gone_takes_a_pack(**scenario: Any) -> DispatchProgram:
    """Whether a target is gone is looked at before its reader goes on, and not after."""
    return dispatch(manager=_GivesAfterwards, **scenario)
