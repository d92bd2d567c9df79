"""Mutants of the consumer of channels with ticks of their own: each an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.stream.minimum:minimum``.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.stream.aligned import AlignedConsumer
from tidemark.impl.stream.minimum import MinimumConsumer
from tidemark.impl.stream.reader import ChannelReader
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.stream.minimum import minimum
from tidemark.models.protocols.stream.program import SPECIFICATION, StreamProgram

_VARIANTS = "tidemark.models.protocols.stream.mutants.minimum"
_OWN = "stream-impl-minimum"
_CRASH = "stream-impl-minimum-crash"


@mutant(killer="stream.every_message_is_stored", source="H32: who waits", instance=_OWN)
def equal_ticks_are_waited_for(**scenario: Any) -> StreamProgram:
    """A pack waits until all channels are at the same tick, as in Milvus: it never comes."""
    return minimum(consumer=AlignedConsumer, protocol=SPECIFICATION, **scenario)


class _Greatest(MinimumConsumer):
    def _gather(self, tick: Timestamp) -> None:
        super()._gather(max(tick, *(reader.tick for reader in self.readers)))


@mutant(killer="stream.a_position_has_the_place_of_what_comes_next", source="H32: not aligned", instance=_OWN)
def a_pack_ends_at_the_greatest_tick(**scenario: Any) -> StreamProgram:
    """A pack ends at the greatest of the last ticks: a channel behind has messages below it still to come."""
    return minimum(consumer=_Greatest, protocol=f"{_VARIANTS}:EndsAtTheGreatest", **scenario)


class _OneIsEnough(_Greatest):
    def _is_level(self) -> bool:
        return any(reader.tick > self.last for reader in self.readers)


@mutant(killer="stream.a_position_has_the_place_of_what_comes_next", source="H32: not aligned", instance=_OWN)
def one_channel_makes_a_pack(**scenario: Any) -> StreamProgram:
    """A pack is made when one channel has been read beyond the last one, whatever the others have read."""
    return minimum(consumer=_OneIsEnough, protocol=f"{_VARIANTS}:OneChannelIsEnough", **scenario)


class _AheadReadsOn(MinimumConsumer):
    def next_reader(self) -> ChannelReader:
        return max(self.readers, key=lambda reader: reader.tick)


@mutant(killer="stream.who_need_not_read_waits", source="H32: who waits", instance=_OWN)
def who_is_ahead_reads_on(**scenario: Any) -> StreamProgram:
    """The channel at the greatest tick is read on, and not the one at the smallest."""
    return minimum(consumer=_AheadReadsOn, **scenario)


class _Forgets(MinimumConsumer):
    reader_class = ChannelReader


@mutant(killer="refinement", source="facts 5.1: the seek", instance=_CRASH)
def the_tick_that_ends_a_seek_counts_for_nothing(**scenario: Any) -> StreamProgram:
    """A channel that was ahead waits for a further tick after a seek, though it has been read beyond the
    position.
    """
    return minimum(consumer=_Forgets, **scenario)


class _PlacesOfTheTicks(MinimumConsumer):
    def _places(self) -> tuple[int, ...]:
        return tuple(reader.read for reader in self.readers)


@mutant(killer="stream.what_was_read_is_kept", source="facts 5.1: end positions", instance=_CRASH)
def a_position_has_the_places_of_the_last_ticks(**scenario: Any) -> StreamProgram:
    """The position has the places of the last ticks, though a channel ahead has messages before its own."""
    return minimum(consumer=_PlacesOfTheTicks, protocol=f"{_VARIANTS}:PlacesAreThoseOfTheTicks", **scenario)


class _TakesAll(MinimumConsumer):
    def _gather(self, tick: Timestamp) -> None:
        for reader in self.readers:
            reader.buffered = [(place, message) for place, message in reader.buffered if message.ts <= tick]
        super()._gather(tick)


@mutant(killer="stream.what_was_read_is_kept", source="facts 5.1: what stays buffered", instance=_OWN)
def what_lies_above_the_pack_is_let_go(**scenario: Any) -> StreamProgram:
    """A pack empties the buffers: what a channel ahead has read above its end is lost."""
    return minimum(consumer=_TakesAll, **scenario)
