"""Timestamps of unfinished tasks by physical channel: least, greatest, and all of them.

``HeapStatistics`` finds the least one in logarithmic time, ``ScanStatistics`` looks at all of them as the
original does (facts 3.1). They give the same answers.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName


@dataclass(frozen=True)
class Span:
    """One channel in a snapshot: no unfinished task is below ``min_ts``; none so far was above ``max_ts``.

    Milvus: BeginTs, EndTs, pChanStatistics
    """

    min_ts: Timestamp
    max_ts: Timestamp


@dataclass
class Tracked:
    """One channel with unfinished tasks. ``heap`` may still hold timestamps that are tracked no more.

    Milvus: pChanStatInfo, tsSet
    """

    max_ts: Timestamp
    timestamps: set[Timestamp] = field(default_factory=set)
    heap: list[Timestamp] = field(default_factory=list)


class ChannelStatistics(Protocol):
    """Statistics of one queue. The caller holds the queue's lock."""

    channels: dict[ChannelName, Tracked]

    def commit(self, channels: Iterable[ChannelName], begin: Timestamp, end: Timestamp) -> None:
        """A task is queued whose messages have timestamps from ``begin`` to ``end``."""

    def pop(self, channels: Iterable[ChannelName], begin: Timestamp) -> None:
        """The task that begins at ``begin`` is over."""

    def snapshot(self) -> dict[ChannelName, Span]:
        """The channels that have unfinished tasks."""


class ScanStatistics:
    """The least timestamp by a look at all of them.

    Milvus: pChanStatisticsInfos, commitPChanStats, addPChanStats, popPChanStats, getPChanStatsInfo
    """

    def __init__(self) -> None:
        self.channels: dict[ChannelName, Tracked] = {}

    def commit(self, channels: Iterable[ChannelName], begin: Timestamp, end: Timestamp) -> None:
        """See ``ChannelStatistics``."""
        for channel in channels:
            tracked = self.channels.setdefault(channel, Tracked(end))
            tracked.max_ts = max(tracked.max_ts, end)
            tracked.timestamps.add(self._entry(tracked, begin))
            self._added(tracked, begin)

    def pop(self, channels: Iterable[ChannelName], begin: Timestamp) -> None:
        """See ``ChannelStatistics``."""
        for channel in channels:
            tracked = self.channels.get(channel)
            if tracked is None:
                continue
            self._forget(tracked, begin)
            if not tracked.timestamps:
                del self.channels[channel]

    def snapshot(self) -> dict[ChannelName, Span]:
        """See ``ChannelStatistics``."""
        return {name: Span(self.least(tracked), tracked.max_ts) for name, tracked in self.channels.items()}

    def least(self, tracked: Tracked) -> Timestamp:
        """The least timestamp of a channel that has some."""
        return min(tracked.timestamps)

    def _entry(self, tracked: Tracked, begin: Timestamp) -> Timestamp:
        """What is tracked for a task: its own timestamp."""
        del tracked
        return begin

    def _forget(self, tracked: Tracked, begin: Timestamp) -> None:
        """A task is over: its own timestamp goes (B7)."""
        tracked.timestamps.discard(begin)

    def _added(self, tracked: Tracked, begin: Timestamp) -> None:
        """A timestamp was added. Nothing more to do for a scan."""


class HeapStatistics(ScanStatistics):
    """The least timestamp by a heap. What is popped stays in the heap until it comes to the top."""

    def least(self, tracked: Tracked) -> Timestamp:
        """The least timestamp: amortised logarithmic time."""
        while tracked.heap[0] not in tracked.timestamps:
            heapq.heappop(tracked.heap)
        return tracked.heap[0]

    def _added(self, tracked: Tracked, begin: Timestamp) -> None:
        heapq.heappush(tracked.heap, begin)
