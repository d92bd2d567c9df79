"""The root coordinator's side of ids: batches, from an oracle for ids alone.

Ids are unique as timestamps are: the end of the window is in the store before an id within it is given, and
the next leader begins above it. The oracle of ids has a window and a leader key of its own (seed 004, 6.0).
"""

from typing import Protocol

from tidemark.impl.errors import NoTimestampError, NotLeaderError, RpcError
from tidemark.impl.timestamp import Batch


class BatchSource(Protocol):
    """An oracle, in its term or not: ``TimestampOracle`` or ``OracleServer``."""

    async def allocate(self, count: int = 1) -> Batch:
        """Consecutive values that no other batch has. Raise NotLeaderError or NoTimestampError."""


class IdAllocator:
    """Answers proxies.

    Args:
        most: the largest batch. It must leave room below the limit of the oracle's counter.
    """

    def __init__(self, *, oracle: BatchSource, most: int) -> None:
        if most < 1:
            raise ValueError(f"most is {most}; a batch has at least 1 id")
        self._oracle = oracle
        self._most = most

    async def allocate(self, count: int) -> Batch:
        """Return a batch of ``count`` ids, of fewer if that is more than the largest batch.

        Raise RpcError if the oracle does not lead or has none at the moment.
        """
        if count < 1:
            raise ValueError(f"count must be at least 1, got {count}")
        try:
            return await self._oracle.allocate(min(count, self._most))
        except (NotLeaderError, NoTimestampError) as refused:
            raise RpcError(f"there are no ids: {refused}") from refused
