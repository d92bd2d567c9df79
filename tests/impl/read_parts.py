"""What the tests of the read side share: a log in memory, and messages in few words."""

import asyncio
from collections.abc import Sequence

from tidemark.impl.types import ChannelName, Row
from tidemark.impl.values.messages import DeleteMessage, Entry, InsertMessage, LogMessage, Tick

CHANNEL = "log_1v0"
"""A virtual channel of the physical channel "log"."""


class ListLog:
    def __init__(self, *messages: LogMessage) -> None:
        self.entries = [Entry(place, 1, message) for place, message in enumerate(messages, start=1)]
        self._grown = asyncio.Event()

    def append(self, *messages: LogMessage) -> None:
        for message in messages:
            self.entries.append(Entry(len(self.entries) + 1, 1, message))
        self._grown.set()
        self._grown = asyncio.Event()

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        assert channel == "log"
        while place > len(self.entries):
            await self._grown.wait()
        return self.entries[place - 1 :]


def insert(ts: int, key: int, segment: int = 1, channel: ChannelName = CHANNEL) -> InsertMessage:
    return InsertMessage(ts, channel, (Row(ts, segment, key),))


def delete(ts: int, *keys: int, channel: ChannelName = CHANNEL) -> DeleteMessage:
    return DeleteMessage(ts, channel, -1, keys)


def tick(ts: int) -> Tick:
    return Tick(ts)
