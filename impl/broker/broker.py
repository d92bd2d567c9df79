"""All physical channels of a cluster, for proxies, coordinator and readers."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tidemark.impl.broker.channel_log import ChannelLog
from tidemark.impl.errors import RpcTimeoutError, UnknownChannelError
from tidemark.impl.proxy.values import AppendOutcome, Message
from tidemark.impl.runtime import Spawn
from tidemark.impl.storage.files import SYSTEM_FILES, Files
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import ChannelMessage, Entry, Tick, decode_text, physical


class Broker:
    """The logs of the physical channels in one directory. An ``EntryLog`` for readers."""

    def __init__(self, root: Path, channels: Sequence[ChannelName], *, files: Files = SYSTEM_FILES) -> None:
        self.logs = {channel: ChannelLog(root, channel, files=files) for channel in channels}

    async def start(self, spawn: Spawn) -> None:
        """Load the files, then write new entries."""
        await asyncio.gather(*(log.load() for log in self.logs.values()))
        for log in self.logs.values():
            spawn(log.run, f"log {log.channel}")

    def log(self, channel: ChannelName) -> ChannelLog:
        """The log of a physical channel. Raises UnknownChannelError."""
        found = self.logs.get(channel)
        if found is None:
            known = ", ".join(sorted(self.logs))
            raise UnknownChannelError(f"there is no physical channel {channel!r}; known: {known}")
        return found

    async def fence(self, source: int) -> None:
        """Every log refuses the source when this returns."""
        await asyncio.gather(*(log.fence(source) for log in self.logs.values()))

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog."""
        return await self.log(channel).read(place)

    def next_coordinator(self) -> int:
        """The source of a new incarnation of the root coordinator: below that of every earlier one."""
        return min(log.coordinator for log in self.logs.values()) - 1


class ProxyStreams:
    """The logs for one session of a proxy: a ``MessageStream``.

    Milvus: createDMLMsgStream, getDMLStream
    """

    def __init__(self, broker: Broker, source: int) -> None:
        self._broker = broker
        self._source = source

    async def append(self, message: Message, *, deadline: float) -> None:
        """See MessageStream."""
        log = self._broker.log(message.channel)
        try:
            async with asyncio.timeout(deadline):
                await log.append(self._source, decode_text(message.payload))
        except TimeoutError as late:
            raise RpcTimeoutError(
                f"{message.channel}: message {message.ts} is not written after {deadline} s; settle it"
            ) from late

    async def settle(self, message: Message) -> AppendOutcome:
        """See MessageStream."""
        found = await self._broker.log(message.channel).settle(self._source, message.ts)
        return AppendOutcome.APPENDED if found else AppendOutcome.REFUSED


class CoordinatorStreams:
    """The logs for one incarnation of the root coordinator: ``TickStreams``, and DDL messages.

    source: of this incarnation. Its first question for a last tick fences earlier ones.
    """

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.source = broker.next_coordinator()

    async def last_tick(self, channel: ChannelName) -> Timestamp:
        """See TickStreams. DDL messages of earlier incarnations are refused from now on, too."""
        log = self._broker.log(channel)
        await log.follow(self.source)
        return log.last_tick

    async def is_newest(self) -> bool:
        """See TickStreams."""
        return all(log.coordinator == self.source for log in self._broker.logs.values())

    async def send_tick(self, channel: ChannelName, ts: Timestamp) -> None:
        """See TickStreams."""
        await self._broker.log(channel).append(self.source, Tick(ts))

    async def append(self, message: ChannelMessage) -> None:
        """Append a DDL message. Raise RpcError if a later coordinator has taken over."""
        await self._broker.log(physical(message.channel)).append(self.source, message)
