"""The calls of clients to one proxy, local or over the network."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Protocol, TypeVar

from tidemark.impl.errors import CollectionError, SchemaMismatchError, WriteFailedError
from tidemark.impl.proxy.pages import Page
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.queues import QueueKind
from tidemark.impl.proxy.reads import ReadAnswer, ReadTask
from tidemark.impl.proxy.values import AppendOutcome, CallTask
from tidemark.impl.proxy.writes import SegmentSource, WriteTask, delete_task, insert_task
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.nearest import Nearest
from tidemark.impl.values.oracle import Oracle

Answer = TypeVar("Answer")
Compose = Callable[[Sequence[ChannelName]], WriteTask]
"""The task of a write to a collection with these virtual channels."""


class Host(Protocol):
    """Keeps a proxy running. ``name``: of all its proxies, one after the other."""

    name: str

    async def serving(self) -> Proxy:
        """The present one, once it takes requests."""


class Reads(Protocol):
    """The proxy's read path."""

    async def execute(self, task: ReadTask) -> ReadAnswer:
        """Carry out a read."""


class Collections(Protocol):
    """The root coordinator's catalogue: each method raises CollectionError."""

    @property
    def collections(self) -> Mapping[str, CollectionVersion]:
        """The present ones by name."""

    async def create(self, name: str, *, shards: int, schema: str = "") -> CollectionVersion:
        """Create a collection; there may be none of this name."""

    async def alter(self, name: str, *, schema: str) -> CollectionVersion:
        """Give a collection another schema."""

    async def drop(self, name: str) -> CollectionVersion:
        """Drop a collection."""

    async def create_alias(self, alias: str, collection: str) -> CollectionVersion:
        """Create an alias of a collection; the name must be free."""

    async def alter_alias(self, alias: str, collection: str) -> CollectionVersion:
        """Point an alias to another collection."""

    async def drop_alias(self, alias: str) -> CollectionVersion:
        """Drop an alias."""

    async def load(self, name: str) -> CollectionVersion:
        """Serve a released collection again."""

    async def release(self, name: str) -> CollectionVersion:
        """Stop serving a collection."""


class Flushes(Protocol):
    """The data coordinator's flushes."""

    async def flush(self, channels: Sequence[ChannelName]) -> Timestamp:
        """Return when every row up to the timestamp of the answer is stored."""


@dataclass(frozen=True)
class ReadReply:
    """The rows (key, value) by key (nearest first), the moment of each channel, the guarantee."""

    guarantee: Timestamp
    moments: dict[ChannelName, Timestamp]
    rows: tuple[tuple[int, str], ...]


