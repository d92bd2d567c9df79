"""The edges of a streaming node: its log, the object storage, its own records."""

from __future__ import annotations

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
    """A log that takes what its last term appends."""

    async def begin_term(self) -> Opening:
        """Begin a new term. When this returns, the log refuses every earlier one, and what that had under way
        is in the log or will never be. Raise RpcError or StoreError: a term may have begun.
        """

    async def append(self, term: Term, since: int, message: StreamingMessage) -> int:
        """The place of the message, once it is durable.

        Raise MessageTooLargeError when it is not in the log and will not be. Raise RpcError or StoreError
        when that is not known.
        """

    async def read(self, place: int) -> Sequence[Record]:
        """The records from a place on, which is included. Waits until there is one. Raise LogCutError when
        the place was cut off.
        """

    async def scan(self, above: int) -> Sequence[Record]:
        """The records above a place, as far as they are not cut off. It does not wait."""

    async def truncate(self, upto: int) -> None:
        """Forget what lies at or below a place; perhaps less than that."""


class MessageStore(Protocol):
    """Object storage, as far as messages are in it. Raise StoreError on failure."""

    async def put(self, place: int, messages: Sequence[DataMessage]) -> None:
        """Store a message by its place in the log, or all of a transaction by that of its commit. Whole or
        not at all; to store it again changes nothing.
        """

    async def places(self, above: int) -> Collection[int]:
        """The places above this one whose messages are stored."""


@dataclass(frozen=True)
class Summary:
    """The node's own records: how many rows each segment has up to a place of the log.

    start: the records go on from the log behind this place. It lies before the begin of each transaction that
    is not over at ``place``: its rows are not counted yet, and its commit alone does not say what they are.
    """

    place: int = 0
    rows: Mapping[SegmentId, int] = field(default_factory=dict)
    start: int = 0


class CheckpointStore(Protocol):
    """Both checkpoints. Each save is durable when it returns. Raise StoreError on failure."""

    async def load(self) -> tuple[Checkpoints, Summary]:
        """What was saved."""

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
