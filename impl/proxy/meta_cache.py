"""A proxy's cache of the metadata of collections."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Protocol

from tidemark.impl.errors import RpcError, SessionEndedError
from tidemark.impl.ports import Preemption
from tidemark.impl.values.collection_version import CollectionVersion


class MetaSource(Protocol):
    """The root coordinator as a proxy's cache sees it."""

    async def describe(self, name: str) -> CollectionVersion:
        """The present version of the collection; see ``CollectionVersion.exists``. Raises RpcError."""


class NoMetadata:
    """The coordinator of a proxy without metadata."""

    async def describe(self, name: str) -> CollectionVersion:
        """See MetaSource."""
        raise RpcError(f"collection {name!r}: this proxy has no source of metadata; give it one in its ports")


@dataclass(eq=False, slots=True)
class Flight:
    """One fetch from the coordinator, shared by all tasks that wait for it.

    Attributes:
        leader: the task that asks.
        waiting: the tasks that wait, with the leader.
        answer: None until the coordinator has answered.
        over: set when no task waits any more; without an answer, the question has failed.
    """

    leader: str
    waiting: list[str] = field(default_factory=list)
    answer: CollectionVersion | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)


class MetaCache:
    """Entries of collections; one fetch at a time for each name; invalidations of the coordinator.

    Milvus: globalMetaCache, GetCollectionID, GetCollectionSchema, RemoveCollection

    The cache does not keep an answer that is older than the last invalidation; the waiting tasks get it.
    After an invalidation no task joins an earlier fetch.

    Args:
        source: the coordinator.
        preemption: where other tasks may run between an answer and its entry.
    """

    def __init__(self, *, source: MetaSource, preemption: Preemption) -> None:
        self.entries: dict[str, CollectionVersion] = {}
        self.floors: dict[str, int] = {}
        self.shared: dict[str, Flight] = {}
        self.flights: list[Flight] = []
        self.closed = False
        self._source = source
        self._preemption = preemption

    async def get(self, name: str) -> CollectionVersion:
        """The collection, from the cache or from the coordinator.

        A fetch that fails, or whose asker is cancelled, fails for the asker alone: the others ask again.

        Raises RpcError if the coordinator does not answer, SessionEndedError after ``close``.
        """
        while not self.closed:
            entry = self.entries.get(name)
            if entry is not None:
                return entry
            flight = self.shared.get(name)
            if flight is None:
                return await self._ask(name)
            await self._wait_for(flight)
            if flight.answer is not None:
                return flight.answer
            if not self.closed:
                await self._preemption.point("meta.again")
        raise SessionEndedError("the proxy's session has ended; connect to another proxy")

    async def resolve(self, name: str) -> CollectionVersion:
        """The collection that a name means: of this name, or with this alias. Its version is that of the last
        change of either.

        The entry of an alias has the collection's name and number. The number is compared: an alias may be
        altered, and the name given to another collection, between the two lookups; the alias is looked up
        again then.

        Raises as ``get``.
        """
        while True:
            record = await self.get(name)
            if not record.is_alias:
                return record
            meant = await self.get(record.alias_of)
            if meant.exists and meant.number == record.number:
                return replace(meant, version=max(record.version, meant.version))
            if self.entries.get(name) is record:
                del self.entries[name]

    async def _wait_for(self, flight: Flight) -> None:
        flight.waiting.append(_task())
        try:
            await flight.over.wait()
        except asyncio.CancelledError:
            flight.waiting.remove(_task())
            raise

    async def _ask(self, name: str) -> CollectionVersion:
        flight = Flight(_task(), [_task()])
        self.shared[name] = flight
        self.flights.append(flight)
        taken = False
        try:
            answer = await self._source.describe(name)
            flight.answer = answer
            await self._preemption.point("meta.insert")
            self._take(answer)
            taken = True
        finally:
            if not taken:
                flight.answer = None
            self.flights.remove(flight)
            if self.shared.get(name) is flight:
                del self.shared[name]
            flight.over.set()
        return answer

    def _take(self, answer: CollectionVersion) -> None:
        if self.closed:
            raise SessionEndedError("the proxy's session has ended; connect to another proxy")
        self.insert(answer)

    def insert(self, answer: CollectionVersion) -> None:
        """Keep an answer, unless a newer version is known."""
        if answer.version >= self.floors.get(answer.name, 0):
            self.entries[answer.name] = answer

    def invalidate(self, name: str, version: int) -> None:
        """Forget versions older than this one, and fetches under way."""
        self.floors[name] = max(self.floors.get(name, 0), version)
        self.entries.pop(name, None)
        self.shared.pop(name, None)

    def close(self) -> None:
        """The session has ended: the cache serves no more."""
        self.closed = True
        self.entries.clear()
        self.shared.clear()
        for flight in self.flights:
            flight.answer = None
            flight.over.set()


def _task() -> str:
    task = asyncio.current_task()
    return task.get_name() if task is not None else ""
