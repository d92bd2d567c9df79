"""What a client keeps of the schemas of collections, and what it does when one has changed meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tidemark.impl.system.connection import RequestRefusedError

Answer = TypeVar("Answer")
MISMATCH = "SchemaMismatchError"
"""What a proxy answers to rows that were made for another version than it knows."""


class SchemaCache:
    """Versions of collections, by name.

    Milvus: retryIfSchemaError

    A request that was refused because of its version is made again with the one that a proxy has then, until
    one is refused that is no newer than what was refused before: the proxies do not agree, or one is behind,
    and the caller hears of it. (The client of Milvus goes on unless the version is the last that was refused:
    while a change is told to the proxies, it may go back and forth between one that knows it and one that
    does not.)

    Args:
        describe: asks a proxy for the version of a collection.
    """

    def __init__(self, describe: Callable[[str], Awaitable[int]]) -> None:
        self.versions: dict[str, int] = {}
        self._describe = describe

    async def version_of(self, collection: str) -> int:
        """The version that is known, or the one that a proxy has now."""
        if collection not in self.versions:
            self.versions[collection] = await self._describe(collection)
        return self.versions[collection]

    def evict(self, collection: str) -> None:
        """Forget a collection."""
        self.versions.pop(collection, None)

    async def retried(self, collection: str, request: Callable[[int], Awaitable[Answer]]) -> Answer:
        """Make a request for the version that is known, and again if that is not the present one.

        Raises what the request raises.
        """
        refused = -1
        while True:
            version = await self.version_of(collection)
            try:
                return await request(version)
            except RequestRefusedError as refusal:
                if refusal.kind != MISMATCH or not self._goes_on(version, refused):
                    raise
            refused = version
            self.evict(collection)

    def _goes_on(self, version: int, refused: int) -> bool:
        """Whether a request is made again after a refusal of ``version``; ``refused``: of the one before."""
        return version > refused
