"""Wrong streaming nodes for conformance, each with one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.streaming.term import StreamingParts
from tidemark.models.protocols.streaming.driver import StreamingAdapter
from tidemark.models.protocols.streaming.mutants.implementation import StartsAtItsOwn


class RecoveryStartsAtItsOwnCheckpoint(StreamingAdapter):
    """A recovery starts at the checkpoint of the recovery storage, whatever the flusher's is."""

    parts: ClassVar[StreamingParts] = StreamingParts(recovery=StartsAtItsOwn)
