"""Collections: creation, changes, end."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from tidemark.impl.errors import CollectionError
from tidemark.impl.ports import Preemption
from tidemark.impl.rootcoord.collection_meta import (
    CollectionMeta,
    Edit,
    Pause,
    ProxyCaches,
    no_pause,
    until_done,
)
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.collection_version import CollectionVersion

BATCH = 1 << 20
"""Numbers that one incarnation reserves: for collections and segments."""


class CatalogStore(Protocol):
    """The store of the catalogue. Every method raises StoreError on failure."""

    async def load(self) -> Sequence[CollectionVersion]:
        """The last version of each name."""

    async def save(self, record: CollectionVersion) -> None:
        """Save the version of a collection, in place of the one before."""

    async def reserve(self, count: int) -> int:
        """Reserve new numbers. The first of them."""


Announce = Callable[[ChannelName, Timestamp, str], Coroutine[Any, Any, None]]
"""Append the message of a change (``create``, ``alter``, ``drop``) to one of the collection's channels."""
Placement = Callable[[int, int], tuple[ChannelName, ...]]
"""The virtual channels of a collection with so many shards."""


class Catalog:
    """The collections by name, and new numbers.

    Milvus: ShowCollections, CreateCollection, DropCollection

    An alias is a name with versions of its own. It is never a collection's name, and its collection exists:
    one that has an alias is not dropped. A change of an alias has a timestamp, and no message in the logs.

    The creation of a collection, its change and its end take their timestamp when every proxy has
    acknowledged: a write that a proxy has checked before has a smaller one. So no message follows a drop in
    the logs. Proxies get no answer about a stored collection until its creation has its timestamp and its
    messages are in the logs (``CollectionMeta.answer``): so no message precedes them.

    A stored change is completed: a refusal of the oracle or a log is retried. A call that raises has changed
    nothing.

    Attributes:
        meta: the versions. That of a dropped collection stays: its name may be used again.
    """

    def __init__(
        self,
        *,
        store: CatalogStore,
        scheduler: DdlScheduler,
        announce: Announce,
        place: Placement,
        proxies: ProxyCaches,
        preemption: Preemption,
        pause: Pause = no_pause,
    ) -> None:
        self.meta = CollectionMeta(store=store, proxies=proxies, preemption=preemption, pause=pause)
        self._store = store
        self._scheduler = scheduler
        self._announce = announce
        self._place = place
        self._pause = pause
        self._lock = asyncio.Lock()
        self._next = self._end = 0

    @property
    def collections(self) -> dict[str, CollectionVersion]:
        """The collections by name."""
        return {name: record for name, record in self.meta.versions.items() if record.exists}

    @property
    def aliases(self) -> dict[str, str]:
        """The name of the collection, by alias."""
        found = {name: record.alias_of for name, record in self.meta.versions.items() if record.is_alias}
        return dict(sorted(found.items()))

    async def load(self) -> None:
        """Load the saved versions, and reserve numbers. To be called once, before anything else."""
        self.meta.load(await self._store.load())
        self._next = await self._store.reserve(BATCH)
        self._end = self._next + BATCH

    async def finish_changes(self) -> None:
        """Tell all proxies again of each unfinished change of an earlier incarnation, and give it a time."""
        async with self._lock:
            for name, record in list(self.meta.versions.items()):
                if _is_unfinished(record):
                    await self.meta.tell_again(name)
                    await self._finish(name)

    def take_number(self) -> int:
        """A new number. Raises CollectionError when this process has used up its own."""
        if self._next >= self._end:
            raise CollectionError(f"all {BATCH} numbers of this process are used; start the cluster again")
        self._next += 1
        return self._next - 1

    def get(self, name: str) -> CollectionVersion:
        """The collection. Raises CollectionError."""
        record = self.meta.describe(name)
        if record.is_alias:
            raise CollectionError(f"{name!r} is an alias of {record.alias_of!r}; name the collection itself")
        if not record.exists:
            known = ", ".join(sorted(self.collections)) or "none"
            raise CollectionError(f"there is no collection {name!r}; known: {known}; create it first")
        return record

    async def create(self, name: str, *, shards: int, schema: str = "") -> CollectionVersion:
        """Create a collection. Raises CollectionError if there is one of this name."""
        async with self._lock:
            await self._finish(name)
            self._check_is_free(name)
            number = self.take_number()
            made = CollectionVersion(name, 0, schema, number=number, channels=self._place(number, shards))
            return await self._change(name, lambda old: replace(made, version=old.version))

    async def alter(self, name: str, *, schema: str) -> CollectionVersion:
        """Give a collection another schema. Raises CollectionError if there is none of this name."""
        async with self._lock:
            await self._finish(name)
            self.get(name)
            return await self._change(name, lambda old: replace(old, schema=schema, changed=ZERO))

    async def drop(self, name: str) -> CollectionVersion:
        """Drop a collection: no row is written to it after the timestamp of the answer. Its last version.

        Raises CollectionError if there is none of this name, or if it has an alias.
        """
        async with self._lock:
            await self._finish(name)
            self.get(name)
            self._check_has_no_alias(name)
            return await self._change(name, lambda old: replace(old, gone=True, changed=ZERO))

    async def create_alias(self, alias: str, collection: str) -> CollectionVersion:
        """Give a collection another name.

        Raises CollectionError if there is no such collection, or if the name is taken.
        """
        async with self._lock:
            await self._finish(alias)
            self._check_is_free(alias)
            return await self._point(alias, collection)

    async def alter_alias(self, alias: str, collection: str) -> CollectionVersion:
        """Point an alias to another collection.

        Its timestamp is taken when every proxy knows it: requests with a greater one go to that collection.
        Raises CollectionError if there is no such alias or collection.
        """
        async with self._lock:
            await self._finish(alias)
            self._check_is_alias(alias)
            return await self._point(alias, collection)

    async def drop_alias(self, alias: str) -> CollectionVersion:
        """Drop an alias. Raises CollectionError if there is none of this name."""
        async with self._lock:
            await self._finish(alias)
            self._check_is_alias(alias)
            return await self._change(alias, lambda old: replace(old, gone=True, changed=ZERO))

    async def _point(self, alias: str, collection: str) -> CollectionVersion:
        number = self.get(collection).number
        made = CollectionVersion(alias, 0, "", number=number, alias_of=collection)
        return await self._change(alias, lambda old: replace(made, version=old.version))

    def _check_is_free(self, name: str) -> None:
        if name in self.aliases:
            raise CollectionError(f"{name!r} is an alias of {self.aliases[name]!r}; use another name")
        if self.meta.describe(name).exists:
            raise CollectionError(f"there is a collection {name!r} already; use it, or another name")

    def _check_is_alias(self, name: str) -> None:
        if name not in self.aliases:
            raise CollectionError(f"there is no alias {name!r}; known: {', '.join(self.aliases) or 'none'}")

    def _check_has_no_alias(self, name: str) -> None:
        """An alias always points to a collection that exists."""
        if found := [alias for alias, collection in self.aliases.items() if collection == name]:
            raise CollectionError(f"collection {name!r} has the aliases {', '.join(found)}; drop them first")

    async def _change(self, name: str, edit: Edit) -> CollectionVersion:
        await self.meta.apply(name, edit)
        return await self._finish(name)

    async def _finish(self, name: str) -> CollectionVersion:
        """Give the last change of a collection its timestamp, if it has none, and a place in the logs."""
        record = self.meta.describe(name)
        if not _is_unfinished(record):
            return record
        stamp = partial(self._scheduler.run_task, partial(self._append_change, record))
        return await self.meta.note_time(name, await until_done(stamp, self._pause))

    async def _append_change(self, record: CollectionVersion, ts: Timestamp) -> None:
        text = "create" if record.is_being_created else "drop" if record.gone else "alter"
        await self._announce_all(record.channels, ts, text)

    async def _announce_all(self, channels: Sequence[ChannelName], ts: Timestamp, text: str) -> None:
        """Append to each channel; on return or error, no append with the timestamp is under way."""
        appends = [
            asyncio.create_task(self._announce(channel, ts, text), name=f"{text} {channel}")
            for channel in channels
        ]
        for outcome in await asyncio.gather(*appends, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome


def _is_unfinished(record: CollectionVersion) -> bool:
    """The change is stored, and has no timestamp."""
    return not record.changed and bool(record.channels or record.alias_of)
