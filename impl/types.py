"""Values that travel between the parts: positions, rows, packs, requests, records.

Every time is a hybrid timestamp of the oracle (``tidemark.impl.timestamp``): those of rows, of the ticks that
end the packs, of checkpoints and of flush requests. All classes are frozen, except ``CheckpointCall``, one
process's note of a call in progress.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from tidemark.impl.timestamp import ZERO, Timestamp

ChannelName = str
SegmentId = int

NO_FLUSH: Timestamp = ZERO
"""A write buffer's flush timestamp when no flush is pending."""

DROPPED_CHECKPOINT: Timestamp = 2**63 - 1
"""Checkpoint of a dropped channel: nothing that arrives later can be larger (SQLite integers are signed). It
is no place in a log, and is never used as one (hazard 14).
"""

NO_CHECKPOINT: Timestamp = -1
"""Checkpoint of a channel that has none yet: every position is greater, and it is no place in a log."""


@dataclass(frozen=True)
class StartPosition:
    """Where a pack begins: every row of the pack has a timestamp strictly greater than ``ts``.

    Milvus: StartPositions
    """

    ts: Timestamp


@dataclass(frozen=True)
class EndPosition:
    """Where a pack ends: every row of the pack, and of those before it, has a timestamp at most ``ts``.

    Milvus: EndPositions
    """

    ts: Timestamp


Position = StartPosition | EndPosition
"""A place in the log. Both meanings allow the same resumption: continue with the rows after ``ts``."""

LOG_BEGINNING = EndPosition(ZERO)
"""Before everything."""


@dataclass(frozen=True)
class Row:
    """One inserted row. ``key`` identifies it; the proxy has chosen ``segment_id`` already."""

    ts: Timestamp
    segment_id: SegmentId
    key: int
    value: str = ""

    @property
    def memory_bytes(self) -> int:
        """Estimated size in a write buffer, in bytes: three integers and the value."""
        return 24 + len(self.value.encode())


@dataclass(frozen=True)
class Pack:
    """The messages between two time ticks of one channel: rows have ``start.ts < ts <= end.ts``.

    Milvus: IsCloseMsg, FlowGraphMsg, ManualFlushMessage

    flush: its last message asks for a flush up to the end of the pack, which is the message's own tick.
    """

    start: StartPosition
    end: EndPosition
    rows: tuple[Row, ...] = ()
    close: bool = False
    drop: bool = False
    flush: bool = False

    def __post_init__(self) -> None:
        if self.start.ts >= self.end.ts:
            raise ValueError(f"pack starts at {self.start.ts} and ends at {self.end.ts}; give it a later end")
        for row in self.rows:
            if not self.start.ts < row.ts <= self.end.ts:
                raise ValueError(
                    f"row {row.key} has ts {row.ts}, outside ({self.start.ts}, {self.end.ts}];"
                    " put it into the pack of its own tick"
                )


class SegmentPhase(Enum):
    """Phase of a segment at the data node."""

    GROWING = "growing"
    SEALED = "sealed"
    FLUSHING = "flushing"
    FLUSHED = "flushed"
    DROPPED = "dropped"


@dataclass(frozen=True)
class Owner:
    """A node's right to write a channel. ``term`` grows with each incarnation that recovers the channel."""

    node_id: str
    term: int


class CallStage(Enum):
    """Stage of a checkpoint call at the node. Only the network knows whether it was stored."""

    SENT = "sent"
    ACKED = "acked"
    READ = "read"
    CLEARED = "cleared"


@dataclass
class CheckpointCall:
    """One position of a checkpoint call in progress. ``saw_flush_ts`` is valid from stage READ on."""

    channel: ChannelName
    position: Position
    owner: Owner
    stage: CallStage = CallStage.SENT
    saw_flush_ts: Timestamp = NO_FLUSH


@dataclass(frozen=True)
class ChannelPosition:
    """A channel's checkpoint as it is reported: rows up to and including ``position.ts`` are durable."""

    channel: ChannelName
    position: Position
    owner: Owner


@dataclass(frozen=True)
class UpdateCheckpoints:
    """Request: raise the checkpoints of some channels."""

    positions: tuple[ChannelPosition, ...]


@dataclass(frozen=True)
class BinlogRecord:
    """One binlog object: its path and the timestamps of its rows.

    Milvus: InsertLogs
    """

    path: str
    row_positions: tuple[Timestamp, ...]


