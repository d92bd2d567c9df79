"""The proxy's read path: guarantee, choice of replicas, reduction to one answer (facts 6.2)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from tidemark.impl.errors import ImplementationError, NotServableError, RpcError, UnknownChannelError
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.timestamp import MILLISECOND, ZERO, Interval, Timestamp
from tidemark.impl.types import ChannelName, Row
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.nearest import Nearest
from tidemark.impl.values.oracle import Oracle


class ReadPhase(Enum):
    """Stage of a read at the proxy."""

    NEW = "new"
    ASKED = "asked"
    SENT = "sent"
    ANSWERED = "answered"
    FAILED = "failed"


@dataclass(frozen=True)
class ReadAnswer:
    """The rows of all channels, by timestamp and key; those of a search nearest first.

    moments: by channel the moment that they show.
    """

    rows: tuple[Row, ...]
    moments: Mapping[ChannelName, Timestamp]

    @property
    def moment(self) -> Timestamp:
        """The greatest of the moments: what a session carries along."""
        return max(self.moments.values(), default=ZERO)


@dataclass(eq=False)
class ReadTask:
    """A read of some channels.

    Milvus: searchTask

    keys: whose rows; None for all. client_ts: what the client names, at SESSION and CUSTOMIZED.
    page_of: the first page, or the first part, if this is a further one: it shows the same moments (B40).
    collection: whose channels they are; needed to ask over channels.
    nearest: limit and place of a search.
    """

    level: ConsistencyLevel
    channels: tuple[ChannelName, ...]
    keys: tuple[int, ...] | None = None
    client_ts: Timestamp = ZERO
    page_of: ReadAnswer | None = None
    collection: str = ""
    nearest: Nearest | None = None
    guarantee: Timestamp = ZERO
    phase: ReadPhase = ReadPhase.NEW
    answer: ReadAnswer | None = field(default=None)

    @property
    def moments(self) -> Mapping[ChannelName, Timestamp]:
        """By channel the moment that a further page shows: that of the first page. Each channel has its own;
        at the greatest of them the page would show rows that the first one lacks. Empty: each replica answers
        at its service time. Raises UnknownChannelError for a channel that the first page lacks.
        """
        if self.page_of is None:
            return {}
        shown = self.page_of.moments
        unknown = [channel for channel in self.channels if channel not in shown]
        if unknown:
            known = ", ".join(sorted(shown)) or "none"
            raise UnknownChannelError(
                f"a further page asks for channel {unknown[0]!r}, and its first page shows {known}; read all "
                "channels with the first page"
            )
        return {channel: shown[channel] for channel in self.channels}


class ReadClock(Protocol):
    """The proxy's own clock, which may be wrong."""

    def now(self) -> Timestamp:
        """The present time as a timestamp with counter 0."""


class Replica(Protocol):
    """A query node as the proxy sees it."""

    async def query(
        self,
        channel: ChannelName,
        *,
        guarantee: Timestamp,
        mvcc: Timestamp | None,
        keys: tuple[int, ...] | None,
        deadline: float,
    ) -> ShardAnswer:
        """Answer a read. Raise NotServableError, RpcTimeoutError after ``deadline`` seconds, or RpcError."""


class Replicas(Protocol):
    """The query nodes of each channel."""

    def of(self, channel: ChannelName) -> Sequence[Replica]:
        """The replicas of a channel, in the order in which they are to be asked."""


@dataclass(frozen=True, kw_only=True)
class ReaderConfig:
    """graceful_ts: the allowed staleness of a bounded read (``common.gracefulTime`` 5000 ms). deadline: of a
    call to a replica, in seconds.

    Milvus: GracefulTime
    """

    graceful_ts: Interval = 5_000 * MILLISECOND
    deadline: float = 10.0

    def __post_init__(self) -> None:
        if self.graceful_ts < 0:
            raise ValueError(f"graceful_ts is {self.graceful_ts}; it must be at least 0")
        if self.deadline <= 0:
            raise ValueError(f"deadline is {self.deadline}; it must be a positive number of seconds")


class ReadPath:
    """Reads for the clients of one proxy. A subclass asks the replicas.

    Milvus: GuaranteeTs, parseGuaranteeTsFromConsistency
    """

    def __init__(self, *, oracle: Oracle, clock: ReadClock, config: ReaderConfig | None = None) -> None:
        self._oracle = oracle
        self._clock = clock
        self._config = config if config is not None else ReaderConfig()

    async def read(
        self,
        level: ConsistencyLevel,
        channels: Sequence[ChannelName],
        *,
        keys: tuple[int, ...] | None = None,
        client_ts: Timestamp = ZERO,
    ) -> ReadAnswer:
        """Read at a level. Raise RpcError: the oracle failed, or no replica serves a channel."""
        return await self.execute(ReadTask(level, tuple(channels), keys=keys, client_ts=client_ts))

    async def execute(self, task: ReadTask) -> ReadAnswer:
        """Carry a task out. Errors as for ``read``."""
        try:
            task.guarantee = await self._guarantee(task)
            task.phase = ReadPhase.SENT
            answers = await self._answers(task)
        except (ImplementationError, asyncio.CancelledError):
            task.phase = ReadPhase.FAILED
            raise
        task.answer = self._reduce(task, answers)
        task.phase = ReadPhase.ANSWERED
        return task.answer

    async def _guarantee(self, task: ReadTask) -> Timestamp:
        """The read must see everything at or below this timestamp."""
        if task.page_of is not None:
            return max(task.moments.values(), default=ZERO)
        if task.level is ConsistencyLevel.STRONG:
            task.phase = ReadPhase.ASKED
            return await self._oracle.alloc(1)
        if task.level is ConsistencyLevel.BOUNDED:
            return max(self._clock.now() - self._config.graceful_ts, ZERO)
        if task.level is ConsistencyLevel.EVENTUALLY:
            return ZERO
        return task.client_ts

    async def _answers(self, task: ReadTask) -> Mapping[ChannelName, ShardAnswer]:
        raise NotImplementedError

    def _reduce(self, task: ReadTask, answers: Mapping[ChannelName, ShardAnswer]) -> ReadAnswer:
        rows = dict.fromkeys(row for answer in answers.values() for row in answer.rows)
        moments = {channel: answer.moment for channel, answer in answers.items()}
        if task.nearest is not None:
            return ReadAnswer(task.nearest.cut(rows), moments)
        return ReadAnswer(tuple(sorted(rows, key=lambda row: (row.ts, row.key))), moments)


class Reader(ReadPath):
    """Reads that ask one replica of a channel after the other."""

    def __init__(
        self, *, oracle: Oracle, clock: ReadClock, replicas: Replicas, config: ReaderConfig | None = None
    ) -> None:
        super().__init__(oracle=oracle, clock=clock, config=config)
        self._replicas = replicas

    async def _answers(self, task: ReadTask) -> Mapping[ChannelName, ShardAnswer]:
        answers = await asyncio.gather(*(self._ask(task, channel) for channel in task.channels))
        return dict(zip(task.channels, answers, strict=True))

    async def _ask(self, task: ReadTask, channel: ChannelName) -> ShardAnswer:
        """Ask one replica of a channel after the other, with the same guarantee, until one answers."""
        failure: RpcError = NotServableError(f"no replica serves channel {channel!r}; load the collection")
        moment = task.moments.get(channel)
        for replica in self._replicas.of(channel):
            try:
                return await replica.query(
                    channel,
                    guarantee=task.guarantee if moment is None else moment,
                    mvcc=moment,
                    keys=task.keys,
                    deadline=self._config.deadline,
                )
            except RpcError as refused:
                failure = refused
        raise failure
