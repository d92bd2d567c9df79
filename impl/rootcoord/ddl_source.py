"""The coordinator as a source of messages: DDL tasks of clients, and those of background work."""

from tidemark.impl.ports import Preemption
from tidemark.impl.rootcoord.ddl_lock_manager import DdlTsLockManager
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.oracle import Oracle


class DdlSource:
    """Both kinds of DDL work, and the least timestamp that either may still append.

    Milvus: GetMinDdlTs

    background: the minimum of the background in the question under way.
    """

    def __init__(self, *, oracle: Oracle, preemption: Preemption) -> None:
        self.background: Timestamp | None = None
        self._preemption = preemption
        self.scheduler = DdlScheduler(oracle=oracle, preemption=preemption)
        self.lock_manager = DdlTsLockManager(oracle=oracle, preemption=preemption)

    async def minimum(self) -> Timestamp:
        """See DdlReporter."""
        self.background = await self.lock_manager.min_ddl_ts()
        await self._preemption.point("ddl.scheduler")
        background, self.background = self.background, None
        return min(background, self.scheduler.min_ddl_ts)

    async def run_dummy(self) -> None:
        """Move the minimum of the scheduler when there is no DDL."""
        await self.scheduler.run_dummy()
