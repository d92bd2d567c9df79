"""A log for its readers."""

from collections.abc import Sequence
from typing import Protocol

from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import Entry


class EntryLog(Protocol):
    """Entries by place. An entry that was read is durable, and stays."""

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """The entries of a physical channel from a place on, itself included; from 1. Waits for one."""
