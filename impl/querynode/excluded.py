"""Messages that the pipeline leaves out: loaded binlogs hold them (facts 6.1: excluded timestamps)."""

from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import SegmentId

EVERYTHING: Timestamp = 2**63 - 1
"""Excluded timestamp of a flushed segment: no message of it is needed."""


class ExcludedSegments:
    """By segment the timestamp up to which its messages are left out, itself included.

    Milvus: filterNode
    """

    def __init__(self) -> None:
        self.upto: dict[SegmentId, Timestamp] = {}

    def add(self, segment_id: SegmentId, upto: Timestamp) -> None:
        """The loaded binlogs hold all rows up to ``upto``."""
        self.upto[segment_id] = max(upto, self.upto.get(segment_id, 0))

    def excludes(self, segment_id: SegmentId, ts: Timestamp) -> bool:
        """Whether a loaded binlog has the row."""
        upto = self.upto.get(segment_id)
        return upto is not None and ts <= upto

    def forget_below(self, tick: Timestamp) -> None:
        """No message at or below the tick comes any more: smaller exclusions are removed."""
        self.upto = {segment: upto for segment, upto in self.upto.items() if upto >= tick}
