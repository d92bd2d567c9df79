"""The log of a physical channel with several virtual ones, made of objects of the controlled world."""

from tidemark.impl.stream.packs import EARLIEST, StreamPosition
from tidemark.impl.types import ChannelName, Row
from tidemark.impl.values.messages import DdlMessage, InsertMessage, LogMessage, virtual
from tidemark.models.protocols.common.growing_log import GrowingLog
from tidemark.models.simulation.world.world import World

CHANNEL = "log"
"""The physical channel of the program."""


def channel_of(target: int, collection: int) -> ChannelName:
    """The name of a target: its number is the shard. The number of a collection contains those before it."""
    return virtual(CHANNEL, 10**collection, target)


def row_for(number: int, ts: int, channel: ChannelName) -> InsertMessage:
    """A message with a row, by its number."""
    return InsertMessage(ts, channel, (Row(ts, 1, number),))


def ddl_about(number: int, ts: int, collection: int) -> DdlMessage:
    """A message about a collection, by its number. The shard that it names has this number, and means
    nothing. It drops the collection, which is of interest only to whoever stores its rows.
    """
    return DdlMessage(ts, channel_of(number, collection), "drop")


def number_of(message: LogMessage) -> int:
    """The number of a message."""
    if isinstance(message, DdlMessage):
        return int(message.channel.rpartition("v")[2])
    assert isinstance(message, InsertMessage)
    return message.rows[0].key


class Log(GrowingLog):
    """One physical channel. Targets come with the ends of its packs as positions."""

    def __init__(self, world: World) -> None:
        super().__init__(world, number_of)

    async def position(self, title: str, ts: int, *, needed: int) -> StreamPosition:
        """The end position of the pack that ends at ``ts``; 0: the earliest. Waits for tick ``needed``."""

        def look() -> StreamPosition:
            self._world.touch(reads=self._bit)
            return self.end_of_pack(ts)

        found: StreamPosition = await self.gate.operation(title, lambda: self.highest >= needed, look)
        return found

    def end_of_pack(self, ts: int) -> StreamPosition:
        """The end position of the pack that ends at ``ts``, a tick of the log; 0: the earliest."""
        if not ts:
            return EARLIEST
        later = (place for place, (kind, _, at) in self._places() if at > ts or (kind, at) == ("tick", ts))
        return StreamPosition(min(later), ts)

    def _places(self) -> list[tuple[int, tuple[str, int, int]]]:
        return list(enumerate(self.view(), start=1))
