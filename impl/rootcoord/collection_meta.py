"""The versions of collections, and how every proxy learns that one has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from tidemark.impl.ports import Preemption
from tidemark.impl.proxy.meta_cache import CollectionVersion
from tidemark.impl.timestamp import Timestamp

Edit = Callable[[CollectionVersion], CollectionVersion]
"""From the last version of a name to what is to be stored; its number is given to it afterwards."""


class MetaVersions(Protocol):
    """Where versions outlive the coordinator. Every method raises StoreError on failure."""

    async def save(self, record: CollectionVersion) -> None:
        """Store the version of a collection."""


class ProxyCaches(Protocol):
    """The proxies as the coordinator sees them."""

    def listed(self) -> Collection[str]:
        """The proxies whose sessions are known and have not ended. A new session has a new name."""

    async def invalidate(self, proxy: str, name: str, version: int) -> None:
        """Tell a proxy; return when it has answered, or when its session has ended."""


@dataclass(slots=True)
class Change:
    """A change that is stored and not acknowledged. ``told``: the proxies that have answered."""

    name: str
    told: set[str] = field(default_factory=set)


class CollectionMeta:
    """Changes go one by one. A change is acknowledged when every proxy has been told of it.

    Attributes:
        versions: by name.
        change: the one under way.
        acknowledged: by name, the version of the last change that was acknowledged.
        last: the version of the last change of any name.
    """

    def __init__(self, *, store: MetaVersions, proxies: ProxyCaches, preemption: Preemption) -> None:
        self.versions: dict[str, CollectionVersion] = {}
        self.acknowledged: dict[str, int] = {}
        self.change: Change | None = None
        self.last = 0
        self._store = store
        self._proxies = proxies
        self._preemption = preemption
        self._lock = asyncio.Lock()

    def describe(self, name: str) -> CollectionVersion:
        """The present version; version 0 of a collection that was never changed."""
        return self.versions.get(name, CollectionVersion(name, 0, ""))

    def load(self, records: Iterable[CollectionVersion]) -> None:
        """Take up what an earlier incarnation has stored. It may not have told the proxies: they are gone."""
        self.versions = {record.name: record for record in records}
        self.acknowledged = {name: record.version for name, record in self.versions.items()}
        self.last = max(self.acknowledged.values(), default=0)

    async def alter(self, name: str, schema: str) -> int:
        """Store a new schema and return its version when no proxy serves an older one any more."""
        return await self.apply(name, lambda old: replace(old, schema=schema))

    async def note_time(self, name: str, ts: Timestamp) -> CollectionVersion:
        """Store the timestamp of the last change. It is the same version."""
        async with self._lock:
            record = replace(self.describe(name), changed=ts)
            await self._store.save(record)
            self.versions[name] = record
            return record

    async def apply(self, name: str, edit: Edit) -> int:
        """Store the next version and return its number when no proxy serves an older one any more."""
        async with self._lock:
            record = replace(edit(self.describe(name)), version=self.last + 1)
            await self._store.save(record)
            self.last = record.version
            self.versions[name] = record
            self.change = Change(name)
            await self._tell_all(self.change, record.version)
            self.change = None
            self.acknowledged[name] = record.version
            return record.version

    async def _tell_all(self, change: Change, version: int) -> None:
        """Each proxy of the list, which is read again until it holds none that was not told."""
        while True:
            while missing := [proxy for proxy in sorted(self._proxies.listed()) if proxy not in change.told]:
                await self._proxies.invalidate(missing[0], change.name, version)
                change.told.add(missing[0])
            await self._preemption.point("meta.acknowledge")
            if all(proxy in change.told for proxy in self._proxies.listed()):
                return
