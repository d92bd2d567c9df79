"""Reports of sources of messages to the root coordinator: the greatest allowed tick of each channel."""

from dataclasses import dataclass

from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName

SourceId = int
"""Id of a proxy's session; ``DDL_SOURCE`` for the coordinator's own DDL messages."""

DDL_SOURCE: SourceId = -1
"""Key of the DDL source among the sessions. No proxy may ever have it (B45)."""


@dataclass(frozen=True)
class TimeTickReport:
    """A promise: from now on ``source`` appends to no channel a message at or below the channel's value.

    channels: (channel, value) of the channels with unfinished tasks; every other channel has ``default``.
    """

    source: SourceId
    channels: tuple[tuple[ChannelName, Timestamp], ...]
    default: Timestamp

    def value(self, channel: ChannelName) -> Timestamp:
        """The value of a channel."""
        return dict(self.channels).get(channel, self.default)
