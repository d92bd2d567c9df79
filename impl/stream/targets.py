"""The virtual channels that take packs from the dispatchers of a physical channel."""

import asyncio
from collections import deque
from collections.abc import Callable

from tidemark.impl.errors import TargetGoneError
from tidemark.impl.ports import Preemption
from tidemark.impl.stream.packs import StreamPack, StreamPosition
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName


class Changes:
    """Lets waiting tasks look at their conditions again after any change."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Announce a change."""
        self._next.set()
        self._next = asyncio.Event()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once the condition holds."""
        while not condition():
            await self._next.wait()


class Target:
    """One virtual channel: its packs, until it takes them.

    Milvus: targetPacks

    Attributes:
        channel: its name.
        position: packs that end at or below its timestamp are not sent.
        upto: the end of the last pack that it was sent.
        packs: those that it has not taken.
        gone: it gets no more.
    """

    def __init__(
        self,
        channel: ChannelName,
        position: StreamPosition,
        *,
        changes: Changes,
        preemption: Preemption,
        capacity: int,
    ) -> None:
        self.channel = channel
        self.position = position
        self.upto: Timestamp = position.ts
        self.packs: deque[StreamPack] = deque()
        self.gone = False
        self._changes = changes
        self._preemption = preemption
        self._capacity = capacity

    @property
    def is_full(self) -> bool:
        """There is no room for another pack."""
        return len(self.packs) >= self._capacity

    def put(self, pack: StreamPack) -> None:
        """Send a pack; there must be room for it."""
        self.packs.append(pack)
        self.upto = pack.end
        self._changes.tell()

    async def next_pack(self) -> StreamPack:
        """Take the next pack: its messages for this virtual channel, with the tick. Waits for one.

        Raise TargetGoneError once the target is deregistered.
        """
        await self._changes.until(lambda: bool(self.packs) or self.gone)
        await self._preemption.point("target.take")
        if self.gone:
            raise TargetGoneError(f"channel {self.channel!r} is deregistered; register it again to continue")
        pack = self.packs.popleft()
        self._changes.tell()
        return pack
