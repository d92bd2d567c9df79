"""One channel for a consumer: its entries, skipped messages, and messages that wait for their pack."""

from collections import deque
from collections.abc import Iterable

from tidemark.impl.stream.packs import EARLIEST, StreamPosition
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.log import EntryLog
from tidemark.impl.values.messages import ChannelMessage, Entry, Tick


class ChannelReader:
    """Reads a channel from a position on.

    It reads from the position's place, which is included, and skips messages at or below its timestamp, up to
    the first tick that is not smaller.

    Args:
        log: the entries by place.
        channel: the physical channel.
        position: where to begin.

    Attributes:
        read: the last place that was read.
        tick: the last tick that was read; 0 while it seeks.
        seeking: it skips messages at or below the position.
        buffered: the places of the messages that were read and are in no pack yet, with the messages.
    """

    def __init__(self, *, log: EntryLog, channel: ChannelName, position: StreamPosition = EARLIEST) -> None:
        self.channel = channel
        self.position = position
        self.read = max(position.place - 1, 0)
        self.tick: Timestamp = ZERO
        self.seeking = position.ts > 0
        self.buffered: list[tuple[int, ChannelMessage]] = []
        self._log = log
        self._ahead: deque[Entry] = deque()

    async def read_one(self) -> Timestamp | None:
        """Read the next entry. Return a tick that may end a pack."""
        if not self._ahead:
            self._ahead.extend(await self._log.read(self.channel, self.read + 1))
        entry = self._ahead.popleft()
        self.read = entry.place
        if isinstance(entry.message, Tick):
            return self._at_tick(entry.message.ts)
        # A consumer that seeks has the messages at or below its position already.
        if not self.seeking or entry.message.ts > self.position.ts:
            self.buffered.append((entry.place, entry.message))
        return None

    def _at_tick(self, tick: Timestamp) -> Timestamp | None:
        """The tick that ends the seek ends no pack."""
        was_seeking, self.tick = self.seeking, ZERO if self.seeking else tick
        self.seeking = self.seeking and self._is_before_the_position(tick)
        return None if was_seeking else tick

    def _is_before_the_position(self, tick: Timestamp) -> bool:
        """The seek does not end at this tick: the one at the position is still to come."""
        return tick < self.position.ts

    def take_upto(self, tick: Timestamp) -> list[ChannelMessage]:
        """All buffered messages up to the tick, for a pack."""
        taken = [message for _, message in self.buffered if message.ts <= tick]
        self.buffered = [(place, message) for place, message in self.buffered if message.ts > tick]
        return taken

    def place_of_position(self) -> int:
        """The place of the first message that is still buffered, or that of the tick."""
        return self.buffered[0][0] if self.buffered else self.read


def each_once(messages: Iterable[ChannelMessage]) -> tuple[ChannelMessage, ...]:
    """A repeated append may have left two copies in the log, both before the tick."""
    return tuple(dict.fromkeys(messages))
