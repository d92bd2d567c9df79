"""Readers of a streaming node's log: they continue from a record, and miss no later message.

A transaction comes with the timestamp of its commit, whole or not at all.
"""

from collections.abc import Iterator, Sequence

from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.packs import EARLIEST, StreamPosition
from tidemark.impl.streaming.assembly import Assembly
from tidemark.impl.streaming.ports import TermLog
from tidemark.impl.streaming.values import Record
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import Entry, Tick


class RecordLog:
    """A streaming node's log as the ``EntryLog`` of one consumer of packs.

    Attributes:
        assembly: transactions that were read in part.
        last: the last place that was read.
    """

    def __init__(self, log: TermLog, assembly: Assembly) -> None:
        self.assembly = assembly
        self.last = 0
        self._log = log

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog. Reads no further than a tick. An incomplete transaction yields no entry."""
        del channel
        entries: list[Entry] = []
        while not entries:
            entries += self._entries(await self._log.read(max(place, self.last + 1)))
        return entries

    def _entries(self, records: Sequence[Record]) -> Iterator[Entry]:
        for record in records:
            self.last = record.place
            complete = self.assembly.take(record)
            for message in complete.messages:
                yield Entry(record.place, record.term, message)
            if isinstance(record.message, Tick):
                yield Entry(record.place, record.term, record.message)
                return


class TransactionConsumer(ChannelConsumer):
    """A consumer of packs that continues before the begin of each open transaction."""

    def __init__(self, *, records: RecordLog, channel: ChannelName, position: StreamPosition) -> None:
        super().__init__(log=records, channel=channel, position=position)
        self.records = records

    def place_of_position(self) -> int:
        """The place to continue at: before the begin of each open transaction, too."""
        place = super().place_of_position()
        earliest = self.records.assembly.earliest()
        return place if earliest is None else min(place, earliest)


def position_of(record: Record) -> StreamPosition:
    """The position for a reader that has all messages up to the timestamp of this record."""
    return StreamPosition(record.since + 1, record.message.ts)


def reader(
    log: TermLog,
    channel: ChannelName,
    after: Record | None = None,
    *,
    position: StreamPosition | None = None,
) -> TransactionConsumer:
    """A consumer of packs that continues after ``after``, at a position, or at the beginning."""
    start = position or (EARLIEST if after is None else position_of(after))
    return TransactionConsumer(records=RecordLog(log, Assembly()), channel=channel, position=start)
