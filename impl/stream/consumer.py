"""A consumer of one physical channel: it reads to the next tick and returns a pack (facts 5.1).

Unlike in the original, the first pack after a seek begins at the position's timestamp, not at 0.
"""

from tidemark.impl.stream.packs import EARLIEST, StreamPack, StreamPosition
from tidemark.impl.stream.reader import ChannelReader, each_once
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.log import EntryLog


class ChannelConsumer(ChannelReader):
    """Gives the packs of a channel, one at a time. It reads no further than the requested pack.

    The caller keeps the end position of the last processed pack. A new consumer continues there.

    Attributes:
        last: the end of the last pack, or the timestamp of the position.
    """

    def __init__(self, *, log: EntryLog, channel: ChannelName, position: StreamPosition = EARLIEST) -> None:
        super().__init__(log=log, channel=channel, position=position)
        self.last: Timestamp = position.ts
        self._start = position

    async def next_pack(self) -> StreamPack:
        """Read to the next tick that is greater than the last; return the messages up to it."""
        while True:
            tick = await self.read_one()
            # A coordinator that begins anew may send smaller ticks (hazard 30). They end no pack.
            if tick is not None and tick > self.last:
                return self._hand_over(tick)

    def _hand_over(self, tick: Timestamp) -> StreamPack:
        """All buffered messages up to the tick move to a pack."""
        held = self.take_upto(tick)
        self.last = tick
        start, self._start = self._start, StreamPosition(self.place_of_position(), tick)
        return StreamPack(start=start, finish=self._start, messages=each_once(held))
