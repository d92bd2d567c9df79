"""A consumer of several physical channels under one clock, and packs of several ticks (facts 5.1).

Unlike the original it reads its channels in turn, an entry at a time, and not all in rounds: a pack needs a
tick of each, so waiting for one of them delays no pack. The size of a pursuit is counted in messages.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

from tidemark.impl.stream.config import Pursuit
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.stream.reader import ChannelReader, each_once
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.log import EntryLog
from tidemark.impl.values.messages import ChannelMessage, DdlMessage


@dataclass(frozen=True)
class AlignedPosition:
    """Where a consumer continues in each of its channels; it has all messages at or below ``ts``.

    places: as in ``StreamPosition``, in the order of the channels; empty for the beginning of all of them.
    """

    ts: Timestamp = ZERO
    places: tuple[int, ...] = ()


@dataclass(frozen=True)
class AlignedPack:
    """The messages of all channels above the start's timestamp, up to that of the finish: channel by channel,
    and tick by tick if there are several.

    Milvus: MsgPack
    """

    start: AlignedPosition
    finish: AlignedPosition
    messages: tuple[ChannelMessage, ...] = ()

    @property
    def drops(self) -> bool:
        """A message in it drops a collection."""
        return any(isinstance(m, DdlMessage) and m.text == "drop" for m in self.messages)

    def may_grow(self, pursuit: Pursuit) -> bool:
        """It may get a further tick: its own is old, it has few messages, and none drops a collection."""
        lag, few = pursuit.now() - self.finish.ts, len(self.messages) < pursuit.messages
        return not self.drops and lag > pursuit.lag and few


class AlignedConsumer:
    """Gives the packs of several channels. A pack ends where all of them have the same tick.

    Milvus: MqTtMsgStream, bufMsgPackToChannel, consumeToTtMsg, allChanReachSameTtMsg, chanTtMsgSync

    The channel with the smallest tick is read on; those at a greater one wait for it. If the channels do not
    get the same ticks, there may never be a pack (hazard 32).

    Args:
        log: the entries by channel and place.
        channels: the physical channels, always in the same order.
        position: where to begin: the end of the last processed pack.
        pursuit: when packs grow; None: a pack has one tick.

    Attributes:
        readers: one for each channel.
        last: the end of the last pack, or the timestamp of the position.
        pack: a ready pack, which may grow until it is taken.
    """

    reader_class: ClassVar[type[ChannelReader]] = ChannelReader

    def __init__(
        self,
        *,
        log: EntryLog,
        channels: Sequence[ChannelName],
        position: AlignedPosition | None = None,
        pursuit: Pursuit | None = None,
    ) -> None:
        begins = position if position is not None else AlignedPosition()
        places = begins.places or (0,) * len(channels)
        self.readers = tuple(
            self.reader_class(log=log, channel=channel, position=StreamPosition(place, begins.ts))
            for channel, place in zip(channels, places, strict=True)
        )
        self.last: Timestamp = begins.ts
        self.pack: AlignedPack | None = None
        self._start = begins
        self._pursuit = pursuit

    async def next_pack(self) -> AlignedPack:
        """Read until all channels are at a tick that is greater than the last, and further while behind."""
        while self.pack is None:
            await self._read_one()
        pursuit = self._pursuit
        if pursuit is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(pursuit.seconds):
                    while self.pack.may_grow(pursuit):
                        await self._read_one()
        pack, self.pack = self.pack, None
        return pack

    async def _read_one(self) -> None:
        tick = await self.next_reader().read_one()
        if tick is not None and self._is_level() and tick > self.last:
            self._gather(tick)

    def next_reader(self) -> ChannelReader:
        """The next channel to read: the one that is furthest behind."""
        return min(self.readers, key=lambda reader: reader.tick)

    def _is_level(self) -> bool:
        """All channels are at the same tick."""
        return all(reader.tick == self.readers[0].tick for reader in self.readers)

    def _gather(self, tick: Timestamp) -> None:
        messages = [message for reader in self.readers for message in reader.take_upto(tick)]
        self.last = tick
        finish = AlignedPosition(tick, tuple(reader.place_of_position() for reader in self.readers))
        if self.pack is None:
            self.pack = AlignedPack(self._start, finish, each_once(messages))
        else:
            every = each_once((*self.pack.messages, *messages))
            self.pack = replace(self.pack, finish=finish, messages=every)
        self._start = finish
