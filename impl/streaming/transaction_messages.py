"""Messages of transactions in the log of a streaming node, and their reading.

A transaction is a begin, bodies, and a commit or a rollback, each a message with a timestamp and a place of
its own; ticks may come between. Its number is the timestamp of its begin.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from tidemark.impl.errors import CorruptDataError
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName, Row
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, LogMessage, decode, encode

TransactionId = Timestamp
"""The timestamp of the begin; 0: no transaction."""


class Part(Enum):
    """The role of a message in its transaction."""

    BEGIN = "begin"
    BODY = "body"
    COMMIT = "commit"
    ROLLBACK = "rollback"


DataMessage = InsertMessage | DeleteMessage
"""A stored message."""


@dataclass(frozen=True)
class TransactionMessage:
    """A message of a transaction.

    transaction: 0 in a begin, whose own timestamp is the number. until: of a begin: the first tick that
    reaches this timestamp ends the transaction. content: of a body.
    """

    ts: Timestamp
    channel: ChannelName
    part: Part
    transaction: TransactionId = ZERO
    until: Timestamp = ZERO
    content: DataMessage | None = None

    @property
    def number(self) -> TransactionId:
        """Of its transaction."""
        return self.ts if self.part is Part.BEGIN else self.transaction


StreamingMessage = LogMessage | TransactionMessage
"""A message in the log of a streaming node."""


def at(message: DataMessage, ts: Timestamp) -> DataMessage:
    """The same rows or deletes with another timestamp."""
    if isinstance(message, DeleteMessage):
        return DeleteMessage(ts, message.channel, message.segment_id, message.keys)
    rows = tuple(Row(ts, row.segment_id, row.key, row.value) for row in message.rows)
    return InsertMessage(ts, message.channel, rows)


def encode_any(message: StreamingMessage) -> list[Any]:
    """A message as JSON."""
    if not isinstance(message, TransactionMessage):
        return encode(message)
    content = None if message.content is None else encode(message.content)
    head = ["transaction", message.ts, message.channel, message.part.value]
    return [*head, message.transaction, message.until, content]


def decode_any(document: Any) -> StreamingMessage:
    """The message. Raises CorruptDataError for anything else."""
    match document:
        case ["transaction", int(ts), str(channel), str(part), int(number), int(until), content]:
            if part in _PARTS:
                return TransactionMessage(ts, channel, _PARTS[part], number, until, _content(content))
            raise CorruptDataError(f"{document!r} is no message of a transaction; restore the log")
    return decode(document)


_PARTS = {part.value: part for part in Part}


def _content(document: Any) -> DataMessage | None:
    message = None if document is None else decode(document)
    if message is None or isinstance(message, InsertMessage | DeleteMessage):
        return message
    raise CorruptDataError(f"{document!r} is no body of a transaction; restore the log")
