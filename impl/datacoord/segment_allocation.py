"""Which growing segment a row goes to, and which segments end with a flush."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.types import ChannelName, SegmentId


@dataclass
class Growing:
    """The segment of a channel that takes rows, and the number of its rows."""

    segment_id: SegmentId
    rows: int = 0


class SegmentAllocator:
    """Gives each row a segment at the moment at which its message is made.

    A flush first ends the segments here, and asks the oracle for its timestamp afterwards: every row of these
    segments has a smaller timestamp. So none of them follows a tick at the flush's timestamp.

    An open segment of an earlier incarnation gets no more rows, and ends with the next flush. Every flush
    names an ended segment until a flush has completed.

    Args:
        coordinator: knows the segments that have stored rows.
        take_number: numbers for new segments; those of deletes are made negative (level zero).
        max_rows: a segment that has so many rows gets no more.
    """

    def __init__(self, *, coordinator: Coordinator, take_number: Callable[[], int], max_rows: int) -> None:
        self.growing: dict[tuple[ChannelName, bool], Growing] = {}
        self.ended: dict[ChannelName, list[SegmentId]] = {}
        self._coordinator = coordinator
        self._take_number = take_number
        self._max_rows = max_rows

    def allocate(self, channel: ChannelName, rows: int, *, deletes: bool = False) -> SegmentId:
        """The segment for so many rows of one message."""
        key = (channel, deletes)
        growing = self.growing.get(key)
        if growing is not None and growing.rows + rows > self._max_rows:
            self.ended.setdefault(channel, []).append(growing.segment_id)
            growing = None
        if growing is None:
            number = self._take_number()
            growing = self.growing[key] = Growing(-number if deletes else number)
        growing.rows += rows
        return growing.segment_id

    def end_all(self, channel: ChannelName) -> tuple[SegmentId, ...]:
        """End the channel's segments: they get no further row. Returns those that are not flushed."""
        ended = self.ended.setdefault(channel, [])
        for deletes in (False, True):
            growing = self.growing.pop((channel, deletes), None)
            if growing is not None:
                ended.append(growing.segment_id)
        stored = self._coordinator.segments_of(channel)
        left = (record.segment_id for record in stored if not (record.flushed or record.dropped))
        return tuple(sorted(dict.fromkeys([*ended, *left])))

    def forget(self, channel: ChannelName, flushed: Collection[SegmentId]) -> None:
        """A flush has completed: its segments are flushed, and need not be named again."""
        self.ended[channel] = [known for known in self.ended[channel] if known not in flushed]
