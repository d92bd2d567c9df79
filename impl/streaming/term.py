"""One term of a channel's log, from its opening to its close: appends, ticks, and the flusher."""

import asyncio
from collections.abc import Collection, Mapping, Sequence

from tidemark.impl.errors import (
    MessageTooLargeError,
    RpcError,
    StoreError,
    TermClosedError,
    TransactionOverError,
    UnknownOutcomeError,
)
from tidemark.impl.runtime import Supervisor, Work
from tidemark.impl.streaming.ack_manager import AckManager
from tidemark.impl.streaming.assembly import Assembled, Assembly
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.flusher import Flusher
from tidemark.impl.streaming.ports import StreamingPorts
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.time_tick import TimeTickOperator
from tidemark.impl.streaming.transaction_messages import StreamingMessage, TransactionId
from tidemark.impl.streaming.transactions import Transactions
from tidemark.impl.streaming.values import Append, Opening, Record
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.messages import Tick


class OpenTerm:
    """The memory of a node while its log is open. Closing it discards the memory.

    Args:
        opening: the term.
        first: the timestamp of its first tick: greater than all timestamps of earlier terms.
        recovery: the recovery storage, loaded.
        stored: places above the start whose messages are stored.
        records: the log above the start of the recovery storage: open transactions are found there.
    """

    def __init__(
        self,
        *,
        opening: Opening,
        first: Timestamp,
        recovery: RecoveryStorage,
        stored: Collection[int],
        records: Sequence[Record],
        ports: StreamingPorts,
        config: StreamingConfig,
    ) -> None:
        self.opening = opening
        self.closed = asyncio.Event()
        self.recovery = recovery
        self.transactions = Transactions(_open_in(records))
        self.acks = AckManager(
            opening=opening,
            first=first,
            oracle=ports.oracle,
            preemption=ports.preemption,
            transactions=self.transactions,
        )
        self.operator = TimeTickOperator(acks=self.acks, write=self._write, clock=ports.clock, config=config)
        self.flusher = Flusher(
            log=ports.log,
            store=ports.messages,
            recovery=recovery,
            stored=stored,
            clock=ports.clock,
            config=config,
            assembly=Assembly(),
        )
        self.supervisor = Supervisor()
        self._log = ports.log

    def start(self) -> None:
        """Write the first tick, and start ticks and flushes."""
        self._spawn(self.operator.run, "ticks")
        self._spawn(self.flusher.run_reads, "flusher reads")
        self._spawn(self.flusher.run_stores, "flusher stores")
        self._spawn(self.flusher.run_records, "recovery storage")

    def _spawn(self, work: Work, name: str) -> None:
        async def guarded() -> None:
            try:
                await work()
            except (UnknownOutcomeError, TermClosedError):
                return  # the next term repeats it
            finally:
                self.close()

        self.supervisor.spawn(guarded, name)

    async def append(self, append: Append) -> None:
        """Append, and acknowledge. Raise TermClosedError or the oracle's RpcError: the message is not
        appended. Raise MessageTooLargeError, TransactionOverError, TransactionBusyError likewise. Raise
        UnknownOutcomeError: the term has ended.
        """
        self.transactions.admit(append)
        try:
            await self.acks.admit(append)
        except RpcError:
            self.transactions.failed(append)
            raise
        try:
            self.transactions.stamped(append)
            place = await self._write(append.since, append.message())
        except (MessageTooLargeError, TransactionOverError):
            self.acks.refuse(append)
            self.transactions.failed(append)
            raise
        self.transactions.landed(append, place)
        self.acks.acknowledge(append, place)

    async def _write(self, since: int, message: StreamingMessage) -> int:
        """Append a message or a tick. An unknown outcome closes the term, and is no failure (B54)."""
        try:
            return await self._log.append(self.opening.term, since, message)
        except (RpcError, StoreError) as failure:
            self.close()
            kind = "tick" if isinstance(message, Tick) else "message"
            raise UnknownOutcomeError(f"{kind} {message.ts} may be in the log: {failure}") from failure

    def close(self) -> None:
        """The term has ended: its memory does not count any more."""
        self.acks.is_open = False
        self.closed.set()

    async def stop(self) -> None:
        """Stop its tasks. Raise their failure, unless the log has caused it."""
        self.close()
        await self.supervisor.stop()
        self.supervisor.check()


def _open_in(records: Sequence[Record]) -> Mapping[TransactionId, Assembled]:
    assembly = Assembly()
    for record in records:
        assembly.take(record)
    return assembly.open()
