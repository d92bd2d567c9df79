"""A consumer of one physical channel: it reads to the next tick and hands over a pack (facts 5.1).

What differs from the original: the first pack after a seek begins at the position's timestamp, not at 0.
"""

from __future__ import annotations

from collections import deque

from tidemark.impl.broker.messages import ChannelMessage, Entry, Tick
from tidemark.impl.broker.ports import EntryLog
from tidemark.impl.stream.packs import EARLIEST, StreamPack, StreamPosition
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName


class ChannelConsumer:
    """Gives the packs of a channel, one at a time. It reads no further than the pack that was asked for.

    The caller keeps the end position of the last pack that is done with. A new consumer goes on from there:
    it reads from the position's place, which is included, and skips what is at or below its timestamp, up to
    the first tick that is not smaller.

    Args:
        log: the entries by place.
        channel: the physical channel.
        position: where to begin.

    Attributes:
        read: the last place that was read.
        tick: the last tick that was read; 0 while it seeks.
        last: the end of the last pack, or the timestamp of the position.
        seeking: it skips what lies at or below the position.
        buffered: the places of the messages that were read and are in no pack yet, with the messages.
    """

    def __init__(self, *, log: EntryLog, channel: ChannelName, position: StreamPosition = EARLIEST) -> None:
        self.channel = channel
        self.position = position
        self.read = max(position.place - 1, 0)
        self.tick: Timestamp = ZERO
        self.last: Timestamp = position.ts
        self.seeking = position.ts > 0
        self.buffered: list[tuple[int, ChannelMessage]] = []
        self._log = log
        self._ahead: deque[Entry] = deque()
        self._start = position

    async def next_pack(self) -> StreamPack:
        """Read to the next tick that is greater than the last; return what came up to it."""
        while True:
            while self._ahead:
                pack = self._take(self._ahead.popleft())
                if pack is not None:
                    return pack
            self._ahead.extend(await self._log.read(self.channel, self.read + 1))

    def _take(self, entry: Entry) -> StreamPack | None:
        """Read one entry. Return a pack if the entry ends one."""
        self.read = entry.place
        if isinstance(entry.message, Tick):
            return self._at_tick(entry.message.ts)
        if not self._is_skipped(entry.message.ts):
            self.buffered.append((entry.place, entry.message))
        return None

    def _is_skipped(self, ts: Timestamp) -> bool:
        """A consumer that seeks has this message already."""
        return self.seeking and ts <= self.position.ts

    def _at_tick(self, tick: Timestamp) -> StreamPack | None:
        """A tick ends a pack, unless it is not greater than the last, or ends the seek."""
        pack = None
        self.tick = ZERO if self.seeking else tick
        if not self.seeking and self._is_new(tick):
            pack = self._hand_over(tick)
        self.seeking = self.seeking and self._is_before_the_position(tick)
        return pack

    def _is_new(self, tick: Timestamp) -> bool:
        """A coordinator that begins anew may send smaller ticks (hazard 30). They end no pack."""
        return tick > self.last

    def _is_before_the_position(self, tick: Timestamp) -> bool:
        """The seek is not over at this tick: the one at the position is still to come."""
        return tick < self.position.ts

    def _hand_over(self, tick: Timestamp) -> StreamPack:
        """Everything buffered up to the tick goes into a pack; what lies above it stays."""
        held = [message for _, message in self.buffered if message.ts <= tick]
        self.buffered = [(place, message) for place, message in self.buffered if message.ts > tick]
        self.last = tick
        start, self._start = self._start, StreamPosition(self._place_of_position(), tick)
        return StreamPack(start=start, finish=self._start, messages=self._each_once(held))

    def _place_of_position(self) -> int:
        """The place of the first message that is still buffered, or that of the tick."""
        return self.buffered[0][0] if self.buffered else self.read

    def _each_once(self, messages: list[ChannelMessage]) -> tuple[ChannelMessage, ...]:
        """An append that was repeated may have left two copies in the log, both before the tick."""
        return tuple(dict.fromkeys(messages))
