"""The service time of a channel at one replica (tSafe), and the reads that wait for it (facts 6.1)."""

import asyncio

from tidemark.impl.errors import LagTooLargeError, ReplicaClosedError, ServiceTimeStalledError
from tidemark.impl.ports import Preemption
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.values import ReadStage, ShardRead
from tidemark.impl.timestamp import ZERO, Timestamp, split


class ServiceTime:
    """All messages at or below ``value`` are applied. It is raised, never lowered.

    Milvus: UpdateTSafe, tsafeManager, waitTSafe, tsCond, ServiceTime, MaxTimestampLag

    closed: the replica answers no more. sleepers: the waiting reads, in order of arrival.
    """

    def __init__(
        self, *, preemption: Preemption, config: QueryNodeConfig | None = None, start: Timestamp = ZERO
    ) -> None:
        self.value = start
        self.closed = False
        self.sleepers: dict[ShardRead, asyncio.Future[None]] = {}
        self._preemption = preemption
        self._config = config if config is not None else QueryNodeConfig()

    def advance(self, ts: Timestamp) -> None:
        """Raise the service time and wake waiting reads. A smaller value is ignored (hazard 33)."""
        if ts > self.value:
            self.value = ts
            self._wake()

    def close(self) -> None:
        """All waiting reads look again, and find the replica closed."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        for read, wakes in self.sleepers.items():
            read.stage = ReadStage.WAITING
            if not wakes.done():
                wakes.set_result(None)

    async def wait(self, read: ShardRead) -> Timestamp:
        """Wait until the service time is at or above the guarantee; return the moment of the answer.

        A cancelled read leaves no state behind. Raise ReplicaClosedError, LagTooLargeError or
        ServiceTimeStalledError.
        """
        self._check_lag(read)
        while True:
            await self._preemption.point("tsafe.check")
            if self.closed:
                raise ReplicaClosedError("the replica was released while the read waited; ask another one")
            if self.value >= read.guarantee:
                read.moment = self.value if read.mvcc is None else read.mvcc
                read.stage = ReadStage.READING
                return read.moment
            await self._sleep(read)

    def _check_lag(self, read: ShardRead) -> None:
        """Before the first tick of a log there is no service time that could lag."""
        lag = split(read.guarantee).physical - split(self.value).physical
        if self.value > ZERO and lag > self._config.max_lag_ms:
            raise LagTooLargeError(
                f"the guarantee {read.guarantee} lies {lag} ms above the service time,"
                f" {self._config.max_lag_ms} ms are allowed; check the clock that gave the guarantee"
            )

    async def _sleep(self, read: ShardRead) -> None:
        """Return when the service time has moved, or the replica was closed."""
        wakes = self.sleepers[read] = asyncio.get_running_loop().create_future()
        read.stage = ReadStage.ASLEEP
        try:
            async with asyncio.timeout(self._config.stall_seconds):
                await wakes
        except TimeoutError as stalled:
            raise ServiceTimeStalledError(
                f"the service time {self.value} did not move in {self._config.stall_seconds} s, and the read"
                f" waits for {read.guarantee}; ask again, and check the ticks of the channel"
            ) from stalled
        finally:
            del self.sleepers[read]
