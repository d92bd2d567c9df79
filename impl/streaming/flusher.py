"""The flusher: it reads the log, stores what it reads, and moves its checkpoint behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection

from tidemark.impl.broker.messages import InsertMessage
from tidemark.impl.errors import StoreError
from tidemark.impl.ports import Clock
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.ports import MessageStore, TermLog
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.values import Record

Work = Callable[[], Awaitable[None]]


class Flusher:
    """The consumer of one term. It starts where the recovery storage says, and drops what is stored already.

    Args:
        stored: places above the start whose messages are stored.

    Attributes:
        reading: the last place that was read.
        buffered: messages that were read and are not stored, by place.
    """

    def __init__(
        self,
        *,
        log: TermLog,
        store: MessageStore,
        recovery: RecoveryStorage,
        stored: Collection[int],
        clock: Clock,
        config: StreamingConfig,
    ) -> None:
        self.reading = recovery.start()
        self.buffered: dict[int, InsertMessage] = {}
        self._stored = stored
        self._log = log
        self._store = store
        self._recovery = recovery
        self._clock = clock
        self._config = config
        self._arrived = asyncio.Event()

    async def run_reads(self) -> None:
        """Read the log. Ends by cancellation."""
        while True:
            for record in await self._log.read(self.reading + 1):
                self._take(record)

    def _take(self, record: Record) -> None:
        self.reading = record.place
        if isinstance(record.message, InsertMessage) and record.place not in self._stored:
            self.buffered[record.place] = record.message
        self._recovery.observe(record)
        self._arrived.set()

    async def run_stores(self) -> None:
        """Store what was read, the first place first. Ends by cancellation."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            await self._retried(self._store_all)

    async def _store_all(self) -> None:
        while self.buffered:
            place = min(self.buffered)
            await self._store.put(place, self.buffered[place])
            del self.buffered[place]
        await self._recovery.move_flusher(self.checkpoint())

    def checkpoint(self) -> int:
        """Everything up to this place is stored."""
        return min(self.buffered, default=self.reading + 1) - 1

    async def run_records(self) -> None:
        """Save the node's own records from time to time. Ends by cancellation."""
        while True:
            await self._clock.sleep(self._config.persist_seconds)
            await self._retried(self._recovery.persist)

    async def _retried(self, work: Work) -> None:
        while True:
            try:
                return await work()
            except StoreError:
                await self._clock.sleep(self._config.retry_seconds)
