"""The contents of a streaming node's log, and the states of an append."""

from dataclasses import dataclass
from enum import Enum

from tidemark.impl.streaming.transaction_messages import (
    DataMessage,
    Part,
    StreamingMessage,
    TransactionId,
    TransactionMessage,
)
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName, Row, SegmentId
from tidemark.impl.values.messages import DeleteMessage, InsertMessage

Term = int
"""The number of a period between two openings of a log: 1, 2, 3, ... 0 is before the first."""


@dataclass(frozen=True)
class Record:
    """A message at its place in a log: 1, 2, 3, ...

    term: in which it was appended. since: a reader that has all messages up to this timestamp continues
    behind this place, and misses no later message.
    """

    place: int
    term: Term
    since: int
    message: StreamingMessage


@dataclass(frozen=True)
class Opening:
    """A new term of a log. ``end``: the last place of earlier terms, which append no more."""

    term: Term
    end: int


class AppendStage(Enum):
    """Stage of an append, in its term's view."""

    NEW = "new"
    DRAWN = "drawn"
    ENTERED = "entered"
    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"


@dataclass(eq=False)
class Append:
    """Rows on their way into the log: (segment, key, value); or deletes. It is appended once.

    deletes: keys, instead of rows, for the level-zero segment ``level_zero``. part: of a transaction; None:
    of none. transaction: to which it belongs, unless it begins one. lasts: how long one that it begins may
    last, as a difference of timestamps. term, ts, since: given by the node. place: in the log; 0 while
    unknown.
    """

    channel: ChannelName
    rows: tuple[tuple[SegmentId, int, str], ...] = ()
    deletes: tuple[int, ...] = ()
    level_zero: SegmentId = -1
    part: Part | None = None
    transaction: TransactionId = ZERO
    lasts: int = 0
    stage: AppendStage = AppendStage.NEW
    term: Term = 0
    ts: Timestamp = ZERO
    since: int = 0
    place: int = 0

    def message(self) -> StreamingMessage:
        """The message. Every row has its timestamp."""
        if self.part is None:
            return self.content()
        return TransactionMessage(
            ts=self.ts,
            channel=self.channel,
            part=self.part,
            transaction=self.transaction,
            until=self.ts + self.lasts if self.part is Part.BEGIN else ZERO,
            content=self.content() if self.part is Part.BODY else None,
        )

    def content(self) -> DataMessage:
        """The rows or the deletes, with the timestamp of the message."""
        if self.deletes:
            return DeleteMessage(self.ts, self.channel, self.level_zero, self.deletes)
        return InsertMessage(self.ts, self.channel, tuple(Row(self.ts, *row) for row in self.rows))


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """Places up to which a log is not needed any more.

    flusher: these messages are in object storage. recovery: the node's own records cover them.
    """

    flusher: int = 0
    recovery: int = 0
