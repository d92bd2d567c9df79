"""Wrong consumers for the walks: one fault of the implementation each."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.stream.aligned import aligned
from tidemark.models.protocols.stream.minimum import minimum
from tidemark.models.protocols.stream.program import stream

MUTANTS = patches(
    __name__,
    Patch(
        "position-is-the-place-of-the-tick",
        at="stream/reader.py:ChannelReader.place_of_position",
        old="self.buffered[0][0] if self.buffered else ",
        new="",
        killer="conformance",
        on=Host("stream-driven", stream),
        source="facts 5.1",
        says="The position has the place of the tick, though a message before it is still buffered.",
    ),
    Patch(
        "pursuit-keeps-the-first-end",
        at="stream/aligned.py:AlignedConsumer._gather",
        old="finish=finish, ",
        new="",
        killer="conformance",
        on=Host("stream-driven-aligned", aligned),
        source="facts 5.1: pursuit mode",
        says="A pack that has grown ends at its first tick.",
    ),
    Patch(
        "the-tick-of-a-seek-is-forgotten",
        at="stream/aligned.py:AlignedConsumer.__init__",
        old="self.reader_class(",
        new="ChannelReader(",
        killer="conformance",
        on=Host("stream-driven-minimum", minimum),
        source="facts 5.1: the seek",
        says="The tick that ends a seek counts for nothing, though it is greater than the position.",
    ),
)
