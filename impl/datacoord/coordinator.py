"""The data coordinator: channel owners, channel checkpoints, binlog records and flush requests.

Records are replaced in memory after they were stored. One lock covers owner check, comparison, store and
memory, so that each answer is one change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tidemark.impl.errors import ChannelDroppedError, ChannelLivesError, NotOwnerError, UnknownChannelError
from tidemark.impl.logs import log_of
from tidemark.impl.ports import MetaStore
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import (
    DROPPED_CHECKPOINT,
    NO_CHECKPOINT,
    ChannelName,
    ChannelPosition,
    ChannelRecord,
    EndPosition,
    FlushRequest,
    Owner,
    RecoveryAnswer,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentId,
    SegmentRecord,
    UpdateCheckpoints,
)
from tidemark.impl.values.messages import collection_of, is_level_zero

_log = log_of(__package__)

_SAVED = "meta update: update flush segments info - update flush segments info successfully"
_FROM_CHECKPOINT = "channel seek position set from channel checkpoint meta"
_FROM_START = "channel seek position set from collection start position"


class Coordinator:
    """State: ``channels`` and ``segments``, the records by name and by id; ``lock``, over each change.

    Milvus: UpdateChannelCheckpoint, DataCoord
    """

    def __init__(self, *, meta: MetaStore) -> None:
        self.channels: dict[ChannelName, ChannelRecord] = {}
        self.segments: dict[SegmentId, SegmentRecord] = {}
        self._meta = meta
        self.lock = SteppedLock(NoPreemption())

    async def load(self) -> None:
        """Load the stored records. To be called once, before anything else."""
        snapshot = await self._meta.load()
        self.channels = {record.channel: record for record in snapshot.channels}
        self.segments = {record.segment_id: record for record in snapshot.segments}

    def channel(self, channel: ChannelName) -> ChannelRecord:
        """The channel's record. Raises UnknownChannelError."""
        record = self.channels.get(channel)
        if record is None:
            known = ", ".join(sorted(self.channels)) or "none"
            raise UnknownChannelError(f"channel {channel!r} was never assigned; known: {known}")
        return record

    def _living(self, channel: ChannelName) -> ChannelRecord:
        record = self.channel(channel)
        if record.dropped:
            raise ChannelDroppedError(f"channel {channel!r} was dropped; its rows are durable, leave it")
        return record

    def segments_of(self, channel: ChannelName) -> tuple[SegmentRecord, ...]:
        """The channel's segments, by id."""
        return tuple(
            self.segments[segment_id]
            for segment_id in sorted(self.segments)
            if self.segments[segment_id].channel == channel
        )

    async def assign(self, channel: ChannelName, node_id: str) -> None:
        """Give the channel to a node. Its last owner keeps the term; another one gets a new term.

        Incarnations are counted by each node: the number of one says nothing of another's.
        """
        async with self.lock.holding("coordinator.lock"):
            record = self.channels.get(channel, ChannelRecord(channel=channel))
            if record.last_owner != node_id:
                record = replace(record, last_owner=node_id, term=record.term + 1, session=0)
            await self._save_channel(replace(record, assigned_to=node_id))

    async def unassign(self, channel: ChannelName) -> None:
        """Take the channel from its node. Until it is assigned again, no node may write."""
        async with self.lock.holding("coordinator.lock"):
            await self._save_channel(replace(self.channel(channel), assigned_to=None))

    async def recover_channel(self, channel: ChannelName, node_id: str, session: int = 0) -> RecoveryAnswer:
        """Begin a new incarnation of the owner: saves of earlier ones are refused from now on.

        A channel that is not assigned goes to the node. A repeated question, of the same incarnation or
        doubled by the network, keeps the term: a new one would fence the running node. Raises NotOwnerError
        when another node has the channel, or a later incarnation; ChannelDroppedError for a dropped channel.
        """
        async with self.lock.holding("coordinator.lock"):
            record = self._living(channel)
            if record.assigned_to not in (None, node_id):
                raise NotOwnerError(
                    f"channel {channel!r} is assigned to {record.assigned_to!r}, not to {node_id!r};"
                    " assign it first"
                )
            _log(
                _FROM_START if record.checkpoint == NO_CHECKPOINT else _FROM_CHECKPOINT,
                channel=channel,
                posTs=self.seek_position(channel).ts,
            )
            known = record.session if record.last_owner == node_id else 0
            if 0 < session < known:
                raise NotOwnerError(
                    f"channel {channel!r} was recovered by incarnation {known} of {node_id!r}; {session} is"
                    " an earlier one, and must not take it back"
                )
            term = record.term if 0 < session == known else record.term + 1
            record = replace(record, assigned_to=node_id, last_owner=node_id, term=term, session=session)
            await self._save_channel(record)
            return RecoveryAnswer(
                channel=channel,
                owner=Owner(node_id=node_id, term=record.term),
                seek=self.seek_position(channel),
                segments=self.segments_of(channel),
                asks_starts=record.checkpoint == NO_CHECKPOINT,
            )

    def seek_position(self, channel: ChannelName) -> EndPosition:
        """Where to begin reading the channel: no row at or below is missing from the records.

        The checkpoint; while there is none, the earliest position of a segment, or else the place where the
        collection begins. Raises UnknownChannelError, ChannelDroppedError.
        """
        record = self._living(channel)
        if record.checkpoint != NO_CHECKPOINT:
            return EndPosition(record.checkpoint)
        known = [segment.position() for segment in self.segments_of(channel) if not segment.dropped]
        positions = [position.ts for position in known if position is not None]
        return EndPosition(min(positions, default=record.begins))

    async def save_binlog_paths(self, request: SaveBinlogPaths) -> SaveOutcome:
        """Record a binlog with its segment's position and end, once for repeated calls."""
        async with self.lock.holding("coordinator.lock"):
            if not self._owner_may_write(request.channel, request.owner):
                return SaveOutcome.NOT_OWNER
            await self._note_starts(request)
            record = self.segments.get(
                request.segment_id, SegmentRecord(segment_id=request.segment_id, channel=request.channel)
            )
            # A last task without new rows ends its segment all the same.
            after = replace(
                self._with_rows(record, request),
                flushed=record.flushed or request.flushed,
                dropped=record.dropped or request.dropped,
            )
            if after == record:
                return SaveOutcome.ALREADY_RECORDED
            _log(
                "receive SaveBinlogPaths request",
                nodeID=request.owner.node_id,
                collectionID=collection_of(request.channel),
                segmentID=request.segment_id,
                isFlush=request.flushed,
                checkpoints=[after],
            )
            await self._save_segment(after)
            _log("flush segment complete" if after.flushed else _SAVED, segmentID=request.segment_id)
            return SaveOutcome.RECORDED

    async def _note_starts(self, request: SaveBinlogPaths) -> None:
        """Record where segments begin, one by one, before the save. A checkpoint makes them unnecessary.

        In the order of the log: a segment that is not recorded yet, if this ends in between, has no row
        below a recorded position.
        """
        if self.channels[request.channel].checkpoint != NO_CHECKPOINT:
            return
        for segment_id, begins in sorted(request.starts, key=lambda told: told[1].ts):
            if segment_id not in self.segments:
                await self._save_segment(SegmentRecord(segment_id, request.channel, begins=begins))

    def _owner_may_write(self, channel: ChannelName, owner: Owner) -> bool:
        """Only the incarnation that recovered the channel last: an earlier one would store rows twice."""
        record = self.channels.get(channel)
        if record is None or record.dropped:
            return False
        return record.assigned_to == owner.node_id and record.term == owner.term

    def _with_rows(self, record: SegmentRecord, request: SaveBinlogPaths) -> SegmentRecord:
        """A segment's positions grow from task to task: an old one is a repetition."""
        if record.flushed or record.dropped or request.position.ts <= record.dml_position.ts:
            return record
        binlogs = record.binlogs if request.binlog is None else (*record.binlogs, request.binlog)
        return replace(record, dml_position=request.position, binlogs=binlogs)

    async def update_channel_checkpoints(self, request: UpdateCheckpoints) -> None:
        """Raise checkpoints. Others' positions and smaller ones are left out, and the call succeeds."""
        async with self.lock.holding("coordinator.lock"):
            accepted = [
                replace(self.channels[reported.channel], checkpoint=reported.position.ts)
                for reported in request.positions
                if self._accepts(reported)
            ]
            await self._save_channels(accepted)
            for record in accepted:
                _log("UpdateChannelCheckpoint done", vChannel=record.channel, ts=record.checkpoint)

    def _accepts(self, reported: ChannelPosition) -> bool:
        """From the assigned node in any incarnation: its durable rows stay durable."""
        record = self.channels.get(reported.channel)
        if record is None or record.assigned_to != reported.owner.node_id:
            return False
        return reported.position.ts > record.checkpoint

    async def request_flush(
        self, channel: ChannelName, flush_ts: Timestamp, segments: Iterable[SegmentId] = ()
    ) -> None:
        """Record that a client waits for the rows up to ``flush_ts``, and for the end of the segments.

        Raises ChannelDroppedError for a dropped channel.
        """
        async with self.lock.holding("coordinator.lock"):
            record = self._living(channel)
            if flush_ts <= 0:
                raise ValueError(f"flush timestamp is {flush_ts}; it must be a timestamp, 1 or later")
            request = FlushRequest(flush_ts, tuple(sorted(segments)))
            if request not in record.flush_requests:
                requests = tuple(sorted((*record.flush_requests, request)))
                await self._save_channel(replace(record, flush_requests=requests))

    def get_flush_state(
        self, channel: ChannelName, flush_ts: Timestamp, segments: Iterable[SegmentId] = ()
    ) -> bool:
        """Whether the flush is done: its segments flushed or gone, and the checkpoint at or beyond it."""
        known = [self.segments[segment] for segment in segments if segment in self.segments]
        ended = all(record.flushed or record.dropped for record in known)
        return ended and self.channel(channel).checkpoint >= flush_ts

    async def confirm_flush(
        self, channel: ChannelName, flush_ts: Timestamp, segments: Iterable[SegmentId] = ()
    ) -> bool:
        """Answer a client's poll; True deletes the request."""
        segments = tuple(sorted(segments))
        async with self.lock.holding("coordinator.lock"):
            if not self.get_flush_state(channel, flush_ts, segments):
                return False
            record = self.channel(channel)
            done = FlushRequest(flush_ts, segments)
            requests = tuple(request for request in record.flush_requests if request != done)
            await self._save_channel(replace(record, flush_requests=requests))
            return True

    def delete_checkpoint(self, channel: ChannelName) -> Timestamp:
        """Every delete at or below it is in the files of the segments that it may hit: the start of the
        earliest level-zero binlog, or the checkpoint if that is earlier. Raises UnknownChannelError.
        """
        levels = [record for record in self.segments_of(channel) if is_level_zero(record.segment_id)]
        starts = [position - 1 for level in levels for one in level.binlogs for position in one.row_positions]
        checkpoint = self.channel(channel).checkpoint
        begins = self.seek_position(channel).ts if checkpoint == NO_CHECKPOINT else checkpoint
        return min([begins, *starts])

    async def replace_segment(self, before: SegmentRecord, after: SegmentRecord) -> None:
        """Replace a segment's record, unless another call has changed it."""
        async with self.lock.holding("coordinator.lock"):
            if self.segments.get(before.segment_id) == before:
                await self._meta.replace_segment(after)
                self.segments[after.segment_id] = after

    async def drop_channel(self, channel: ChannelName, owner: Owner) -> None:
        """The channel's last rows are recorded: no later checkpoint can bring it back.

        Raises NotOwnerError for an earlier incarnation, whose drop may be that of another collection.
        """
        async with self.lock.holding("coordinator.lock"):
            record = self.channel(channel)
            if record.assigned_to != owner.node_id or record.term != owner.term:
                raise NotOwnerError(
                    f"channel {channel!r} is assigned to {record.assigned_to!r} in term {record.term}, not to"
                    f" {owner.node_id!r} in term {owner.term}; only its owner may drop it"
                )
            await self._save_channel(replace(record, checkpoint=DROPPED_CHECKPOINT, dropped=True))

    async def collect_channel(self, channel: ChannelName) -> None:
        """Delete the segments of a dropped channel, and then its checkpoint. Its term stays.

        Raises ChannelLivesError for a channel that its owner has not dropped.
        """
        async with self.lock.holding("coordinator.lock"):
            record = self.channel(channel)
            if not record.dropped:
                raise ChannelLivesError(f"channel {channel!r} was not dropped; have its owner drop it first")
            if record.collected:
                return
            segments = tuple(segment.segment_id for segment in self.segments_of(channel))
            await self._meta.collect(record, segments)
            for segment in segments:
                del self.segments[segment]
            await self._save_channel(ChannelRecord(channel, term=record.term, dropped=True, collected=True))

    async def create_channel(self, channel: ChannelName, begins: EndPosition) -> None:
        """Make a channel whose rows are behind ``begins``. A used name gets a new term.

        Raises ChannelLivesError if an earlier channel of the name was not collected.
        """
        async with self.lock.holding("coordinator.lock"):
            await self._make_channel(channel, begins, checkpoint=begins.ts)

    async def watch_channel(self, channel: ChannelName, begins: EndPosition) -> None:
        """The same without a checkpoint: ``begin_checkpoint``, or a node's report, stores it."""
        async with self.lock.holding("coordinator.lock"):
            await self._make_channel(channel, begins, checkpoint=NO_CHECKPOINT)

    async def begin_checkpoint(self, channel: ChannelName) -> None:
        """Store the first checkpoint, unless one was reported before. It may be late, or fail.

        Raises UnknownChannelError, ChannelDroppedError.
        """
        async with self.lock.holding("coordinator.lock"):
            record = self._living(channel)
            if record.checkpoint == NO_CHECKPOINT:
                await self._save_channel(replace(record, checkpoint=record.begins))

    async def _make_channel(
        self, channel: ChannelName, begins: EndPosition, *, checkpoint: Timestamp
    ) -> None:
        old = self.channels.get(channel)
        if old is not None and not old.collected:
            raise ChannelLivesError(f"there is a channel {channel!r}; drop and collect it first")
        term = 0 if old is None else old.term + 1
        await self._save_channel(ChannelRecord(channel, checkpoint=checkpoint, term=term, begins=begins.ts))

    async def _save_channel(self, record: ChannelRecord) -> None:
        await self._save_channels([record])

    async def _save_channels(self, records: Sequence[ChannelRecord]) -> None:
        if not records:
            return
        await self._meta.save_channels(records)
        for record in records:
            self.channels[record.channel] = record

    async def _save_segment(self, record: SegmentRecord) -> None:
        await self._meta.save_segment(record)
        self.segments[record.segment_id] = record
