"""Wrong consumers for conformance: one fault of the implementation each."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.stream.aligned import AlignedConsumer
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.minimum import MinimumConsumer
from tidemark.impl.stream.reader import ChannelReader
from tidemark.models.protocols.stream.driver import AlignedAdapter, MinimumAdapter, StreamAdapter
from tidemark.models.protocols.stream.mutants.aligned import KeepsItsEnd
from tidemark.models.protocols.stream.mutants.implementation import PlaceOfTheTick


class PositionIsThePlaceOfTheTick(StreamAdapter):
    """The position has the place of the tick, though a message before it is still buffered."""

    consumer: ClassVar[type[ChannelConsumer]] = PlaceOfTheTick


class PursuitKeepsTheFirstEnd(AlignedAdapter):
    """A pack that has grown ends at its first tick."""

    aligned: ClassVar[type[AlignedConsumer]] = KeepsItsEnd


class _SeeksAsAligned(MinimumConsumer):
    reader_class = ChannelReader


class TheTickOfASeekIsForgotten(MinimumAdapter):
    """The tick that ends a seek counts for nothing, though it is greater than the position."""

    aligned: ClassVar[type[AlignedConsumer]] = _SeeksAsAligned
