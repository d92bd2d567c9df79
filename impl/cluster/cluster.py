"""The embedded cluster: the roles put together, started in the order of their dependencies."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from tidemark.impl.broker.broker import CoordinatorStreams, ProxyStreams
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.cluster.foundation import Foundation
from tidemark.impl.cluster.releases import SqliteReleases
from tidemark.impl.cluster.replicas import ReplicaSet
from tidemark.impl.cluster.storage_side import StorageSide
from tidemark.impl.errors import CollectionError
from tidemark.impl.logs import log_of
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.gateway import Gateway
from tidemark.impl.proxy.host import ProxyHost
from tidemark.impl.proxy.ports import ProxyPorts
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.reads import ReaderConfig
from tidemark.impl.queries.reads import ChannelReads, HostNumbers
from tidemark.impl.queries.requests import ChannelReader, ResultCollector
from tidemark.impl.queries.streams import QueryStreams
from tidemark.impl.querynode.query_node import QueryNode, QueryNodePorts
from tidemark.impl.rootcoord.catalog import Catalog
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.impl.rootcoord.direct import DirectMetaSource, DirectProxyCaches, DirectRootCoordClient
from tidemark.impl.rootcoord.ports import RootCoordPorts
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.rpc import Calls
from tidemark.impl.runtime import NoPreemption, Supervisor
from tidemark.impl.storage.sqlite_catalog import SqliteCatalogStore
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.system.clocks import SystemTimestampClock
from tidemark.impl.timestamp import MILLISECOND, Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.messages import DdlMessage, virtual

_log = log_of(__package__)

P = ParamSpec("P")
Changing = Callable[Concatenate["Cluster", P], Coroutine[Any, Any, CollectionVersion]]


def _outlives_its_proxy(change: Changing[P]) -> Changing[P]:
    """A change of metadata is completed even if its proxy ends."""

    async def call(self: Cluster, /, *args: P.args, **kwargs: P.kwargs) -> CollectionVersion:
        return await self.changes.call(change(self, *args, **kwargs), name=change.__name__, deadline=None)

    functools.update_wrapper(call, change)
    return call


class Cluster:
    """One process of a cluster. A failure in any role is the cluster's failure: the next process recovers.

    gateways: the proxies as clients see them. requests: of each proxy, to the query nodes.
    changes: of metadata that are under way.
    """

    def __init__(self, root: Path, *, config: ClusterConfig | None = None) -> None:
        self.config = config if config is not None else ClusterConfig()
        self.directory = ClusterDirectory(root)
        self.supervisor = Supervisor()
        self.gateways: list[Gateway] = []
        self.hosts: list[ProxyHost] = []
        self.requests: list[ChannelReader] = []
        self.changes = Calls()
        self._stack = AsyncExitStack()
        self._loads = asyncio.Lock()
        """Held while a collection is loaded or released: the store has the last call to the nodes."""

    async def start(self) -> None:
        """Lock the directory, start every role, and recover the state of earlier processes."""
        self.directory.take()
        _log("starting running Milvus components")
        self._stack.callback(self.directory.give_back)
        foundation = self.foundation = Foundation(
            self.directory, config=self.config, supervisor=self.supervisor
        )
        await foundation.start(self._stack)
        await self._start_root_coord()
        storage = self.storage = StorageSide(self.directory, foundation=foundation, config=self.config)
        await storage.start(self._stack, supervisor=self.supervisor, take_number=self.catalog.take_number)
        self.replicas = ReplicaSet(
            coordinator=storage.coordinator, make=self._make_query_node, count=self.config.query_nodes
        )
        self._stack.push_async_callback(self.replicas.stop)
        self._releases = SqliteReleases(self.directory.releases)
        self._stack.push_async_callback(self._releases.close)
        await self._reopen()
        self.supervisor.spawn(storage.resume_flushes, "resumed flushes")
        self.supervisor.spawn(self._watch_query_nodes, "query nodes")
        self._start_proxies()
        self._stack.push_async_callback(self._stop_changes)
        await asyncio.gather(*(host.serving() for host in self.hosts))

    async def stop(self) -> None:
        """Stop in good order. It is not necessary: a killed process loses no acknowledged row."""
        await self.supervisor.stop()
        await self._stack.aclose()

    async def _stop_changes(self) -> None:
        """Cancel the changes under way: the next process finishes them."""
        running = list(self.changes.running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def wait_failed(self) -> None:
        """Wait until some role fails, then raise its failure."""
        await self.supervisor.wait_failed()

    async def _start_root_coord(self) -> None:
        foundation = self.foundation
        streams = CoordinatorStreams(foundation.broker)
        seconds = self.config.tick_seconds
        ddl = DdlSource(oracle=foundation.oracle, preemption=NoPreemption())
        self.root_coord = RootCoord(
            channels=self.config.channel_names,
            ports=RootCoordPorts(
                ddl=ddl, sessions=foundation.sessions, ticks=streams, clock=foundation.clock
            ),
            config=RootCoordConfig(ddl_tick_seconds=seconds, dummy_seconds=seconds),
        )
        await self.root_coord.start()
        self._stack.push_async_callback(self.root_coord.stop)
        self.supervisor.spawn(self.root_coord.supervisor.wait_failed, "root coordinator")
        store = SqliteCatalogStore(self.directory.catalog)
        self._stack.push_async_callback(store.close)

        async def announce(channel: ChannelName, ts: Timestamp, text: str) -> None:
            await streams.append(DdlMessage(ts, channel, text))

        self.caches = DirectProxyCaches(self.root_coord.sync)
        self.catalog = Catalog(
            store=store,
            scheduler=ddl.scheduler,
            announce=announce,
            place=self._place,
            proxies=self.caches,
            preemption=NoPreemption(),
            pause=partial(foundation.clock.sleep, seconds),
        )
        await self.catalog.load()
        await self.catalog.finish_changes()

    def _place(self, number: int, shards: int) -> tuple[ChannelName, ...]:
        """The shards of a collection in physical channels, one in each, beginning with another each time."""
        names = self.config.channel_names
        if not 1 <= shards <= len(names):
            raise CollectionError(f"{shards} shards; give 1 to {len(names)}, the number of physical channels")
        return tuple(virtual(names[(number + shard) % len(names)], number, shard) for shard in range(shards))

    async def _reopen(self) -> None:
        """Serve the collections of the catalogue that are not released. The data node stores the end of every
        channel that has not ended: the catalogue no longer names a dropped collection whose name was used
        again.
        """
        records = list(self.catalog.meta.versions.values())
        known = self.storage.coordinator.channels
        unended = [channel for channel, record in known.items() if not record.dropped]
        named = [channel for record in records for channel in record.channels]
        await self.storage.open(list(dict.fromkeys([*named, *unended])))
        released = await self._releases.load()
        await self._serve([record for record in records if record.number not in released])

    async def _open(self, record: CollectionVersion) -> None:
        await self.storage.open(record.channels)
        await self._serve([record])

    async def _serve(self, records: Sequence[CollectionVersion]) -> None:
        living = [record for record in records if record.exists]
        await asyncio.gather(*(self.replicas.load(one.title, one.channels) for one in living))

    @property
    def collections(self) -> Mapping[str, CollectionVersion]:
        """See ``Collections``."""
        return self.catalog.collections

    @_outlives_its_proxy
    async def create(self, name: str, *, shards: int, schema: str = "") -> CollectionVersion:
        """Create a collection and serve it: see ``Collections`` of the gateway."""
        record = await self.catalog.create(name, shards=shards, schema=schema)
        await self._open(record)
        return record

    @_outlives_its_proxy
    async def alter(self, name: str, *, schema: str) -> CollectionVersion:
        """Give a collection another schema."""
        return await self.catalog.alter(name, schema=schema)

    @_outlives_its_proxy
    async def drop(self, name: str) -> CollectionVersion:
        """Drop a collection. Its data node stores what precedes the drop, then its channels are collected."""
        record = await self.catalog.drop(name)
        async with self._loads:
            await self._releases.discard(record.number)
            await self._release(record)
        return record

    @_outlives_its_proxy
    async def create_alias(self, alias: str, collection: str) -> CollectionVersion:
        """See ``Collections`` of the gateway."""
        return await self.catalog.create_alias(alias, collection)

    @_outlives_its_proxy
    async def alter_alias(self, alias: str, collection: str) -> CollectionVersion:
        """See ``Collections`` of the gateway."""
        return await self.catalog.alter_alias(alias, collection)

    @_outlives_its_proxy
    async def drop_alias(self, alias: str) -> CollectionVersion:
        """See ``Collections`` of the gateway."""
        return await self.catalog.drop_alias(alias)

    @_outlives_its_proxy
    async def load(self, name: str) -> CollectionVersion:
        """Serve a released collection again, also in later processes."""
        async with self._loads:
            record = self._present(name)
            await self._releases.discard(record.number)
            await self.replicas.load(record.title, record.channels)
        return record

    @_outlives_its_proxy
    async def release(self, name: str) -> CollectionVersion:
        """Stop serving a collection, also in later processes, until it is loaded. All its reads fail."""
        async with self._loads:
            record = self._present(name)
            await self._releases.add(record.number)
            await self._release(record)
        return record

    async def _release(self, record: CollectionVersion) -> None:
        await self.replicas.release(record.title)
        for requests in self.requests:
            requests.release(record.title)

    def _present(self, name: str) -> CollectionVersion:
        record = self.catalog.meta.describe(name)
        if not record.exists or record.is_being_created:
            raise CollectionError(f"there is no collection {name!r}; create it first")
        return record

    def _make_query_node(self, number: int) -> QueryNode:
        broker = self.foundation.broker
        dispatchers = NodeDispatchers(broker, config=self.config.dispatchers)
        ports = QueryNodePorts(log=broker, store=self.storage.store, dispatchers=dispatchers)
        return QueryNode(node_id=f"query-node-{number + 1}", ports=ports)

    async def _watch_query_nodes(self) -> None:
        while True:
            await self.foundation.clock.sleep(self.config.tick_seconds)
            self.replicas.check()
            await self.replicas.load_flushed()
            await self.storage.collect_dropped()

    def _start_proxies(self) -> None:
        client, metadata = DirectRootCoordClient(self.root_coord), DirectMetaSource(self.catalog.meta)
        seconds = self.config.tick_seconds
        config = ProxyConfig(
            tick_seconds=seconds / 2,
            report_seconds=seconds,
            tick_interval_ts=int(seconds * 1000) * MILLISECOND,
        )
        foundation = self.foundation

        def make(source: int) -> Proxy:
            ports = ProxyPorts(
                oracle=foundation.oracle,
                streams=ProxyStreams(foundation.broker, source),
                root_coord=client,
                clock=foundation.clock,
                metadata=metadata,
                ids=foundation.ids,
            )
            proxy = Proxy(source=source, ports=ports, config=config)
            self.caches.add(source, proxy.meta)
            return proxy

        for number in range(self.config.proxies):
            host = ProxyHost(
                name=f"proxy-{number + 1}",
                sessions=foundation.sessions,
                clock=foundation.clock,
                make=make,
                lease=self.config.lease_seconds,
            )
            self.supervisor.spawn(host.run, host.name)
            self.hosts.append(host)
            self.gateways.append(self._make_gateway(host))

    def _make_gateway(self, host: ProxyHost) -> Gateway:
        config = ReaderConfig(graceful_ts=self.config.graceful_ts)
        queries, spawn = self.replicas.queries, self.supervisor.spawn
        requests = ChannelReader(
            numbers=HostNumbers(host),
            streams=QueryStreams(coordinator=queries, spawn=spawn, preemption=NoPreemption()),
            collector=ResultCollector(),
            preemption=NoPreemption(),
            deadline=config.deadline,
        )
        self.requests.append(requests)
        spawn(partial(requests.follow, queries.results()), f"results {host.name}")
        reader = ChannelReads(
            oracle=self.foundation.oracle, clock=SystemTimestampClock(), requests=requests, config=config
        )
        return Gateway(
            host=host,
            oracle=self.foundation.oracle,
            collections=self,
            segments=self.storage.allocator,
            reader=reader,
            flushes=self.storage.flushes,
        )
