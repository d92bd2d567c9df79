"""The versions of collections, and their invalidation at every proxy."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from tidemark.impl.errors import RpcError, StoreError
from tidemark.impl.ports import Preemption
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.collection_version import CollectionVersion

Answer = TypeVar("Answer")
Pause = Callable[[], Awaitable[None]]
"""The pause before a failed step is repeated."""
Edit = Callable[[CollectionVersion], CollectionVersion]
"""From the last version of a name to the next one; the caller gives it its number."""


async def no_pause() -> None:
    """Let others run."""
    await asyncio.sleep(0)


async def until_done(step: Callable[[], Awaitable[Answer]], pause: Pause) -> Answer:
    """Repeat a step until it succeeds. A failed one may have taken effect: repeating it does no harm."""
    while True:
        try:
            return await step()
        except (RpcError, StoreError):
            await pause()


class MetaVersions(Protocol):
    """The store of the versions. Every method raises StoreError on failure."""

    async def save(self, record: CollectionVersion) -> None:
        """Store the version of a collection."""


class ProxyCaches(Protocol):
    """The caches of the proxies.

    Milvus: InvalidateCollectionMetaCache
    """

    def listed(self) -> Collection[str]:
        """The proxies whose sessions are known and have not ended. A new session has a new name."""

    async def invalidate(self, proxy: str, name: str, version: int) -> None:
        """Invalidate at a proxy; return when it has answered, or when its session has ended."""


@dataclass(slots=True)
class Change:
    """A stored change that is not acknowledged. ``told``: the proxies that have answered."""

    name: str
    told: set[str] = field(default_factory=set)


class CollectionMeta:
    """Changes go one by one. A change is acknowledged when every proxy has answered its invalidation.

    Milvus: DescribeCollection

    A failed save has an unknown outcome: it is repeated after ``pause`` until it succeeds. So a begun change
    never counts as one without effect.

    Attributes:
        versions: by name.
        change: the one under way.
        acknowledged: by name, the version of the last change of which it is known that it was acknowledged.
        last: the version of the last change of any name.
    """

    def __init__(
        self, *, store: MetaVersions, proxies: ProxyCaches, preemption: Preemption, pause: Pause = no_pause
    ) -> None:
        self.versions: dict[str, CollectionVersion] = {}
        self.acknowledged: dict[str, int] = {}
        self.change: Change | None = None
        self.last = 0
        self._store = store
        self._proxies = proxies
        self._preemption = preemption
        self._pause = pause
        self._noted = asyncio.Event()
        self._lock = asyncio.Lock()

    def describe(self, name: str) -> CollectionVersion:
        """The present version; version 0 of a collection that was never changed."""
        return self.versions.get(name, CollectionVersion(name, 0, ""))

    async def answer(self, name: str) -> CollectionVersion:
        """The present version, for a proxy. While a collection is being created the answer waits: a request
        before its timestamp must not write to it, and one after it must not miss it.
        """
        while self.describe(name).is_being_created:
            await self._noted.wait()
            await self._preemption.point("meta.answer")
        return self.describe(name)

    def load(self, records: Iterable[CollectionVersion]) -> None:
        """Load the versions of an earlier incarnation. A change that has its timestamp was acknowledged; of
        another one nobody knows which proxies were told: see ``tell_again``.
        """
        self.versions = {record.name: record for record in records}
        self.acknowledged = {name: one.version for name, one in self.versions.items() if one.changed}
        self.last = max((record.version for record in self.versions.values()), default=0)

    async def tell_again(self, name: str) -> None:
        """Return when no proxy serves an older version than the stored one: proxies outlive a coordinator."""
        async with self._lock:
            await self._acknowledge(self.describe(name))

    async def alter(self, name: str, schema: str) -> int:
        """Store a new schema and return its version when no proxy serves an older one any more."""
        return await self.apply(name, lambda old: replace(old, schema=schema))

    async def note_time(self, name: str, ts: Timestamp) -> CollectionVersion:
        """Store the timestamp of the last change. It is the same version."""
        async with self._lock:
            known = self.describe(name)
            created = ts if known.is_being_created else known.created
            record = replace(known, created=created, changed=ts)
            await self._save(record)
            self.versions[name] = record
            self._noted.set()
            self._noted = asyncio.Event()
            return record

    async def apply(self, name: str, edit: Edit) -> int:
        """Store the next version and return its number when no proxy serves an older one any more."""
        async with self._lock:
            record = replace(edit(self.describe(name)), version=self.last + 1)
            await self._save(record)
            self.last = record.version
            self.versions[name] = record
            await self._acknowledge(record)
            return record.version

    async def _acknowledge(self, record: CollectionVersion) -> None:
        self.change = Change(record.name)
        await self._tell_all(self.change, record.version)
        self.change = None
        self.acknowledged[record.name] = record.version

    async def _save(self, record: CollectionVersion) -> None:
        await until_done(lambda: self._store.save(record), self._pause)

    async def _tell_all(self, change: Change, version: int) -> None:
        while True:
            while missing := [proxy for proxy in sorted(self._proxies.listed()) if proxy not in change.told]:
                await self._proxies.invalidate(missing[0], change.name, version)
                change.told.add(missing[0])
            await self._preemption.point("meta.acknowledge")
            if all(proxy in change.told for proxy in self._proxies.listed()):
                return
