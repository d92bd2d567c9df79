"""The physical channels as their readers see them, and as the store of the sessions commands them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tidemark.impl.broker.messages import Entry
from tidemark.impl.rootcoord.report import SourceId
from tidemark.impl.types import ChannelName


class EntryLog(Protocol):
    """Entries by place. What was read once is durable, and stays."""

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """The entries of a physical channel from a place on, which is included; the first place is 1. Waits
        until there is one.
        """


class Fences(Protocol):
    """The logs, as far as a store of sessions commands them."""

    async def fence(self, source: SourceId) -> None:
        """Every log refuses the source when this returns."""
