"""The edges of a streaming node: its log, the object storage, its own records."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tidemark.impl.ports import Clock, Preemption
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.streaming.transaction_messages import DataMessage, StreamingMessage
from tidemark.impl.streaming.values import Checkpoints, Opening, Record, Term
from tidemark.impl.types import SegmentId
from tidemark.impl.values.oracle import Oracle


class TermLog(Protocol):
    """A log that takes appends of its last term."""

    async def begin_term(self) -> Opening:
        """Begin a new term. When this returns, the log refuses every earlier one, whose appends are in the
        log or never will be. Raise RpcError or StoreError: a term may have begun.
        """

    async def append(self, term: Term, since: int, message: StreamingMessage) -> int:
        """The place of the message, once it is durable.

        Raise MessageTooLargeError when it is not in the log and will not be. Raise RpcError or StoreError
        when the outcome is unknown.
        """

    async def read(self, place: int) -> Sequence[Record]:
        """The records from a place on, itself included. Waits for one. Raise LogCutError if it was cut."""

    async def scan(self, above: int) -> Sequence[Record]:
        """The records above a place that are not cut off. It does not wait."""

    async def truncate(self, upto: int) -> None:
        """Forget the records at or below a place; perhaps fewer."""


class MessageStore(Protocol):
    """Object storage of messages. Raise StoreError on failure."""

    async def put(self, place: int, messages: Sequence[DataMessage]) -> None:
        """Store a message, or all of a transaction, by its place. Whole or not at all, repeatable."""

    async def places(self, above: int) -> Collection[int]:
        """The places above this one whose messages are stored."""


@dataclass(frozen=True)
class Summary:
    """The node's own records: how many rows each segment has up to a place of the log.

    start: counting continues from the log behind this place. It is before the begin of each transaction that
    is open at ``place``: its rows are not counted yet, and its commit alone does not have them.
    """

    place: int = 0
    rows: Mapping[SegmentId, int] = field(default_factory=dict)
    start: int = 0


class CheckpointStore(Protocol):
    """Both checkpoints. Each save is durable when it returns. Raise StoreError on failure."""

    async def load(self) -> tuple[Checkpoints, Summary]:
        """The saved checkpoints."""

    async def save_flusher(self, upto: int) -> None:
        """Save the flusher's checkpoint."""

    async def save_recovery(self, summary: Summary) -> None:
        """Save the node's own records, with the place up to which they go."""


@dataclass(frozen=True, kw_only=True)
class StreamingPorts:
    """The world as a streaming node sees it."""

    oracle: Oracle
    log: TermLog
    messages: MessageStore
    checkpoints: CheckpointStore
    clock: Clock
    preemption: Preemption = field(default_factory=NoPreemption)
