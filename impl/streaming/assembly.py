"""Assembles the transactions of a log: bodies are kept back until their commit is read."""

from dataclasses import dataclass, field
from typing import NamedTuple

from tidemark.impl.streaming.transaction_messages import (
    DataMessage,
    Part,
    TransactionId,
    TransactionMessage,
    at,
)
from tidemark.impl.streaming.values import Record
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.values.messages import ChannelMessage, Tick


@dataclass
class Assembled:
    """A transaction whose begin was read.

    begun: the place of the begin. commit: the timestamp of the commit; 0 before it.
    """

    begun: int
    until: Timestamp
    bodies: list[DataMessage] = field(default_factory=list)
    commit: Timestamp = ZERO


class Complete(NamedTuple):
    """The messages that a record completes, with their timestamp.

    begun: its own place, or that of the begin of its transaction.
    """

    begun: int
    messages: tuple[ChannelMessage, ...]


class Assembly:
    """The transactions of a log for a reader, from its start on.

    A transaction is kept until a tick has reached its commit or its end, so that the place for a restart is
    known.

    Attributes:
        kept: by number.
        tick: the last tick that was read.
    """

    def __init__(self) -> None:
        self.kept: dict[TransactionId, Assembled] = {}
        self.tick: Timestamp = ZERO

    def take(self, record: Record) -> Complete:
        """Read the next record. Return the messages that it completes: its own, or all of a transaction with
        the timestamp of its commit. Without its begin a transaction is left out: it was delivered.
        """
        message = record.message
        if isinstance(message, Tick):
            self.tick = max(self.tick, message.ts)
            self.kept = {number: one for number, one in self.kept.items() if not self._is_over(one)}
            return Complete(record.place, ())
        if not isinstance(message, TransactionMessage):
            return Complete(record.place, (message,))
        if message.part is Part.BEGIN:
            self.kept[message.number] = Assembled(record.place, message.until)
            return Complete(record.place, ())
        one = self.kept.get(message.number)
        if one is None or one.commit:
            return Complete(record.place, ())
        return Complete(one.begun, self._go_on(one, message))

    def _go_on(self, one: Assembled, message: TransactionMessage) -> tuple[ChannelMessage, ...]:
        if message.part is Part.COMMIT:
            one.commit = message.ts
            return tuple(at(body, message.ts) for body in one.bodies)
        if message.part is Part.ROLLBACK:
            del self.kept[message.number]
        elif message.content is not None:
            one.bodies.append(message.content)
        return ()

    def _is_over(self, one: Assembled) -> bool:
        """A tick has reached the commit, or else the expiry, of the transaction."""
        return (one.commit or one.until) <= self.tick

    def earliest(self) -> int | None:
        """The place of the first begin of a transaction that is open at the last tick, or None."""
        return min((one.begun for one in self.kept.values()), default=None)

    def open(self) -> dict[TransactionId, Assembled]:
        """The transactions that are neither committed nor expired."""
        return {number: one for number, one in self.kept.items() if not one.commit}
