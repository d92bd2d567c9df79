"""The calls of a user's program: collections, inserts, deletes, reads with a consistency level, flushes."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.impl.client.history import History, runs
from tidemark.impl.client.schemas import SchemaCache
from tidemark.impl.client.session import Session
from tidemark.impl.system.connection import Connection, ConnectionLostError, Json, RequestRefusedError
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.nearest import Nearest

MAY_HAVE_HAPPENED = ("WriteFailedError", "RpcTimeoutError", "ProxyEndedError")
"""Errors after which a write may be in the log."""


@dataclass(frozen=True)
class Result:
    """The result of a read: rows by key (nearest first), its guarantee, the moment of each channel."""

    rows: dict[int, str]
    guarantee: Timestamp
    moments: dict[str, Timestamp]

    @property
    def moment(self) -> Timestamp:
        """The greatest of the moments."""
        return max(self.moments.values())


class Client:
    """One client. It carries its session's timestamp along, keeps the versions of its collections, and notes
    its operations if it has a history.

    Milvus: PyMilvus

    Every method raises RequestRefusedError for an error of the cluster, and ConnectionLostError when no
    answer comes: a write may then have been carried out.
    """

    def __init__(self, connection: Connection, *, history: History | None = None) -> None:
        self.connection = connection
        self.session = Session()
        self.schemas = SchemaCache(self._version_of)
        self._history = history

    async def create(self, collection: str, *, shards: int = 1, schema: str = "") -> Timestamp:
        """Create a collection. Its timestamp."""
        answer = await self._call("create", collection, {}, shards=shards, schema=schema)
        return self._known(answer["ts"])

    async def alter(self, collection: str, schema: str) -> Timestamp:
        """Give a collection another schema. The timestamp of the change: later writes are for it."""
        answer = await self._call("alter", collection, {}, schema=schema)
        return self._known(answer["ts"])

    async def drop(self, collection: str) -> Timestamp:
        """Drop a collection. The timestamp after which no row is written to it."""
        answer = await self._call("drop", collection, {})
        return self._known(answer["ts"])

    async def load(self, collection: str) -> None:
        """Serve a released collection again. A new collection is served."""
        await self._call("load", collection, {})

    async def release(self, collection: str) -> None:
        """Stop serving a collection, until it is loaded. Its reads fail; writes continue."""
        await self._call("release", collection, {})

    async def create_alias(self, alias: str, collection: str) -> Timestamp:
        """Give a collection another name. Aliases are not in the history, which knows collections."""
        return await self._change_alias("create_alias", alias=alias, collection=collection)

    async def alter_alias(self, alias: str, collection: str) -> Timestamp:
        """Point an alias to another collection. The timestamp: later writes go to that one."""
        return await self._change_alias("alter_alias", alias=alias, collection=collection)

    async def drop_alias(self, alias: str) -> Timestamp:
        """Drop an alias."""
        return await self._change_alias("drop_alias", alias=alias)

    async def insert(self, collection: str, rows: Mapping[int, str]) -> Timestamp:
        """Insert rows by key, without a look for existing keys. Their timestamp.

        If the collection has changed since its schema was read, the schema is read again and the rows are
        sent once more: see ``SchemaCache.retried``.
        """
        facts, given = {"keys": runs(rows)}, [[key, rows[key]] for key in rows]

        async def insert(version: int) -> Json:
            return await self._call("insert", collection, facts, rows=given, version=version)

        answer = await self.schemas.retried(collection, insert)
        return self._known(answer["ts"])

    async def delete(self, collection: str, keys: Iterable[int]) -> Timestamp:
        """Delete rows by key. The timestamp of the delete."""
        chosen = sorted(set(keys))
        answer = await self._call("delete", collection, {"keys": runs(chosen)}, keys=chosen)
        return self._known(answer["ts"])

    async def query(
        self,
        collection: str,
        *,
        level: ConsistencyLevel = ConsistencyLevel.BOUNDED,
        keys: Iterable[int] | None = None,
        at_least: Timestamp = ZERO,
    ) -> Result:
        """Read all rows, or those of some keys. ``at_least``: the guarantee of a customized read."""
        chosen = None if keys is None else sorted(set(keys))
        return await self._read("query", collection, level, at_least, keys=chosen)

    async def search(
        self,
        collection: str,
        *,
        near: int,
        limit: int = 10,
        level: ConsistencyLevel = ConsistencyLevel.BOUNDED,
        at_least: Timestamp = ZERO,
    ) -> Result:
        """Read the ``limit`` rows whose keys are nearest to ``near``, nearest first. It may miss the same
        rows as a query of this level. Raises ValueError for a limit below 1.
        """
        asked = Nearest(near, limit)
        return await self._read(
            "search", collection, level, at_least, keys=None, nearest=[asked.place, asked.limit]
        )

    async def _read(
        self, operation: str, collection: str, level: ConsistencyLevel, at_least: Timestamp, **asked: Any
    ) -> Result:
        named = self._named(level, at_least)
        facts: dict[str, Any] = {"level": level.value.capitalize(), "keys": runs(asked["keys"] or ())}
        if level is ConsistencyLevel.CUSTOMIZED:
            facts["guarantee"] = at_least
        answer = await self._call(operation, collection, facts, level=level.value, ts=named, **asked)
        return self._found(answer)

    def _named(self, level: ConsistencyLevel, at_least: Timestamp) -> Timestamp:
        return self.session.timestamp if level is ConsistencyLevel.SESSION else at_least

    def _found(self, answer: Json) -> Result:
        """The result of an answer; the session carries its moment along."""
        found = Result(dict(answer["rows"]), answer["guarantee"], answer["moments"])
        self.session.saw(found.moment)
        return found

    async def pages(
        self,
        collection: str,
        *,
        size: int = 1_000,
        level: ConsistencyLevel = ConsistencyLevel.BOUNDED,
        at_least: Timestamp = ZERO,
    ) -> AsyncIterator[Result]:
        """Read all rows by key, ``size`` keys a page. The last page is not full, and may be empty.

        Every page shows of each channel the moment of the first one: later rows are on none, and all pages
        together are one answer. It may miss the same rows as a query of this level. Pages are not in the
        history, which knows whole answers. Raises ValueError for a size below 1, with the first page.
        """
        if size < 1:
            raise ValueError(f"the size of a page is {size}; ask for at least 1 row")
        named = self._named(level, at_least)
        page: Json = {"limit": size, "after": None, "moments": {}}
        while True:
            found = self._found(
                await self.connection.call(
                    "read", collection=collection, level=level.value, ts=named, keys=None, page=page
                )
            )
            yield found
            if len(found.rows) < size:
                return
            page = {"limit": size, "after": max(found.rows), "moments": page["moments"] or found.moments}

    async def count(self, collection: str, *, level: ConsistencyLevel = ConsistencyLevel.BOUNDED) -> int:
        """How many rows there are."""
        return len((await self.query(collection, level=level)).rows)

    async def flush(self, collection: str) -> Timestamp:
        """Store all acknowledged rows. The timestamp up to which all rows are stored."""
        answer = await self._call("flush", collection, {})
        return self._known(answer["ts"])

    async def close(self) -> None:
        """Close the connection."""
        await self.connection.close()

    async def _version_of(self, collection: str) -> int:
        return int((await self.connection.call("describe", collection=collection))["version"])

    async def _change_alias(self, method: str, *, alias: str, **arguments: str) -> Timestamp:
        """Change an alias, and forget its schema: its proxy knows the new one by now."""
        answer = await self.connection.call(method, alias=alias, **arguments)
        self.schemas.evict(alias)
        return self._known(answer["ts"])

    def _known(self, ts: Timestamp) -> Timestamp:
        self.session.wrote(ts)
        return ts

    async def _call(self, operation: str, collection: str, facts: Json, **arguments: Any) -> Json:
        method = "read" if operation in ("query", "search") else operation
        start = 0 if self._history is None else self._history.now()
        outcome, error, answer = "unknown", "", Json()
        try:
            answer = await self.connection.call(method, collection=collection, **arguments)
            outcome = "ok"
        except RequestRefusedError as refused:
            outcome = "unknown" if refused.kind in MAY_HAVE_HAPPENED else "fail"
            error = str(refused)
            raise
        except ConnectionLostError as lost:
            error = str(lost)
            raise
        finally:
            if self._history is not None:
                seen = {"ts": answer.get("ts", ZERO), "seen": runs(key for key, _ in answer.get("rows", ()))}
                self._history.note(
                    operation,
                    collection=collection,
                    start=start,
                    end=self._history.now(),
                    outcome=outcome,
                    error=error,
                    **facts,
                    **seen,
                )
        return answer
