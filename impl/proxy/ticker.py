"""The ticker: from the statistics of unfinished tasks to the reportable value of each channel.

The order matters: the timestamp ``now`` first, the snapshot after it. A task that is not in the snapshot then
has a timestamp above ``now`` (facts 3.3; hazard 24).
"""

from __future__ import annotations

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
            await self._look()
            await self._preemption.point("ticker.publish")
            self._publish(self.now, self.snapshot)
        finally:
            self.stage, self.now, self.snapshot = TickStage.IDLE, 0, {}

    async def _look(self) -> None:
        await self._take_timestamp()
        await self._preemption.point("ticker.snapshot")
        await self._take_snapshot()

    async def _take_timestamp(self) -> None:
        self.stage = TickStage.ASKED
        self.now = await self._oracle.alloc(1)
        self.stage = TickStage.STAMPED

    async def _take_snapshot(self) -> None:
        self.snapshot = await self._queue.snapshot()
        self.stage = TickStage.TAKEN

    def _publish(self, now: Timestamp, snapshot: Snapshot) -> None:
        self.default = now
        for channel in list(self.current):
            span = snapshot.get(channel)
            if span is None:
                del self.current[channel]
                del self.published[channel]
            elif span.min_ts > self.current[channel]:
                self.published[channel] = self._value(span.min_ts, now)
                self.current[channel] = min(now + self._interval_ts, span.max_ts)
        for channel, span in snapshot.items():
            if channel not in self.current:
                self.published[channel] = self._value(span.min_ts, now)
                self.current[channel] = now

    def _value(self, min_ts: Timestamp, now: Timestamp) -> Timestamp:
        """The message of the least unfinished task is still to come: the value is below it (B6)."""
        del now
        return min_ts - 1

    def report(self, source: SourceId) -> TimeTickReport | None:
        """The reportable values; None before the first tick."""
        if not self.default:
            return None
        return TimeTickReport(source, tuple(sorted(self.published.items())), self.default)
