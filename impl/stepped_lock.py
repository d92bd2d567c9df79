"""A lock whose waiter begins in a step of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tidemark.impl.ports import Preemption


class SteppedLock:
    """A fair lock. A task that had to wait for it passes a preemption point before it continues.

    asyncio runs the next holder right after the release. In the original the two are preempted between.

    users: names of the tasks that hold the lock (the first one) or wait for it, in the order of their turns.
    """

    def __init__(self, preemption: Preemption) -> None:
        self.users: list[str] = []
        self._lock = asyncio.Lock()
        self._preemption = preemption

    @asynccontextmanager
    async def holding(self, point: str) -> AsyncIterator[None]:
        """Hold the lock; ``point`` is the place of preemption after a wait."""
        # Not ``locked()``: between a release and the next holder's turn the lock looks free.
        waits = bool(self.users)
        task = asyncio.current_task()
        name = task.get_name() if task is not None else ""
        self.users.append(name)
        try:
            async with self._lock:
                if waits:
                    await self._preemption.point(point)
                yield
        finally:
            self.users.remove(name)
