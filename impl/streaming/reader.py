"""Readers of a streaming node's log: they go on from a record, and miss nothing that is later."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.impl.broker.messages import Entry
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.packs import EARLIEST, StreamPosition
from tidemark.impl.streaming.ports import TermLog
from tidemark.impl.streaming.values import Record
from tidemark.impl.types import ChannelName


class RecordLog:
    """A streaming node's log as an ``EntryLog``, for the consumers of packs."""

    def __init__(self, log: TermLog) -> None:
        self._log = log

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog."""
        del channel
        return [Entry(record.place, record.term, record.message) for record in await self._log.read(place)]


def position_of(record: Record) -> StreamPosition:
    """Where a reader goes on that has everything up to the timestamp of this record."""
    return StreamPosition(record.since + 1, record.message.ts)


def reader(log: TermLog, channel: ChannelName, after: Record | None = None) -> ChannelConsumer:
    """A consumer of packs that has everything up to the timestamp of ``after``; None: from the beginning."""
    position = EARLIEST if after is None else position_of(after)
    return ChannelConsumer(log=RecordLog(log), channel=channel, position=position)
