"""What goes through the channels of a collection, and the edges of the proxy's side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

ShardName = str
"""What one query node answers for as a whole: a virtual channel, or a sealed segment."""


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A request in the request channel. ``number``: given to no other request."""

    number: int
    collection: str


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A result in the result channel: the number of its request, and the rows of each shard of a node."""

    number: int
    shards: Mapping[ShardName, tuple[int, ...]]


class Writer(Protocol):
    """The request channel of a collection, opened."""

    async def write(self, request: QueryRequest) -> None:
        """Return when the request is in the channel. Raise RpcError."""

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
