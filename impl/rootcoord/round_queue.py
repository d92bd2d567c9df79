"""Complete rounds on their way from the synchroniser to the sender."""

import asyncio
from collections import deque
from collections.abc import Mapping

from tidemark.impl.values.report import SourceId, TimeTickReport

Round = Mapping[SourceId, TimeTickReport]


class RoundQueue:
    """A queue that holds ``capacity`` rounds, the oldest first.

    waiting: the rounds in it. dropped: how many rounds found it full.
    """

    def __init__(self, capacity: int) -> None:
        self.waiting: deque[Round] = deque()
        self.dropped = 0
        self._capacity = capacity
        self._arrived = asyncio.Event()

    def put(self, complete: Round) -> None:
        """Add a round, or drop it: a reporter must not wait for a sender that is late (B9)."""
        if len(self.waiting) >= self._capacity:
            self.dropped += 1
            return
        self.waiting.append(complete)
        self._arrived.set()

    async def arrived(self) -> None:
        """Wait until there is a round."""
        while not self.waiting:
            self._arrived.clear()
            await self._arrived.wait()

    def take(self) -> Round:
        """The oldest round."""
        return self.waiting.popleft()
