"""Timestamps of unfinished tasks by physical channel: least, greatest, and all of them (facts 3.1).

The original looks at all of them for the least one; a heap finds it in logarithmic time.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

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
    """One channel with unfinished tasks. ``heap`` may still hold popped timestamps.

    Milvus: pChanStatInfo, tsSet
    """

    max_ts: Timestamp
    timestamps: set[Timestamp] = field(default_factory=set)
    heap: list[Timestamp] = field(default_factory=list)


class ChannelStatistics:
    """Statistics of one queue, by channel. The caller holds the queue's lock.

    Milvus: pChanStatisticsInfos, commitPChanStats, addPChanStats, popPChanStats, getPChanStatsInfo
    """

    def __init__(self) -> None:
        self.channels: dict[ChannelName, Tracked] = {}

    def commit(self, channels: Iterable[ChannelName], ts: Timestamp) -> None:
        """A task is queued whose messages have this timestamp."""
        for channel in channels:
            tracked = self.channels.setdefault(channel, Tracked(ts))
            tracked.max_ts = max(tracked.max_ts, ts)
            tracked.timestamps.add(ts)
            heapq.heappush(tracked.heap, ts)

    def pop(self, channels: Iterable[ChannelName], ts: Timestamp) -> None:
        """The task of this timestamp has ended: its own timestamp is removed (B7)."""
        for channel in channels:
            tracked = self.channels.get(channel)
            if tracked is None:
                continue
            tracked.timestamps.discard(ts)
            if not tracked.timestamps:
                del self.channels[channel]

    def snapshot(self) -> dict[ChannelName, Span]:
        """The channels that have unfinished tasks."""
        return {name: Span(self.least(tracked), tracked.max_ts) for name, tracked in self.channels.items()}

    def least(self, tracked: Tracked) -> Timestamp:
        """The least timestamp of a channel. A popped one stays in the heap until it reaches the top."""
        while tracked.heap[0] not in tracked.timestamps:
            heapq.heappop(tracked.heap)
        return tracked.heap[0]
