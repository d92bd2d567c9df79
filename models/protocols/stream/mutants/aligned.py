"""Mutants of the consumer of several channels, and of pursuit: each an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.stream.aligned:aligned``. A claim about states is refuted at the variant of the
specification that makes the same mistake; where there is none, the specification itself tells.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.broker.messages import ChannelMessage
from tidemark.impl.stream.aligned import AlignedConsumer, AlignedPack, AlignedPosition, lets_grow
from tidemark.impl.stream.config import Pursuit
from tidemark.impl.stream.reader import ChannelReader
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.stream.aligned import aligned
from tidemark.models.protocols.stream.program import StreamProgram

_VARIANTS = "tidemark.models.protocols.stream.mutants.specification"


class _OneIsEnough(AlignedConsumer):
    def _is_level(self) -> bool:
        return True


@mutant(
    killer="stream.a_position_has_the_place_of_what_comes_next",
    source="H32: not aligned",
    instance="stream-impl-aligned",
)
def first_tick_makes_a_pack(**scenario: Any) -> StreamProgram:
    """A pack is made when one channel is at a greater tick, whatever the others have read."""
    return aligned(consumer=_OneIsEnough, protocol=f"{_VARIANTS}:FirstTickMakesAPack", **scenario)


class _AheadReadsOn(AlignedConsumer):
    def next_reader(self) -> ChannelReader:
        return max(self.readers, key=lambda reader: reader.tick)


@mutant(killer="stream.who_need_not_read_waits", source="H32: who waits", instance="stream-impl-aligned")
def the_greatest_reads_on(**scenario: Any) -> StreamProgram:
    """The channel at the greatest tick is read on, and not the one that is behind."""
    return aligned(consumer=_AheadReadsOn, **scenario)


class _PlacesOfTheTicks(AlignedConsumer):
    def _places(self) -> tuple[int, ...]:
        return tuple(reader.read for reader in self.readers)


@mutant(killer="stream.what_was_read_is_kept", source="facts 5.1", instance="stream-impl-aligned-crash")
def position_is_the_places_of_the_ticks(**scenario: Any) -> StreamProgram:
    """The position has the places of the ticks, though a message before one of them is still buffered."""
    variant = f"{_VARIANTS}:PositionIsThePlaceOfTheTick"
    return aligned(consumer=_PlacesOfTheTicks, protocol=variant, **scenario)


class _OnePlace(AlignedConsumer):
    def _places(self) -> tuple[int, ...]:
        return (self.readers[0].place_of_position(),) * len(self.readers)


@mutant(
    killer="stream.a_position_has_the_place_of_what_comes_next",
    source="facts 5.1: positions",
    instance="stream-impl-aligned-crash",
)
def one_place_for_all_channels(**scenario: Any) -> StreamProgram:
    """The position has the place of the first channel for all of them."""
    return aligned(consumer=_OnePlace, **scenario)


class _PursuesADrop(AlignedConsumer):
    def goes_on(self, pursuit: Pursuit) -> bool:
        return self.pack is not None and lets_grow(self.pack, pursuit)


@mutant(
    killer="stream.a_drop_ends_its_pack", source="facts 5.1: pursuit mode", instance="stream-impl-pursuit"
)
def pursuit_passes_a_drop(**scenario: Any) -> StreamProgram:
    """A pack grows though a message in it drops the collection."""
    return aligned(consumer=_PursuesADrop, protocol=f"{_VARIANTS}:PursuitPassesADrop", **scenario)


class _Forgets(AlignedConsumer):
    def _grown(
        self, pack: AlignedPack, finish: AlignedPosition, messages: list[ChannelMessage]
    ) -> AlignedPack:
        return super()._grown(AlignedPack(pack.start, finish), finish, messages)


@mutant(
    killer="stream.packs_leave_nothing_out", source="facts 5.1: pursuit mode", instance="stream-impl-pursuit"
)
def pursuit_forgets_what_it_has(**scenario: Any) -> StreamProgram:
    """A further tick replaces what the pack holds."""
    return aligned(consumer=_Forgets, protocol=f"{_VARIANTS}:PursuitForgetsWhatItHas", **scenario)


class KeepsItsEnd(AlignedConsumer):
    """A pack that grows keeps its end position."""

    def _grown(
        self, pack: AlignedPack, finish: AlignedPosition, messages: list[ChannelMessage]
    ) -> AlignedPack:
        del finish
        return super()._grown(pack, pack.finish, messages)


@mutant(killer="refinement", source="facts 5.1: pursuit mode", instance="stream-impl-pursuit")
def pursuit_keeps_the_first_end(**scenario: Any) -> StreamProgram:
    """A pack that has grown ends at its first tick: the rest is stored again after a seek."""
    return aligned(consumer=KeepsItsEnd, **scenario)


class _HandsOverAtOnce(AlignedConsumer):
    def goes_on(self, pursuit: Pursuit) -> bool:
        return False


@mutant(
    killer="a_pack_ends_when_it_may_not_grow",
    source="facts 5.1: pursuit mode",
    instance="stream-impl-pursuit-full",
)
def pursuit_hands_over_at_once(**scenario: Any) -> StreamProgram:
    """A pack is handed over at its first tick, though the consumer is behind."""
    return aligned(consumer=_HandsOverAtOnce, **scenario)


class _GrowsFull(AlignedConsumer):
    def goes_on(self, pursuit: Pursuit) -> bool:
        return (
            self.pack is not None
            and not self.pack.drops
            and pursuit.now() - self.pack.finish.ts > pursuit.lag
        )


@mutant(
    killer="a_pack_ends_when_it_may_not_grow",
    source="facts 5.1: pursuit mode",
    instance="stream-impl-pursuit-full",
)
def pursuit_ignores_the_size(**scenario: Any) -> StreamProgram:
    """A pack grows however many messages it has."""
    return aligned(consumer=_GrowsFull, **scenario)


class _WaitsForever(AlignedConsumer):
    async def _pursue(self, pursuit: Pursuit) -> None:
        while self.goes_on(pursuit):
            await self._read_one()


@mutant(
    killer="stream.every_message_is_stored",
    source="facts 5.1: at most 60 s",
    instance="stream-impl-pursuit-waits",
)
def pursuit_waits_for_ever(**scenario: Any) -> StreamProgram:
    """A pack that may grow waits for a tick that does not come."""
    return aligned(consumer=_WaitsForever, **scenario)


class _KeepsItsStart(AlignedConsumer):
    def _gather(self, tick: Timestamp) -> None:
        start = self._start
        super()._gather(tick)
        self._start = start


@mutant(
    killer="a_pack_begins_where_the_last_has_ended",
    source="facts 5.1: start position = previous end position",
    instance="stream-impl-aligned",
)
def packs_keep_their_start(**scenario: Any) -> StreamProgram:
    """Every pack begins where the consumer has begun."""
    return aligned(consumer=_KeepsItsStart, **scenario)
