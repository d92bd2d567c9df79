"""Remote calls between a root coordinator and proxies of the same process."""

from collections.abc import Collection

from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.rootcoord.collection_meta import CollectionMeta
from tidemark.impl.rootcoord.ids import IdAllocator
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.rootcoord.time_tick_sync import TimeTickSync
from tidemark.impl.rpc import Calls
from tidemark.impl.timestamp import Batch
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.report import SourceId, TimeTickReport


class DirectRootCoordClient:
    """Reports of proxies. ``root_coord`` is replaced when a new incarnation takes over."""

    def __init__(self, root_coord: RootCoord) -> None:
        self.root_coord = root_coord
        self._calls = Calls()

    async def update_channel_time_tick(self, report: TimeTickReport, *, deadline: float) -> None:
        """Report."""
        handler = self.root_coord.update_channel_time_tick(report)
        await self._calls.call(handler, name="UpdateChannelTimeTick", deadline=deadline)


class DirectMetaSource:
    """Lookups of the caches of proxies."""

    def __init__(self, meta: CollectionMeta) -> None:
        self._meta = meta

    async def describe(self, name: str) -> CollectionVersion:
        """See MetaSource."""
        return await self._meta.answer(name)


class DirectIdClient:
    """Ids for proxies. See ``IdSource``."""

    def __init__(self, allocator: IdAllocator) -> None:
        self._allocator = allocator
        self._calls = Calls()

    async def allocate(self, count: int, *, deadline: float) -> Batch:
        """See IdSource."""
        handler = self._allocator.allocate(count)
        return await self._calls.call(handler, name="AllocID", deadline=deadline)


class DirectProxyCaches:
    """The proxies' caches, by session. See ``ProxyCaches``.

    A proxy serves once its first report was accepted: it is known then. After the end of its session it is
    not invalidated any more, and its cache serves no more.
    """

    def __init__(self, sync: TimeTickSync) -> None:
        self._sync = sync
        self._caches: dict[SourceId, MetaCache] = {}
        self._known: tuple[SourceId, ...] = ()

    def add(self, source: SourceId, cache: MetaCache) -> None:
        """A proxy has begun."""
        self._caches[source] = cache

    def listed(self) -> Collection[str]:
        """See ProxyCaches."""
        for source in self._known:
            if source not in self._sync.entries:
                self._caches.pop(source).close()
        self._known = tuple(source for source in self._caches if source in self._sync.entries)
        return [str(source) for source in self._known]

    async def invalidate(self, proxy: str, name: str, version: int) -> None:
        """See ProxyCaches."""
        self._caches[SourceId(proxy)].invalidate(name, version)
