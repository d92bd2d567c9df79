"""The timestamp oracle for its callers."""

from typing import Protocol

from tidemark.impl.timestamp import Timestamp


class Oracle(Protocol):
    """The timestamp oracle.

    Milvus: AllocOne, tsoAllocator

    No timestamp is given twice, and one that is asked for after another one was answered is greater.
    """

    async def alloc(self, count: int) -> Timestamp:
        """The last of ``count`` consecutive timestamps. Raise RpcError when there is no answer."""
