"""Packs of one virtual channel for its data node: the packs of its consumer, as rows to store."""

from tidemark.impl.errors import LateRowError
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.stream.packs import PackSource, StreamPack, StreamPosition
from tidemark.impl.types import ChannelName, EndPosition, Pack, Position, StartPosition
from tidemark.impl.values.log import EntryLog
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, physical, rows_of


class PackReader:
    """A ``WriteAheadLog`` over the physical channels. A new incarnation of a node opens a new reader.

    It reads a log from its beginning: a checkpoint has a timestamp, and no place in the file.

    dispatchers: of this incarnation of the node; None: each channel is read by itself.

    Attributes:
        sources: the source of packs by virtual channel.
        ready: the last pack by virtual channel. It is given again until its end is consumed, so that a
            cancelled caller loses none.
    """

    def __init__(self, log: EntryLog, *, dispatchers: NodeDispatchers | None = None) -> None:
        self._log = log
        self._dispatchers = dispatchers
        self.sources: dict[ChannelName, PackSource] = {}
        self.ready: dict[ChannelName, Pack] = {}

    async def next_pack(self, channel: ChannelName, after: Position) -> Pack:
        """See WriteAheadLog. Raises LateRowError for a message behind its tick."""
        if channel not in self.sources:
            self.sources[channel] = self._open(channel, StreamPosition(0, after.ts))
        while channel not in self.ready or self.ready[channel].end.ts <= after.ts:
            pack = await self.sources[channel].next_pack()
            self.ready[channel] = _rows_to_store(pack.of(channel))
            if self.ready[channel].drop and self._dispatchers is not None:
                self._dispatchers.deregister(channel)  # nothing follows
        return self.ready[channel]

    def _open(self, channel: ChannelName, position: StreamPosition) -> PackSource:
        if self._dispatchers is not None:
            return self._dispatchers.register(channel, position)
        return ChannelConsumer(log=self._log, channel=physical(channel), position=position)


def _rows_to_store(pack: StreamPack) -> Pack:
    messages: list[InsertMessage | DeleteMessage] = [*pack.inserts, *pack.deletes]
    messages.sort(key=lambda message: message.ts)
    if messages and messages[0].ts <= pack.begin:
        late = messages[0]
        raise LateRowError(
            f"{late.channel} has a message at {late.ts} behind the tick {pack.begin}: its"
            " source broke its promise"
        )
    rows = tuple(row for message in messages for row in rows_of(message))
    dropped = any(message.text == "drop" for message in pack.ddl)
    return Pack(StartPosition(pack.begin), EndPosition(pack.end), rows, drop=dropped)