class Gateway:
    """One proxy, as its clients see it. Every method raises errors of ``tidemark.impl.errors``.

    Writes, reads, flushes and descriptions take a collection's name or an alias of it; calls that change a
    collection take its name.

    Changes of metadata, questions about them, and flushes are tasks of one queue of the proxy, which runs one
    at a time: a description waits for a creation that was asked for before. Writes and reads are tasks of two
    others. A timestamp comes from the oracle without a task. A write is checked against the metadata again
    when it has its timestamp, so that no write with a timestamp above a change has the replaced schema.
    """

    def __init__(
        self,
        *,
        host: Host,
        oracle: Oracle,
        collections: Collections,
        segments: SegmentSource,
        reader: Reads,
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
        """A new timestamp of the oracle, for clients that read by themselves."""
        return await self._oracle.alloc(1)

    async def describe(self, collection: str) -> CollectionVersion:
        """The collection as this proxy knows it when its turn has come. Raises CollectionError."""
        return await self._in_turn(lambda proxy: _present(proxy, collection))

    async def has(self, collection: str) -> bool:
        """Whether there is a collection of this name or alias."""
        return (await self._in_turn(lambda proxy: proxy.meta.resolve(collection))).exists

    async def show(self) -> tuple[str, ...]:
        """The names of all collections, in order."""

        async def execute(_: Proxy) -> tuple[str, ...]:
            return tuple(sorted(self._collections.collections))

        return await self._in_turn(execute)

    async def create(self, collection: str, *, shards: int = 1, schema: str = "") -> Timestamp:
        """Create a collection. Its timestamp."""
        made = await self._change(partial(self._collections.create, collection, shards=shards, schema=schema))
        return made.created

    async def alter(self, collection: str, *, schema: str) -> Timestamp:
        """Give a collection another schema. The timestamp of the change."""
        return (await self._change(partial(self._collections.alter, collection, schema=schema))).changed

    async def drop(self, collection: str) -> Timestamp:
        """Drop a collection. The timestamp after which no row is written to it."""
        return (await self._change(partial(self._collections.drop, collection))).changed

    async def create_alias(self, alias: str, collection: str) -> Timestamp:
        """Create an alias of a collection. Its timestamp."""
        return (await self._change(partial(self._collections.create_alias, alias, collection))).changed

    async def alter_alias(self, alias: str, collection: str) -> Timestamp:
        """Point an alias to another collection. Requests with a greater timestamp go to that one."""
        return (await self._change(partial(self._collections.alter_alias, alias, collection))).changed

    async def drop_alias(self, alias: str) -> Timestamp:
        """Drop an alias. The timestamp from which on it is unknown."""
        return (await self._change(partial(self._collections.drop_alias, alias))).changed

    async def load(self, collection: str) -> None:
        """Serve a released collection again. Returns when every query node serves it."""
        await self._change(partial(self._collections.load, collection))

    async def release(self, collection: str) -> None:
        """Stop serving a collection: reads fail, also waiting ones. Writes continue."""
        await self._change(partial(self._collections.release, collection))

    async def insert(
        self, collection: str, rows: Sequence[tuple[int, str]], *, version: int | None = None
    ) -> Timestamp:
        """Insert rows of (key, value). Their timestamp.

        ``version``: of the collection for which the rows were made. Raises SchemaMismatchError for another.
        """
        return await self._write(
            collection, lambda channels: insert_task(channels, rows, self._segments), version=version
        )

    async def insert_values(
        self, collection: str, values: Sequence[str]
    ) -> tuple[Timestamp, tuple[int, ...]]:
        """Insert rows whose primary keys are made here. Their timestamp, and their keys.

        Errors as for ``insert``, and RpcError if there are no ids. A row that is sent again has another key.
        """
        if not values:
            raise WriteFailedError("nothing to write; give at least one value")
        ids = (await self._host.serving()).ids
        if ids is None:
            raise WriteFailedError("this proxy has no source of ids; give the rows keys")
        keys = tuple(
            chain.from_iterable(range(first, last + 1) for first, last in await ids.take(len(values)))
        )
        return await self.insert(collection, list(zip(keys, values, strict=True))), keys

    async def delete(self, collection: str, keys: Sequence[int]) -> Timestamp:
        """Delete the rows of these keys. The timestamp of the delete."""
        return await self._write(collection, lambda channels: delete_task(channels, keys, self._segments))

    async def read(
        self,
        collection: str,
        level: ConsistencyLevel,
        *,
        keys: Sequence[int] | None = None,
        client_ts: Timestamp = ZERO,
        nearest: Nearest | None = None,
        page: Page | None = None,
    ) -> ReadReply:
        """Read all rows, those of some keys, the nearest, or a page of all. ``client_ts``: see ReadTask.

        A further page shows the moments of the first one at any level. Raises UnknownChannelError if the
        collection has a channel that the first has not shown.
        """
        some = None if keys is None else tuple(keys)
        first = None if page is None else page.first

        async def execute(proxy: Proxy) -> ReadReply:
            known = await _present(proxy, collection)
            task = ReadTask(
                level, known.channels, keys=some, client_ts=client_ts, page_of=first, nearest=nearest
            )
            task.collection = known.title
            answer = await self._reader.execute(task)
            rows = [(row.key, row.value) for row in answer.rows]
            listed = tuple(sorted(rows) if nearest is None else rows)
            listed = listed if page is None else page.cut(listed)
            return ReadReply(task.guarantee, dict(answer.moments), listed)

        return await self._call(QueueKind.QUERY, "query nodes", execute)

    async def flush(self, collection: str) -> Timestamp:
        """Store every row that was acknowledged before. The timestamp up to which all rows are stored."""

        async def execute(proxy: Proxy) -> Timestamp:
            return await self._flushes.flush((await _present(proxy, collection)).channels)

        return await self._call(QueueKind.DDL, "data coordinator", execute)

    async def _change(self, change: Callable[[], Awaitable[CollectionVersion]]) -> CollectionVersion:
        return await self._in_turn(lambda _: change())

    async def _in_turn(self, execute: Callable[[Proxy], Awaitable[Answer]]) -> Answer:
        return await self._call(QueueKind.DDL, "root coordinator", execute)

    async def _call(
        self, kind: QueueKind, component: str, execute: Callable[[Proxy], Awaitable[Answer]]
    ) -> Answer:
        """A task of a queue. No call uses its timestamp: changes and flushes take others of their own."""
        proxy = await self._host.serving()
        task = CallTask[Answer]((component,), call=lambda _: execute(proxy))
        await proxy.submit(task, kind)
        if task.failure is not None:
            raise task.failure
        assert task.answer is not None
        return task.answer

    async def _write(self, collection: str, compose: Compose, *, version: int | None = None) -> Timestamp:
        proxy = await self._host.serving()
        known = await _present(proxy, collection)
        if version is not None and version != known.version:
            raise SchemaMismatchError(
                f"the rows are made for version {version} of {collection!r}, which has version"
                f" {known.version} here; read the schema again"
            )
        task = compose(known.channels)
        if not task.channels:
            raise WriteFailedError("nothing to write; name at least one row or key")
        task.name, task.known, task.metadata = collection, known, proxy.meta
        await proxy.submit(task)
        if not task.succeeded:
            nothing = all(outcome is AppendOutcome.REFUSED for outcome in task.outcomes.values())
            raise WriteFailedError(
                f"write {task.ts} was refused by {', '.join(task.channels)}; write again"
                if nothing
                else f"write {task.ts} is not known to be in every log; write again, it may come twice"
            )
        return task.ts


async def _present(proxy: Proxy, collection: str) -> CollectionVersion:
    """The collection of a name or alias, from the proxy's cache. Raises CollectionError if there is none."""
    found = await proxy.meta.resolve(collection)
    if not found.exists:
        raise CollectionError(f"there is no collection {collection!r}; create it first")
    return found
