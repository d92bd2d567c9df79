"""The flusher: it reads the log, stores the messages, and moves its checkpoint behind them."""

import asyncio
from collections.abc import Awaitable, Callable, Collection

from tidemark.impl.errors import StoreError
from tidemark.impl.ports import Clock
from tidemark.impl.streaming.assembly import Assembly, Complete
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.ports import MessageStore, TermLog
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.transaction_messages import DataMessage
from tidemark.impl.streaming.values import Record
from tidemark.impl.values.messages import DeleteMessage, InsertMessage

Work = Callable[[], Awaitable[None]]


class Flusher:
    """The consumer of one term. It starts where the recovery storage says, and drops stored messages.

    Args:
        stored: places above the start whose messages are stored.

    Attributes:
        reading: the last place that was read.
        buffered: messages that are read and not stored, by place; a transaction by that of its commit.
        assembly: transactions that were read in part.
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
        assembly: Assembly,
    ) -> None:
        self.reading = recovery.start()
        self.buffered: dict[int, Complete] = {}
        self.assembly = assembly
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
                self.take(record)

    def take(self, record: Record) -> None:
        """Read a record."""
        self.reading = record.place
        complete = self.assembly.take(record)
        if _data_of(complete) and record.place not in self._stored:
            self.buffered[record.place] = complete
        self._recovery.observe(record.place, _data_of(complete), self.assembly.earliest())
        self._arrived.set()

    async def run_stores(self) -> None:
        """Store the messages, the first place first. Ends by cancellation."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            await self._retried(self.store_all)

    async def store_all(self) -> None:
        """Store the messages, and move the checkpoint behind them. Raise StoreError."""
        while self.buffered:
            place = min(self.buffered)
            await self._store.put(place, _data_of(self.buffered[place]))
            del self.buffered[place]
        await self._recovery.move_flusher(self.checkpoint())

    def checkpoint(self) -> int:
        """All messages up to this place are stored, and no transaction that begins there is open."""
        return min([self.reading + 1, *self._needed()]) - 1

    def _needed(self) -> list[int]:
        """Places that a restarted flusher has to read."""
        earliest = self.assembly.earliest()
        return [one.begun for one in self.buffered.values()] + ([] if earliest is None else [earliest])

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


def _data_of(complete: Complete) -> tuple[DataMessage, ...]:
    """The stored form of a message."""
    return tuple(one for one in complete.messages if isinstance(one, InsertMessage | DeleteMessage))
