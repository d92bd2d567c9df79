"""A consumer of several physical channels that have ticks of their own (hazard 32).

No version of Milvus has it: there the channels of a stream must come to equal ticks, so that a dispatcher
reads one channel. Here a pack ends at the smallest of the last ticks. Every channel has been read beyond it.
"""

from typing import ClassVar

from tidemark.impl.stream.aligned import AlignedConsumer
from tidemark.impl.stream.reader import ChannelReader
from tidemark.impl.timestamp import ZERO, Timestamp


class MinimumReader(ChannelReader):
    """Reads a channel. The tick that ends its seek may be greater than the position, and counts."""

    def _at_tick(self, tick: Timestamp) -> Timestamp | None:
        self.seeking = self.seeking and self._is_before_the_position(tick)
        self.tick = ZERO if self.seeking else tick
        return None if self.seeking else tick


class MinimumConsumer(AlignedConsumer):
    """Gives the packs of several channels. A pack ends at the smallest of their last ticks.

    The channel that is at it is read on. Messages of a channel further ahead that are above the end of the
    pack stay buffered; the place of the position is that of the first one, or of the tick.
    """

    reader_class: ClassVar[type[ChannelReader]] = MinimumReader

    def _is_level(self) -> bool:
        """All channels have been read beyond the last pack."""
        return all(reader.tick > self.last for reader in self.readers)

    async def _read_one(self) -> None:
        if await self.next_reader().read_one() is not None and self._is_level():
            self._gather(min(reader.tick for reader in self.readers))
