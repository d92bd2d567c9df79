"""What clients ask of one proxy, whether they are in its process or come over the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tidemark.impl.errors import WriteFailedError
from tidemark.impl.proxy.host import ProxyHost
from tidemark.impl.proxy.ports import Oracle
from tidemark.impl.proxy.reads import ConsistencyLevel, Reader, ReadTask
from tidemark.impl.proxy.values import AppendOutcome
from tidemark.impl.proxy.writes import SegmentSource, WriteTask, delete_task, insert_task
from tidemark.impl.rootcoord.catalog import CollectionRecord
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName


class Collections(Protocol):
    """The root coordinator's catalogue."""

    def get(self, name: str) -> CollectionRecord:
        """The collection. Raises CollectionError."""

    async def create(self, name: str, *, shards: int) -> CollectionRecord:
        """Create a collection. Raises CollectionError if there is one of this name."""


class Flushes(Protocol):
    """The data coordinator's flushes."""

    async def flush(self, channels: Sequence[ChannelName]) -> Timestamp:
        """Return when every row up to the timestamp of the answer is stored."""


@dataclass(frozen=True)
class ReadReply:
    """The rows (key, value) of an answer by key; the moment of each channel; what the read had to see."""

    guarantee: Timestamp
    moments: dict[ChannelName, Timestamp]
    rows: tuple[tuple[int, str], ...]


class Gateway:
    """One proxy, as its clients see it. Every method raises errors of ``tidemark.impl.errors``."""

    def __init__(
        self,
        *,
        host: ProxyHost,
        oracle: Oracle,
        collections: Collections,
        segments: SegmentSource,
        reader: Reader,
        flushes: Flushes,
    ) -> None:
        self.name = host.name
        self._host = host
        self._oracle = oracle
        self._collections = collections
        self._segments = segments
        self._reader = reader
        self._flushes = flushes

    async def now(self) -> Timestamp:
        """A new timestamp of the oracle, for who reads by himself."""
        return await self._oracle.alloc(1)

    def channels(self, collection: str) -> tuple[ChannelName, ...]:
        """The virtual channels of a collection, by shard."""
        return self._collections.get(collection).channels

    async def create(self, collection: str, *, shards: int = 1) -> Timestamp:
        """Create a collection. Its timestamp."""
        return (await self._collections.create(collection, shards=shards)).created

    async def insert(self, collection: str, rows: Sequence[tuple[int, str]]) -> Timestamp:
        """Insert rows of (key, value). Their timestamp."""
        channels = self._collections.get(collection).channels
        return await self._write(insert_task(channels, rows, self._segments))

    async def delete(self, collection: str, keys: Sequence[int]) -> Timestamp:
        """Delete the rows of these keys. The timestamp of the delete."""
        channels = self._collections.get(collection).channels
        return await self._write(delete_task(channels, keys, self._segments))

    async def read(
        self,
        collection: str,
        level: ConsistencyLevel,
        *,
        keys: Sequence[int] | None = None,
        client_ts: Timestamp = ZERO,
    ) -> ReadReply:
        """Read all rows, or those of some keys. ``client_ts``: see ReadTask."""
        channels = self._collections.get(collection).channels
        some = None if keys is None else tuple(keys)
        task = ReadTask(level, channels, keys=some, client_ts=client_ts)
        answer = await self._reader.execute(task)
        rows = tuple(sorted((row.key, row.value) for row in answer.rows))
        return ReadReply(task.guarantee, dict(answer.moments), rows)

    async def flush(self, collection: str) -> Timestamp:
        """Store every row that was acknowledged before. The timestamp up to which everything is."""
        return await self._flushes.flush(self._collections.get(collection).channels)

    async def _write(self, task: WriteTask) -> Timestamp:
        if not task.channels:
            raise WriteFailedError("nothing to write; name at least one row or key")
        proxy = await self._host.serving()
        await proxy.submit(task)
        if not task.succeeded:
            nothing = all(outcome is AppendOutcome.REFUSED for outcome in task.outcomes.values())
            raise WriteFailedError(
                f"write {task.ts} was refused by {', '.join(task.channels)}; write again"
                if nothing
                else f"write {task.ts} is not known to be in every log; write again, it may come twice"
            )
        return task.ts
