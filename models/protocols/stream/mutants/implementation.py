"""Mutants of the consumer of one channel: hazards and real bugs, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.stream.program:stream``. A claim about states is refuted at the variant of the
specification that makes the same mistake; where a claim is about steps, the specification itself tells.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.broker.messages import ChannelMessage
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.stream.program import StreamProgram, stream

_VARIANTS = "tidemark.models.protocols.stream.mutants.specification"


class _LeavesItsPlaceOut(ChannelConsumer):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.read = self.position.place


@mutant(
    killer="stream.what_was_read_is_kept",
    source="B62: exclusive",
    instance="stream-impl-crash",
)
def seek_leaves_its_place_out(**scenario: Any) -> StreamProgram:
    """A seek begins behind the place of the position (B62)."""
    return stream(consumer=_LeavesItsPlaceOut, protocol=f"{_VARIANTS}:SeekLeavesItsPlaceOut", **scenario)


class SkipsNothing(ChannelConsumer):
    """A seek skips nothing."""

    def _is_skipped(self, ts: Timestamp) -> bool:
        del ts
        return False


@mutant(
    killer="stream.packs_hold_their_interval", source="B62: nothing is skipped", instance="stream-impl-crash"
)
def seek_skips_nothing(**scenario: Any) -> StreamProgram:
    """A consumer that seeks keeps what it has already (B62)."""
    return stream(consumer=SkipsNothing, protocol=f"{_VARIANTS}:SeekSkipsNothing", **scenario)


class _KeepsTheBound(ChannelConsumer):
    def _is_skipped(self, ts: Timestamp) -> bool:
        return self.seeking and ts < self.position.ts


@mutant(killer="stream.packs_hold_their_interval", source="B62: the bound", instance="stream-impl-crash")
def seek_keeps_the_bound(**scenario: Any) -> StreamProgram:
    """A consumer that seeks keeps what has the timestamp of the position."""
    return stream(consumer=_KeepsTheBound, protocol=f"{_VARIANTS}:SeekKeepsTheBound", **scenario)


class _SkipsForGood(ChannelConsumer):
    def _is_skipped(self, ts: Timestamp) -> bool:
        return ts <= self.position.ts


@mutant(killer="stream.what_was_read_is_kept", source="hazard 31", instance="stream-impl-late")
def late_messages_are_skipped(**scenario: Any) -> StreamProgram:
    """What lies at or below the position is skipped when the seek is over, too: a late message is lost."""
    return stream(consumer=_SkipsForGood, **scenario)


class _EndsAtAnyTick(ChannelConsumer):
    def _is_before_the_position(self, tick: Timestamp) -> bool:
        del tick
        return False


@mutant(killer="refinement", source="facts 5.1: the seek", instance="stream-impl-first-position")
def seek_ends_at_any_tick(**scenario: Any) -> StreamProgram:
    """A seek ends at the first tick, also if that is smaller than the position."""
    return stream(consumer=_EndsAtAnyTick, **scenario)


class _EmptyPlaceIsTheEarliest(ChannelConsumer):
    def _is_skipped(self, ts: Timestamp) -> bool:
        return super()._is_skipped(ts) and self.position.place > 0


@mutant(
    killer="stream.packs_hold_their_interval",
    source="B26: the earliest position",
    instance="stream-impl-first-position",
)
def empty_place_is_the_earliest(**scenario: Any) -> StreamProgram:
    """A position without a place is taken for the earliest: nothing is skipped (B26)."""
    variant = f"{_VARIANTS}:EmptyPlaceIsTheEarliest"
    return stream(consumer=_EmptyPlaceIsTheEarliest, protocol=variant, **scenario)


class PlaceOfTheTick(ChannelConsumer):
    """The position has the place of the tick."""

    def place_of_position(self) -> int:
        return self.read


@mutant(killer="stream.what_was_read_is_kept", source="facts 5.1", instance="stream-impl-crash")
def position_is_the_place_of_the_tick(**scenario: Any) -> StreamProgram:
    """The position has the place of the tick, though a message before it is still buffered."""
    variant = f"{_VARIANTS}:PositionIsThePlaceOfTheTick"
    return stream(consumer=PlaceOfTheTick, protocol=variant, **scenario)


class _EveryTick(ChannelConsumer):
    def _is_new(self, tick: Timestamp) -> bool:
        return tick != self.last


@mutant(
    killer="stream.packs_advance", source="H30: a tick that goes back", instance="stream-impl-smaller-tick"
)
def every_tick_makes_a_pack(**scenario: Any) -> StreamProgram:
    """A smaller tick makes a pack, too (hazard 30)."""
    return stream(consumer=_EveryTick, protocol=f"{_VARIANTS}:EveryTickMakesAPack", **scenario)


class _KeepsCopies(ChannelConsumer):
    def _each_once(self, messages: list[ChannelMessage]) -> tuple[ChannelMessage, ...]:
        return tuple(messages)


@mutant(
    killer="stream.nothing_is_stored_twice", source="facts 5.1: duplicates", instance="stream-impl-copies"
)
def copies_are_not_removed(**scenario: Any) -> StreamProgram:
    """A pack holds a message and its copy."""
    return stream(consumer=_KeepsCopies, **scenario)


class _BeginsAtZero(ChannelConsumer):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.last = ZERO


@mutant(
    killer="stream.positions_are_in_order",
    source="facts 5.1: BeginTs after a seek",
    instance="stream-impl-crash",
)
def next_pack_begins_at_zero(**scenario: Any) -> StreamProgram:
    """The end of the last pack is not taken from the position, as in Milvus: the next pack begins at 0."""
    return stream(consumer=_BeginsAtZero, **scenario)
