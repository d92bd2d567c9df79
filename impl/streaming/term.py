"""One term of a channel's log, from its opening to its close: appends, ticks, and the flusher."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, kw_only=True)
class StreamingParts:
    """Which class plays which part of a node."""

    acks: type[AckManager] = AckManager
    operator: type[TimeTickOperator] = TimeTickOperator
    flusher: type[Flusher] = Flusher
    recovery: type[RecoveryStorage] = RecoveryStorage
    transactions: type[Transactions] = Transactions
    assembly: type[Assembly] = Assembly


class OpenTerm:
    """What a node has in memory while its log is open. Closing it loses all of that.

    Args:
        opening: the term.
        first: the timestamp of its first tick: greater than all that earlier terms were given.
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
        parts: StreamingParts,
    ) -> None:
        self.opening = opening
        self.closed = asyncio.Event()
        self.recovery = recovery
        self.transactions = parts.transactions(_open_in(records, parts.assembly()))
        self.acks = parts.acks(
            opening=opening,
            first=first,
            oracle=ports.oracle,
            preemption=ports.preemption,
            transactions=self.transactions,
        )
        self.operator = parts.operator(acks=self.acks, write=self._write, clock=ports.clock, config=config)
        self.flusher = parts.flusher(
            log=ports.log,
            store=ports.messages,
            recovery=recovery,
            stored=stored,
            clock=ports.clock,
            config=config,
            assembly=parts.assembly(),
        )
        self.supervisor = Supervisor()
        self._log = ports.log

    def start(self) -> None:
        """Write the first tick, and go on with ticks and flushes."""
        self._spawn(self.operator.run, "ticks")
        self._spawn(self.flusher.run_reads, "flusher reads")
        self._spawn(self.flusher.run_stores, "flusher stores")
        self._spawn(self.flusher.run_records, "recovery storage")

    def _spawn(self, work: Work, name: str) -> None:
        async def guarded() -> None:
            try:
                await work()
            except (UnknownOutcomeError, TermClosedError):
                return  # the next term goes on
            finally:
                self.close()

        self.supervisor.spawn(guarded, name)

    async def append(self, append: Append) -> None:
        """Append, and acknowledge. Raise TermClosedError or the oracle's RpcError: nothing is appended.
        Raise MessageTooLargeError, TransactionOverError, TransactionBusyError likewise. Raise
        UnknownOutcomeError: the term is over.
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
        """Append a message or a tick. An unknown outcome closes the term: what is not known cannot be said to
        have failed (B54).
        """
        try:
            return await self._log.append(self.opening.term, since, message)
        except (RpcError, StoreError) as failure:
            self._lose_track()
            kind = "tick" if isinstance(message, Tick) else "message"
            raise UnknownOutcomeError(f"{kind} {message.ts} may be in the log: {failure}") from failure

    def _lose_track(self) -> None:
        """It is not known what an append has come to."""
        self.close()

    def close(self) -> None:
        """The term is over: nothing of its memory counts any more."""
        self.acks.is_open = False
        self.closed.set()

    async def stop(self) -> None:
        """End what goes on. Raise what has failed, if that is not a matter of the log."""
        self.close()
        await self.supervisor.stop()
        self.supervisor.check()


def _open_in(records: Sequence[Record], assembly: Assembly) -> Mapping[TransactionId, Assembled]:
    """The transactions that are open at the end of these records."""
    for record in records:
        assembly.take(record)
    return assembly.open()
