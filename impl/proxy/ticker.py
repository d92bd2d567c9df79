"""The ticker: from the statistics of unfinished tasks to the reportable value of each channel.

The order matters: the timestamp ``now`` first, the snapshot after it. A task that is not in the snapshot then
has a timestamp above ``now`` (facts 3.3; hazard 24).
"""

from collections.abc import Mapping
from enum import Enum

from tidemark.impl.ports import Preemption
from tidemark.impl.proxy.statistics import Span
from tidemark.impl.proxy.task_queue import DmlTaskQueue
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.oracle import Oracle
from tidemark.impl.values.report import SourceId, TimeTickReport

Snapshot = Mapping[ChannelName, Span]


class TickStage(Enum):
    """Stage of a tick."""

    IDLE = "idle"
    ASKED = "asked"
    STAMPED = "stamped"
    TAKEN = "taken"


class ChannelsTimeTicker:
    """The values that one proxy may report.

    Milvus: channelsTimeTicker, minTsStatistics, getMinTsStatistics, getLastTick, defaultTimestamp

    published: value of each followed channel: those with unfinished tasks at the last tick.
    current: the gate of each followed channel. A new value is published when the least unfinished timestamp
        has passed it: the value moves once for a batch of tasks, not once for each (hazard 28).
    default: value of every other channel: the last tick's ``now``.
    stage, now, snapshot: the tick under way.
    """

    def __init__(
        self, *, queue: DmlTaskQueue, oracle: Oracle, preemption: Preemption, interval_ts: Timestamp
    ) -> None:
        self.published: dict[ChannelName, Timestamp] = {}
        self.current: dict[ChannelName, Timestamp] = {}
        self.default: Timestamp = 0
        self.stage = TickStage.IDLE
        self.now: Timestamp = 0
        self.snapshot: Snapshot = {}
        self._queue = queue
        self._oracle = oracle
        self._preemption = preemption
        self._interval_ts = interval_ts

    async def tick(self) -> None:
        """Look at the queue once. Raise the oracle's error, and change nothing then."""
        try:
            self.stage = TickStage.ASKED
            self.now = await self._oracle.alloc(1)
            self.stage = TickStage.STAMPED
            await self._preemption.point("ticker.snapshot")
            self.snapshot = await self._queue.snapshot()
            self.stage = TickStage.TAKEN
            await self._preemption.point("ticker.publish")
            self._publish(self.now, self.snapshot)
        finally:
            self.stage, self.now, self.snapshot = TickStage.IDLE, 0, {}

    def _publish(self, now: Timestamp, snapshot: Snapshot) -> None:
        """The message of a channel's least unfinished task is still to come: the value is below it (B6)."""
        self.default = now
        for channel in self.current.keys() - snapshot.keys():
            del self.current[channel], self.published[channel]
        for channel, span in snapshot.items():
            gate = self.current.get(channel)
            if gate is None or span.min_ts > gate:
                self.published[channel] = span.min_ts - 1
                self.current[channel] = now if gate is None else min(now + self._interval_ts, span.max_ts)

    def report(self, source: SourceId) -> TimeTickReport | None:
        """The reportable values; None before the first tick."""
        if not self.default:
            return None
        return TimeTickReport(source, tuple(sorted(self.published.items())), self.default)
