"""DDL messages of background work, such as the removal of dropped collections: one at a time."""

from dataclasses import dataclass
from enum import Enum

from tidemark.impl.errors import ImplementationError, RpcError
from tidemark.impl.ports import Preemption
from tidemark.impl.rootcoord.ddl_scheduler import Execute
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.oracle import Oracle


class JobStage(Enum):
    """Stage of a background job."""

    NEW = "new"
    LOCKED = "locked"
    ASKED = "asked"
    STAMPED = "stamped"
    SENT = "sent"
    OVER = "over"
    UNLOCKED = "unlocked"


@dataclass(eq=False)
class Job:
    """One background job. ``counted``: it is among those in progress."""

    stage: JobStage = JobStage.NEW
    ts: Timestamp = 0
    counted: bool = False


class ReaderStage(Enum):
    """Stage of a question for the minimum: the counter was read, the oracle was asked."""

    IDLE = "idle"
    BUSY = "busy"
    FREE = "free"
    ASKED = "asked"


class DdlTsLockManager:
    """A lock, a counter of the jobs, and the last finished timestamp.

    Milvus: minBgDdlTs, ddlTsLockManager

    last_ts: everything in the background up to here is appended. in_progress: jobs that are counted.
    reader: the question under way.
    """

    def __init__(self, *, oracle: Oracle, preemption: Preemption) -> None:
        self.last_ts: Timestamp = 0
        self.in_progress = 0
        self.reader = ReaderStage.IDLE
        self.lock = SteppedLock(preemption)
        self._oracle = oracle
        self._preemption = preemption

    async def run_task(self, execute: Execute, job: Job | None = None) -> Timestamp:
        """Append in the background. An error of the oracle or of ``execute`` is raised, and nothing noted."""
        job = Job() if job is None else job
        try:
            async with self.lock.holding("background.begin"):
                job.stage = JobStage.LOCKED
                try:
                    await self._work(job, execute)
                finally:
                    await self._preemption.point("background.unlock")
                    job.stage = JobStage.UNLOCKED
        finally:
            if job.counted:
                await self._preemption.point("background.uncount")
                self._count(job, counted=False)
        return job.ts

    async def _work(self, job: Job, execute: Execute) -> None:
        """The counter rises before there is a timestamp, never after (B47)."""
        await self._preemption.point("background.count")
        self._count(job, counted=True)
        await self._preemption.point("background.ask")
        try:
            job.stage = JobStage.ASKED
            job.ts = await self._oracle.alloc(1)
            job.stage = JobStage.STAMPED
            await execute(job.ts)
        except ImplementationError:
            job.stage = JobStage.OVER
            raise
        job.stage = JobStage.SENT
        await self._preemption.point("background.note")
        self.last_ts = job.ts
        job.stage = JobStage.OVER

    def _count(self, job: Job, *, counted: bool) -> None:
        job.counted = counted
        self.in_progress += 1 if counted else -1

    async def min_ddl_ts(self) -> Timestamp:
        """Every background message still to come is above this.

        While a job is in progress, the last finished timestamp. Else a new one: a later job gets a greater
        one.
        """
        self.reader = ReaderStage.BUSY if self.in_progress else ReaderStage.FREE
        await self._preemption.point("background.look")
        try:
            return self.last_ts if self.reader is ReaderStage.BUSY else await self._new_minimum()
        finally:
            self.reader = ReaderStage.IDLE

    async def _new_minimum(self) -> Timestamp:
        async with self.lock.holding("background.minimum"):
            self.reader = ReaderStage.ASKED
            try:
                self.last_ts = await self._oracle.alloc(1)
            except RpcError:
                return self.last_ts  # no answer: the earlier minimum is still right
            return self.last_ts
