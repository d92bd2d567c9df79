"""One unit of work of the sync manager: a yielded segment buffer on its way to storage."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from tidemark.impl.types import (
    BinlogRecord,
    ChannelName,
    EndPosition,
    Owner,
    Row,
    SaveBinlogPaths,
    SegmentId,
    StartPosition,
)


class SyncStage(Enum):
    """Stage of a task at the node. Only the network knows whether a sent save is recorded."""

    QUEUED = "queued"
    UPLOADED = "uploaded"
    SENDING = "sending"
    FINISHED = "finished"


class SyncSink(Protocol):
    """The write buffer for its tasks."""

    def on_synced(self, task: SyncTask) -> None:
        """The task's rows are durable and recorded."""


@dataclass(eq=False)
class SyncTask:
    """Rows of one segment that left the write buffer together.

    Milvus: SyncTask, SyncPack, WithFlush

    position: the end of the last pack consumed when the task was yielded; the segment's position afterwards.
    start: the start of the first pack that contributed a row; None for a task without rows.
    starts: where each segment begins of which the node had read, if the channel had no checkpoint.
    """

    channel: ChannelName
    owner: Owner
    segment_id: SegmentId
    position: EndPosition
    start: StartPosition | None
    rows: tuple[Row, ...]
    sink: SyncSink
    is_flush: bool = False
    is_drop: bool = False
    starts: tuple[tuple[SegmentId, StartPosition], ...] = ()
    stage: SyncStage = SyncStage.QUEUED
    attempts: int = 0
    finished: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @property
    def key(self) -> tuple[SegmentId, int]:
        """Identity within the channel: a segment is yielded at most once at one position."""
        return (self.segment_id, self.position.ts)

    @property
    def path(self) -> str:
        """The path of the binlog. The term separates incarnations: replayed rows go to other objects."""
        name = f"term-{self.owner.term:06d}-position-{self.position.ts:020d}"
        return f"{self.channel}/segment-{self.segment_id}/{name}"

    def save_request(self) -> SaveBinlogPaths:
        """The request that makes the upload count."""
        binlog = None
        if self.rows:
            binlog = BinlogRecord(path=self.path, row_positions=tuple(row.ts for row in self.rows))
        return SaveBinlogPaths(
            channel=self.channel,
            owner=self.owner,
            segment_id=self.segment_id,
            position=self.position,
            binlog=binlog,
            flushed=self.is_flush,
            dropped=self.is_drop,
            starts=self.starts,
        )
