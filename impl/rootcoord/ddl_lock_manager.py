"""DDL messages of background work, such as the removal of dropped collections: one at a time."""

from __future__ import annotations

import contextlib

from impl.errors import RpcError
from impl.ports import Preemption
from impl.rootcoord.ddl_scheduler import Execute
from impl.rootcoord.ports import Oracle
from impl.rootcoord.report import Timestamp
from impl.stepped_lock import SteppedLock


class DdlTsLockManager:
    """A lock, a counter of those who have asked for it, and the last timestamp that is done with.

    last_ts: everything in the background up to here is appended. in_progress: background tasks that have, or
    wait for, a timestamp that may be above it.
    """

    def __init__(self, *, oracle: Oracle, preemption: Preemption) -> None:
        self.last_ts: Timestamp = 0
        self.in_progress = 0
        self._oracle = oracle
        self._preemption = preemption
        self._lock = SteppedLock(preemption)

    async def run_task(self, execute: Execute) -> Timestamp:
        """Append in the background. The counter rises before there is a timestamp, never after (B47)."""
        async with self._lock.holding("background.begin"):
            self.in_progress += 1
            try:
                ts = await self._oracle.alloc(1)
                await self._preemption.point("background.execute")
                await execute(ts)
                self.last_ts = ts
            finally:
                self.in_progress -= 1
        return ts

    async def min_ddl_ts(self) -> Timestamp:
        """Every background message still to come is above this.

        While something is in progress, the last timestamp that is done with. Else a new one: who asks the
        lock later gets a greater one.
        """
        if self.in_progress:
            return self.last_ts
        async with self._lock.holding("background.minimum"):
            with contextlib.suppress(RpcError):  # no answer: what was true before still is
                self.last_ts = await self._oracle.alloc(1)
            return self.last_ts
