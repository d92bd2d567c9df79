"""Messages of a collection's channels, and the edges of the proxy's side."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tidemark.impl.errors import RpcError

ShardName = str
"""The unit for which one query node answers: a virtual channel, or a sealed segment."""

Asked = Any
"""The content of a request for each shard: callers and nodes know it, the channels do not."""

Found = Any
"""A node's result for a shard: its rows, and perhaps more."""


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A request in the request channel. ``number``: given to no other request."""

    number: int
    collection: str
    asked: Asked = None


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A result in the result channel: the number of its request, and the rows of each shard of a node.

    node: whose result it is. refusal: why the node does not answer for some shard, or for any.
    """

    number: int
    shards: Mapping[ShardName, Found]
    node: str = ""
    refusal: RpcError | None = None


class Writer(Protocol):
    """The request channel of a collection, opened."""

    async def write(self, request: QueryRequest) -> Collection[str] | None:
        """Return the nodes of the request when it is in the channel; None if unknown. Raise RpcError."""

    def close(self) -> None:
        """Close it."""


class QueryCoordinatorClient(Protocol):
    """The query coordinator for a proxy."""

    async def channels(self, collection: str) -> Writer:
        """Where requests of the collection are written. Raise ReplicaClosedError if it is not loaded."""


class Numbers(Protocol):
    """Unique ids."""

    async def next_id(self) -> int:
        """A number that no other request has. Raise RpcError."""
