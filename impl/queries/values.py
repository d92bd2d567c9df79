"""What goes through the channels of a collection, and the edges of the proxy's side."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tidemark.impl.errors import RpcError

ShardName = str
"""What one query node answers for as a whole: a virtual channel, or a sealed segment."""

Asked = Any
"""What a request asks of each shard: known to those who ask and to the nodes, not to what is between."""

Found = Any
"""What a node has found of a shard: its rows, or more than that."""


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
        """Return when the request is in the channel: the nodes that it is for, each of which answers or
        refuses. None if that is not known. Raise RpcError.
        """

    def close(self) -> None:
        """Nothing can be written any more."""


class QueryCoordinatorClient(Protocol):
    """The query coordinator as a proxy sees it."""

    async def channels(self, collection: str) -> Writer:
        """Where requests of the collection are written. Raise ReplicaClosedError if it is not loaded."""


class Numbers(Protocol):
    """Ids that are given once."""

    async def next_id(self) -> int:
        """A number that no other request has. Raise RpcError."""