@dataclass(frozen=True)
class SaveBinlogPaths:
    """Request: record what one sync task has written.

    Milvus: SaveBinlogPaths

    ``position`` is the end of the last pack in the write buffer when the task was yielded: every row of
    the segment up to it is in a binlog recorded by this or by an earlier request.
    ``starts``: where each segment begins of which the node has read, if the channel had no checkpoint.
    """

    channel: ChannelName
    owner: Owner
    segment_id: SegmentId
    position: EndPosition
    binlog: BinlogRecord | None
    flushed: bool = False
    dropped: bool = False
    starts: tuple[tuple[SegmentId, StartPosition], ...] = ()


class SaveOutcome(Enum):
    """The coordinator's answer to SaveBinlogPaths."""

    RECORDED = "recorded"
    ALREADY_RECORDED = "already recorded"
    NOT_OWNER = "not owner"


@dataclass(frozen=True)
class Compaction:
    """Changes of the files of a segment apart from adding rows.

    applied: paths of level-zero binlogs whose deletes the segment has taken; of a level-zero segment, those
    of its own that were dropped. deltas: objects with the deletes that its files have. start: the least
    position of its rows, removed ones too; 0 as long as none was removed.
    """

    applied: tuple[str, ...] = ()
    deltas: tuple[BinlogRecord, ...] = ()
    start: Timestamp = ZERO


@dataclass(frozen=True)
class SegmentRecord:
    """The coordinator's record of a segment. ``dml_position`` is the greatest position recorded for it;
    ``begins`` is where it begins, if its node has reported it.

    Milvus: unflushedSegments, flushedSegments, SegmentInfo
    """

    segment_id: SegmentId
    channel: ChannelName
    dml_position: EndPosition = LOG_BEGINNING
    flushed: bool = False
    dropped: bool = False
    binlogs: tuple[BinlogRecord, ...] = ()
    compaction: Compaction = Compaction()
    begins: StartPosition | None = None

    def position(self) -> Position | None:
        """No row of it is missing up to here: the recorded position, or else its start."""
        return self.dml_position if self.dml_position.ts > LOG_BEGINNING.ts else self.begins

    def start(self) -> Timestamp:
        """The least position of a row that was recorded, removed ones too; 0 if there is none."""
        positions = [position for binlog in self.binlogs for position in binlog.row_positions]
        return self.compaction.start or min(positions, default=ZERO)


@dataclass(frozen=True, order=True)
class FlushRequest:
    """A client's flush: every row up to ``flush_ts`` is to be durable, and these segments flushed."""

    flush_ts: Timestamp
    segments: tuple[SegmentId, ...] = ()


@dataclass(frozen=True)
class ChannelRecord:
    """The coordinator's record of a channel. ``flush_requests`` are those not yet confirmed to a client;
    ``session`` is the incarnation of ``last_owner`` that has recovered it last, 0 if that is not known.
    ``collected``: only the term of a dropped channel is kept, which must not come back with its name.
    ``begins``: every row of its collection is later.
    """

    channel: ChannelName
    checkpoint: Timestamp = LOG_BEGINNING.ts
    assigned_to: str | None = None
    last_owner: str | None = None
    term: int = 0
    session: int = 0
    dropped: bool = False
    collected: bool = False
    flush_requests: tuple[FlushRequest, ...] = ()
    begins: Timestamp = LOG_BEGINNING.ts


@dataclass(frozen=True)
class RecoveryAnswer:
    """The answer to a node that takes up a channel: its term, the position to seek, the stored segments.

    Milvus: VchannelInfo

    asks_starts: the channel has no checkpoint; saves must report where the segments begin.
    """

    channel: ChannelName
    owner: Owner
    seek: EndPosition
    segments: tuple[SegmentRecord, ...] = ()
    asks_starts: bool = False

    def recorded_positions(self) -> Mapping[SegmentId, EndPosition]:
        """The dml position of each recorded segment."""
        return {record.segment_id: record.dml_position for record in self.segments}


@dataclass(frozen=True)
class MetaSnapshot:
    """All records of a metadata store."""

    channels: tuple[ChannelRecord, ...] = field(default=())
    segments: tuple[SegmentRecord, ...] = field(default=())
