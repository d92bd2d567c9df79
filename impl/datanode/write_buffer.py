"""The write buffer of one channel: rows in memory, syncs in flight, and the checkpoint that follows.

No lock is held over an await. Each method without ``async`` is one atomic section on the event loop, so that
a reader always sees a row as buffered or in flight.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tidemark.impl.datanode.metacache import MetaCache, SegmentInfo
from tidemark.impl.datanode.policies import SegmentView, SyncPolicy
from tidemark.impl.datanode.sync_task import SyncTask
from tidemark.impl.errors import LateRowError
from tidemark.impl.logs import log_of
from tidemark.impl.ports import Preemption
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import (
    NO_FLUSH,
    ChannelName,
    EndPosition,
    Owner,
    Pack,
    Position,
    Row,
    SegmentId,
    SegmentPhase,
    StartPosition,
)

_log = log_of(__package__)

InFlightKey = tuple[SegmentId, Timestamp]


@dataclass
class SegmentBuffer:
    """Buffered rows of one segment. ``start`` is the start of the first pack that contributed.

    Milvus: segmentBuffers
    """

    start: StartPosition
    rows: list[Row] = field(default_factory=list)
    memory_bytes: int = 0

    def append(self, row: Row) -> None:
        """Keep the row."""
        self.rows.append(row)
        self.memory_bytes += row.memory_bytes


class WriteBuffer:
    """Buffers the rows of one channel and yields them to sync tasks.

    Milvus: WriteBuffer, GetCheckpoint, deltaBuffer

    consumed: the end of the last pack consumed, or the position from which the channel was recovered.
    flush_ts: rows up to it should become durable soon; NO_FLUSH without a request.
    buffers: rows in memory that no task has taken.
    tasks: tasks yielded and not yet finished, by (segment, position).
    in_flight: start positions of those tasks that carry rows. The checkpoint stays at or before each of them.
    starts: where each segment begins of which this incarnation has read; saves report it if ``tells_starts``.
    """

    def __init__(
        self,
        *,
        channel: ChannelName,
        owner: Owner,
        seek: EndPosition,
        metacache: MetaCache,
        policies: Sequence[SyncPolicy],
        submit: Callable[[SyncTask], None],
        preemption: Preemption,
        tells_starts: bool = False,
    ) -> None:
        self.channel = channel
        self.owner = owner
        self.consumed: EndPosition = seek
        self.metacache = metacache
        self.flush_ts: Timestamp = NO_FLUSH
        self.buffers: dict[SegmentId, SegmentBuffer] = {}
        self.tasks: dict[InFlightKey, SyncTask] = {}
        self.in_flight: dict[InFlightKey, StartPosition] = {}
        self.starts: dict[SegmentId, StartPosition] = {}
        self._tells_starts = tells_starts
        self.policies = tuple(policies)
        self._submit = submit
        self._preemption = preemption

    def consume(self, pack: Pack) -> None:
        """Buffer the rows of the pack and advance to its end."""
        start = pack.start
        for row in pack.rows:
            info = self.metacache.find_or_create(row.segment_id)
            if self._admits(row, info):
                if self._tells_starts:
                    self.starts.setdefault(row.segment_id, start)
                self.buffers.setdefault(row.segment_id, SegmentBuffer(start=start)).append(row)
        self.consumed = pack.end
        for segment_id in dict.fromkeys(row.segment_id for row in pack.rows):
            _log("segment buffer status", segmentID=segment_id, channel=self.channel)

    def _admits(self, row: Row, info: SegmentInfo) -> bool:
        """Whether the row belongs into the buffer. Rows of dropped segments do not."""
        if info.phase is SegmentPhase.DROPPED:
            return False
        if info.phase in (SegmentPhase.FLUSHING, SegmentPhase.FLUSHED):
            raise LateRowError(
                f"row {row.key} with ts {row.ts} came for segment {row.segment_id}, which is"
                f" {info.phase.value}; seal a segment only after its last row was consumed"
            )
        return True

    def flush_up_to(self, flush_ts: Timestamp) -> None:
        """Every row up to the timestamp should become durable soon. A smaller one changes nothing."""
        self.flush_ts = max(self.flush_ts, flush_ts)

    async def apply_policies(self) -> None:
        """Start the syncs that the policies pick after a pack. Each yield is a step of its own."""
        for policy in self.policies:
            for segment_id in self._candidates():
                if policy.picks(self.view(segment_id)):
                    await self._preemption.point(f"policy.{policy.name}")
                    self.sync_if_picked(segment_id, policy)

    def sync_if_picked(self, segment_id: SegmentId, policy: SyncPolicy) -> SyncTask | None:
        """Yield the segment's buffer to a new sync task, if the policy picks it at this moment."""
        if not policy.picks(self.view(segment_id)):
            return None
        if policy.flushes:
            self.metacache.start_flushing(segment_id)
        task = self._yield(self.metacache.segments[segment_id])
        self._submit(task)
        return task

    def _candidates(self) -> list[SegmentId]:
        """Segments that a policy may pick: finished ones are left out."""
        return sorted(
            info.segment_id
            for info in self.metacache.segments.values()
            if info.phase is not SegmentPhase.FLUSHED
        )

    def view(self, segment_id: SegmentId) -> SegmentView:
        """The segment as a policy sees it."""
        info = self.metacache.segments[segment_id]
        buffer = self.buffers.get(segment_id)
        return SegmentView(
            segment_id=segment_id,
            phase=info.phase,
            start=buffer.start if buffer is not None else None,
            memory_bytes=buffer.memory_bytes if buffer is not None else 0,
            consumed=self.consumed,
            flush_ts=self.flush_ts,
            has_task_here=(segment_id, self.consumed.ts) in self.tasks,
        )

    def _yield(self, info: SegmentInfo) -> SyncTask:
        """Take the buffer and record its start in one section: no checkpoint read falls between."""
        buffer = self.buffers.pop(info.segment_id, None)
        task = SyncTask(
            channel=self.channel,
            owner=self.owner,
            segment_id=info.segment_id,
            position=self.consumed,
            start=buffer.start if buffer is not None else None,
            rows=tuple(buffer.rows) if buffer is not None else (),
            sink=self,
            is_flush=info.phase is SegmentPhase.FLUSHING,
            is_drop=info.phase is SegmentPhase.DROPPED,
            starts=tuple(self.starts.items()),
        )
        self.tasks[task.key] = task
        if task.start is not None:
            self.in_flight[task.key] = task.start
        _log(
            "insertBufferNode start syncing bufferData",
            segmentID=task.segment_id,
            channel=self.channel,
            flushed=task.is_flush,
            position=task.position,
        )
        return task

    def get_checkpoint(self) -> Position:
        """The greatest position at or before which every row is durable.

        It stays at the earliest start of a buffer or of a sync in flight; without either, it is the end of
        the last pack.
        """
        buffered = [buffer.start for buffer in self.buffers.values()]
        starts: list[Position] = [*buffered, *self.in_flight.values()]
        return min(starts, key=lambda start: start.ts, default=self.consumed)

    def on_synced(self, task: SyncTask) -> None:
        """The task's rows are durable and recorded: they no longer hold the checkpoint back."""
        del self.tasks[task.key]
        if task.start is not None:
            self.in_flight.pop(task.key, None)
        if task.is_flush:
            self.metacache.finish_flushing(task.segment_id)

    def memory_bytes(self) -> int:
        """Size of all buffers in bytes. Rows in flight are not counted: evicting cannot free them."""
        return sum(buffer.memory_bytes for buffer in self.buffers.values())

    def oldest_buffered_segment(self) -> SegmentId | None:
        """The segment whose buffer starts earliest; the smaller id among equals."""
        return min(self.buffers, key=lambda segment: (self.buffers[segment].start.ts, segment), default=None)

    def drop_all(self) -> None:
        """The channel is dropped: yield every buffer as the last sync of its segment."""
        for segment_id in sorted(self.buffers):
            self.metacache.drop(segment_id)
            self._submit(self._yield(self.metacache.segments[segment_id]))
