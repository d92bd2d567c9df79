"""Request and result channels in the memory of one process, and their directory (seed 004, 6.2).

They are not stored: a client repeats a request whose proxy has ended, and a new node reads from then on.
"""

import asyncio
from dataclasses import dataclass, field

from tidemark.impl.errors import ReplicaClosedError
from tidemark.impl.queries.values import QueryRequest, QueryResult


class RequestReader:
    """The request channel of one collection as one node reads it, from its begin on.

    owed: numbers of the requests that the node has not answered.
    """

    def __init__(self) -> None:
        self.left: asyncio.Queue[QueryRequest] = asyncio.Queue()
        self.owed: dict[int, None] = {}

    def give(self, request: QueryRequest) -> None:
        """The node has to answer one more request."""
        self.owed[request.number] = None
        self.left.put_nowait(request)

    async def next_request(self) -> QueryRequest:
        """See RequestChannel."""
        return await self.left.get()


class ResultReader:
    """The result channel for one proxy, with the results for other proxies."""

    def __init__(self) -> None:
        self.left: asyncio.Queue[QueryResult] = asyncio.Queue()

    async def next_result(self) -> QueryResult:
        """See Results."""
        return await self.left.get()


@dataclass(eq=False)
class _Requests:
    """The request channel of a collection. ``readers``: by node."""

    readers: dict[str, RequestReader] = field(default_factory=dict)


class RequestWriter:
    """A stream into the request channel of a collection."""

    def __init__(self, collection: str, requests: _Requests) -> None:
        self.closed = False
        self._collection = collection
        self._requests = requests

    async def write(self, request: QueryRequest) -> tuple[str, ...]:
        """See Writer. Raise ReplicaClosedError if the stream is closed, or no node reads."""
        if self.closed or not self._requests.readers:
            what = "its stream is closed" if self.closed else "no query node serves it"
            raise ReplicaClosedError(
                f"request {request.number} of collection {self._collection!r}: {what}; ask again"
            )
        for reader in self._requests.readers.values():
            reader.give(request)
        return tuple(self._requests.readers)

    def close(self) -> None:
        """See Writer."""
        self.closed = True


class QueryChannels:
    """The channels of the query coordinator: the request channel of each loaded collection, and the result
    channel that all proxies share.

    Milvus: LoadCollection, QueryCoord
    """

    def __init__(self) -> None:
        self._requests: dict[str, _Requests] = {}
        self._proxies: list[ResultReader] = []

    def load(self, collection: str) -> None:
        """The collection has channels from now on."""
        self._requests.setdefault(collection, _Requests())

    def release(self, collection: str) -> None:
        """It has none any more. Each opener closes its streams."""
        self._requests.pop(collection, None)

    async def channels(self, collection: str) -> RequestWriter:
        """See QueryCoordinatorClient."""
        return RequestWriter(collection, self._loaded(collection))

    def subscribe(self, collection: str, node: str) -> RequestReader:
        """A node reads the requests. Raise ReplicaClosedError if the collection is not loaded."""
        reader = self._loaded(collection).readers[node] = RequestReader()
        return reader

    def unsubscribe(self, collection: str, node: str) -> None:
        """The node reads no more. Its unanswered requests are refused in its name: no proxy waits for it."""
        found = self._requests.get(collection)
        reader = found.readers.pop(node, None) if found is not None else None
        if reader is None:
            return
        for number in sorted(reader.owed):
            left = ReplicaClosedError(f"request {number}: query node {node!r} has left; ask again")
            self._hand(QueryResult(number, {}, node, left))

    def results(self) -> ResultReader:
        """The result channel for a proxy that begins."""
        reader = ResultReader()
        self._proxies.append(reader)
        return reader

    async def put(self, result: QueryResult) -> None:
        """See ResultChannel."""
        for requests in self._requests.values():
            if result.node in requests.readers:
                requests.readers[result.node].owed.pop(result.number, None)
        self._hand(result)

    def _hand(self, result: QueryResult) -> None:
        for reader in self._proxies:
            reader.left.put_nowait(result)

    def _loaded(self, collection: str) -> _Requests:
        found = self._requests.get(collection)
        if found is None:
            raise ReplicaClosedError(f"collection {collection!r} is not loaded; load it and ask again")
        return found
