"""The dispatchers of a physical channel: one for most of its virtual channels, one for each that lags."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from tidemark.impl.ports import Preemption
from tidemark.impl.stream.config import DispatcherConfig
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.packs import StreamPack
from tidemark.impl.stream.targets import Changes, Target
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName


class Dispatcher:
    """Reads the packs of a physical channel and sends each target its part.

    Milvus: Dispatcher

    Attributes:
        consumer: its own; one tick in each pack.
        begun, at: start and end of the last pack that it has taken.
        paused: it takes no pack. Packs that it reads wait.
        pack: the last pack, until all of it is sent.
    """

    waits_at: ClassVar[str]
    """Name of the preemption point at which it looks again whether it may take a pack."""

    def __init__(self, *, consumer: ChannelConsumer, changes: Changes, preemption: Preemption) -> None:
        self.consumer = consumer
        self.begun: Timestamp = consumer.position.ts
        self.at: Timestamp = consumer.position.ts
        self.paused = False
        self.pack: StreamPack | None = None
        self._changes = changes
        self._preemption = preemption

    async def run(self) -> None:
        """Take packs and send them. Ends by cancellation."""
        while True:
            pack = self.pack = await self.consumer.next_pack()
            while not self.may_take():
                await self._changes.until(self.may_take)
                await self._preemption.point(self.waits_at)
            self.begun, self.at = self.at, pack.end
            await self._hand_out(pack)
            self.pack = None

    def may_take(self) -> bool:
        """The pack that was read may be taken."""
        return not self.paused

    async def _hand_out(self, pack: StreamPack) -> None:
        """Send a pack that was taken. The part before the first await belongs to the step that takes it."""
        raise NotImplementedError

    def is_sent(self, target: Target, pack: StreamPack) -> bool:
        """The skip rule: a pack that ends at or below the target's position is not sent."""
        return pack.end > target.position.ts


class MainDispatcher(Dispatcher):
    """Serves all targets that keep up.

    Attributes:
        targets: by channel.
        owed: targets to which the current pack is not sent yet.
    """

    waits_at = "dispatch.take"

    def __init__(
        self,
        *,
        consumer: ChannelConsumer,
        changes: Changes,
        preemption: Preemption,
        config: DispatcherConfig,
        split_off: Callable[[Target], None],
    ) -> None:
        super().__init__(consumer=consumer, changes=changes, preemption=preemption)
        self.targets: dict[ChannelName, Target] = {}
        self.owed: list[Target] = []
        self._config = config
        self._split_off = split_off

    async def _hand_out(self, pack: StreamPack) -> None:
        """Send all targets their parts, one after the other."""
        self.owed = [target for target in self.targets.values() if self.is_sent(target, pack)]
        self._changes.tell()
        for target in tuple(self.owed):
            await self._send(target, pack)

    async def _send(self, target: Target, pack: StreamPack) -> None:
        while target in self.owed:
            await self._preemption.point("dispatch.send")
            if target in self.owed and not target.is_full:
                self.owed.remove(target)
                target.put(pack.of(target.channel))
            elif target in self.owed and not await self._gets_room(target) and self._may_split(target):
                self.owed.remove(target)
                target.position = pack.start  # so that its deputy sends it the pack again
                self._split_off(target)

    async def _gets_room(self, target: Target) -> bool:
        """Wait until a target has room or has left. False if it took too long."""
        try:
            async with asyncio.timeout(self.patience()):
                await self._changes.until(lambda: not target.is_full or target not in self.owed)
        except TimeoutError:
            return False
        return True

    def patience(self) -> float | None:
        """How long a target may take, in seconds; without limit for the only one."""
        return self._config.tolerant_seconds if len(self.targets) > 1 else None

    def _may_split(self, target: Target) -> bool:
        return target in self.owed and target.is_full and len(self.targets) > 1

    def drop(self, target: Target) -> None:
        """A target leaves."""
        del self.targets[target.channel]
        if target in self.owed:
            self.owed.remove(target)


class Deputy(Dispatcher):
    """Serves one target that is new, or lags, until it has caught up with the main dispatcher.

    It takes a pack when its target has room, so that it can be paused at any time.

    Attributes:
        target: its target.
        candidate: a merge is under way that has found it at the main dispatcher's tick.
    """

    waits_at = "dispatch.deputy"

    def __init__(
        self, *, target: Target, consumer: ChannelConsumer, changes: Changes, preemption: Preemption
    ) -> None:
        super().__init__(consumer=consumer, changes=changes, preemption=preemption)
        self.target = target
        self.candidate = False

    def may_take(self) -> bool:
        """It is not paused, and the target has room."""
        return not self.paused and not self.target.is_full

    async def _hand_out(self, pack: StreamPack) -> None:
        """Send the pack in the step that takes it."""
        if self.is_sent(self.target, pack):
            self.target.put(pack.of(self.target.channel))
        self._changes.tell()
