"""A client's schemas of collections, and its retry after a change."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tidemark.impl.system.connection import RequestRefusedError

Answer = TypeVar("Answer")
MISMATCH = "SchemaMismatchError"
"""A proxy's answer to rows of another version than it knows."""


class SchemaCache:
    """Versions of collections, by name.

    Milvus: retryIfSchemaError

    A request that was refused because of its version is repeated with the present version of a proxy, until a
    version is refused that is no newer than the one before: the proxies do not agree, or one is behind, and
    the caller gets the error. (The client of Milvus repeats it unless the version is the last refused one:
    during a change it may go back and forth between a proxy that knows it and one that does not.)

    Args:
        describe: asks a proxy for the version of a collection.
    """

    def __init__(self, describe: Callable[[str], Awaitable[int]]) -> None:
        self.versions: dict[str, int] = {}
        self._describe = describe

    async def version_of(self, collection: str) -> int:
        """The known version, or the present one of a proxy."""
        if collection not in self.versions:
            self.versions[collection] = await self._describe(collection)
        return self.versions[collection]

    def evict(self, collection: str) -> None:
        """Forget a collection."""
        self.versions.pop(collection, None)

    async def retried(self, collection: str, request: Callable[[int], Awaitable[Answer]]) -> Answer:
        """Make a request for the known version, and again if that is not the present one.

        Raises the errors of the request.
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
