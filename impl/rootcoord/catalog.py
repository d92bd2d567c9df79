"""Collections: what there is, and how one comes to be."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tidemark.impl.errors import CollectionError
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName

BATCH = 1 << 20
"""Numbers that one incarnation reserves ahead: collections and segments."""


@dataclass(frozen=True)
class CollectionRecord:
    """One collection. ``created``: its timestamp. ``channels``: its virtual channels, by shard."""

    number: int
    name: str
    created: Timestamp
    channels: tuple[ChannelName, ...]


class CatalogStore(Protocol):
    """Where the catalogue outlives its process. Every method raises StoreError on failure."""

    async def load(self) -> Sequence[CollectionRecord]:
        """Everything that was saved."""

    async def save(self, record: CollectionRecord) -> None:
        """Save a new collection."""

    async def reserve(self, count: int) -> int:
        """Reserve so many numbers that no call has given before. The first of them."""


Announce = Callable[[ChannelName, Timestamp], Awaitable[None]]
"""Append the message of a new collection to one of its channels."""
Placement = Callable[[int, int], tuple[ChannelName, ...]]
"""The virtual channels of a collection with so many shards."""


class Catalog:
    """The collections by name, and numbers for those who need new ones.

    A collection is there when it is saved: after its messages are in the logs, and before its creator is
    answered. A message of a collection that was never saved belongs to nothing, and is left alone.
    """

    def __init__(
        self, *, store: CatalogStore, scheduler: DdlScheduler, announce: Announce, place: Placement
    ) -> None:
        self.collections: dict[str, CollectionRecord] = {}
        self._store = store
        self._scheduler = scheduler
        self._announce = announce
        self._place = place
        self._lock = asyncio.Lock()
        self._next = self._end = 0

    async def load(self) -> None:
        """Take up what was saved, and reserve numbers. To be called once, before anything else."""
        self.collections = {record.name: record for record in await self._store.load()}
        self._next = await self._store.reserve(BATCH)
        self._end = self._next + BATCH

    def take_number(self) -> int:
        """A number that no other caller has. Raises CollectionError when this process has used up its own."""
        if self._next >= self._end:
            raise CollectionError(f"all {BATCH} numbers of this process are used; start the cluster again")
        self._next += 1
        return self._next - 1

    def get(self, name: str) -> CollectionRecord:
        """The collection. Raises CollectionError."""
        record = self.collections.get(name)
        if record is None:
            known = ", ".join(sorted(self.collections)) or "none"
            raise CollectionError(f"there is no collection {name!r}; known: {known}; create it first")
        return record

    async def create(self, name: str, *, shards: int) -> CollectionRecord:
        """Create a collection. Raises CollectionError if there is one of this name."""
        async with self._lock:
            if name in self.collections:
                raise CollectionError(f"there is a collection {name!r} already; use it, or another name")
            number = self.take_number()
            channels = self._place(number, shards)

            async def append(ts: Timestamp) -> None:
                await asyncio.gather(*(self._announce(channel, ts) for channel in channels))
                record = CollectionRecord(number, name, ts, channels)
                await self._store.save(record)
                self.collections[name] = record

            await self._scheduler.run_task(append)
            return self.collections[name]
