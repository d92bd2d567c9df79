"""A wrong consumer for conformance: one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.models.protocols.stream.driver import StreamAdapter
from tidemark.models.protocols.stream.mutants.implementation import PlaceOfTheTick


class PositionIsThePlaceOfTheTick(StreamAdapter):
    """The position has the place of the tick, though a message before it is still buffered."""

    consumer: ClassVar[type[ChannelConsumer]] = PlaceOfTheTick
