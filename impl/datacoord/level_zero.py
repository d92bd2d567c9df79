"""Brings deletes from level-zero segments into the files of segments, and removes them with their rows.

The deletes of a level-zero binlog are written to each segment with older rows, as far as its filter knows
their keys; then the binlog is dropped. A segment that has deletes is written anew without the rows that they
remove. An interrupted step is begun again: a second application of a delete changes nothing, and an object
that no record names is no part of a segment.

Objects of replaced records stay in the store: a query node may still read them.
"""

from collections.abc import Callable, Container, Iterable
from dataclasses import replace

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.ports import ObjectStore, Preemption
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.types import BinlogRecord, ChannelName, Row, SegmentId, SegmentRecord
from tidemark.impl.values.messages import is_level_zero

KeyFilter = Callable[[Iterable[int]], Container[int]]
"""Made of the keys of a segment. It says yes to each of them, and may say yes to others (a Bloom filter)."""


class LevelZeroCompactor:
    """Applies and drops level-zero binlogs, and rewrites segments. One task at a time works on a segment.

    Milvus: DeltaLogs

    Errors of all methods: StoreError, CorruptDataError. Completed steps stay.
    """

    def __init__(
        self,
        *,
        coordinator: Coordinator,
        store: ObjectStore,
        preemption: Preemption | None = None,
        key_filter: KeyFilter = frozenset,
    ) -> None:
        self._coordinator = coordinator
        self._store = store
        self._preemption = preemption if preemption is not None else NoPreemption()
        self._key_filter = key_filter
        self.locks: dict[SegmentId, SteppedLock] = {}

    async def compact(self, channel: ChannelName) -> None:
        """Apply the ripe level-zero binlogs of the channel, and drop them."""
        for level in self._ripe(channel):
            for record in self._older(channel, level):
                await self._apply(level, record.segment_id)
            await self._drop(channel, level)

    async def rewrite(self, channel: ChannelName) -> None:
        """Write the segments with deletes anew, without the removed rows."""
        for record in self._segments(channel):
            if record.compaction.deltas:
                await self._rewrite(record.segment_id)

    # The binlogs and segments.

    def _ripe(self, channel: ChannelName) -> list[BinlogRecord]:
        """The binlogs whose deletes the checkpoint has passed, and whose segments are all flushed.

        Behind the checkpoint every row is recorded: each segment with a row that is older is known here.
        """
        checkpoint = self._coordinator.channel(channel).checkpoint
        levels = [one for record in self._levels(channel) for one in record.binlogs]
        return [
            level
            for level in levels
            if max(level.row_positions) <= checkpoint
            and all(record.flushed for record in self._older(channel, level))
        ]

    def _levels(self, channel: ChannelName) -> list[SegmentRecord]:
        return [one for one in self._coordinator.segments_of(channel) if is_level_zero(one.segment_id)]

    def _segments(self, channel: ChannelName) -> list[SegmentRecord]:
        known = self._coordinator.segments_of(channel)
        return [record for record in known if not is_level_zero(record.segment_id)]

    def _older(self, channel: ChannelName, level: BinlogRecord) -> list[SegmentRecord]:
        last = max(level.row_positions)
        return [record for record in self._segments(channel) if 0 < record.start() < last]

    # The three changes.

    async def _apply(self, level: BinlogRecord, segment_id: SegmentId) -> None:
        async with self._alone(segment_id).holding("compaction.lock"):
            record = self._coordinator.segments[segment_id]
            if level.path in record.compaction.applied:
                return
            known = self._key_filter(row.key for row in await self._rows(record.binlogs))
            taken = [delete for delete in await self._store.get(level.path) if delete.key in known]
            deltas = record.compaction.deltas
            if taken:
                path = f"{record.channel}/segment-{segment_id}/delta-{level.path.replace('/', '-')}"
                await self._store.put(path, taken)
                deltas = (*deltas, BinlogRecord(path, tuple(delete.ts for delete in taken)))
            applied = (*record.compaction.applied, level.path)
            await self._preemption.point("compaction.apply")
            changed = replace(record.compaction, applied=applied, deltas=deltas)
            await self._coordinator.replace_segment(record, replace(record, compaction=changed))

    async def _drop(self, channel: ChannelName, level: BinlogRecord) -> None:
        """Remove the binlog from its segment: every segment with older rows has its deletes."""
        await self._preemption.point("compaction.drop")
        for record in self._levels(channel):
            if level in record.binlogs:
                left = tuple(one for one in record.binlogs if one != level)
                done = replace(record.compaction, applied=(*record.compaction.applied, level.path))
                await self._coordinator.replace_segment(
                    record, replace(record, binlogs=left, compaction=done)
                )

    async def _rewrite(self, segment_id: SegmentId) -> None:
        async with self._alone(segment_id).holding("compaction.lock"):
            record = self._coordinator.segments[segment_id]
            if not record.compaction.deltas:
                return  # another has done it
            deletes = await self._rows(record.compaction.deltas)
            rows = [row for row in await self._rows(record.binlogs) if not self._is_removed(row, deletes)]
            binlogs: tuple[BinlogRecord, ...] = ()
            if rows:
                count = len(record.compaction.applied)
                path = f"{record.channel}/segment-{segment_id}/compacted-{count:06d}"
                await self._store.put(path, rows)
                binlogs = (BinlogRecord(path, tuple(row.ts for row in rows)),)
            changed = replace(record.compaction, deltas=(), start=record.start())
            await self._preemption.point("compaction.rewrite")
            await self._coordinator.replace_segment(
                record, replace(record, binlogs=binlogs, compaction=changed)
            )

    def _is_removed(self, row: Row, deletes: Iterable[Row]) -> bool:
        return any(delete.key == row.key and delete.ts > row.ts for delete in deletes)

    async def _rows(self, binlogs: Iterable[BinlogRecord]) -> list[Row]:
        return [row for binlog in binlogs for row in await self._store.get(binlog.path)]

    def _alone(self, segment_id: SegmentId) -> SteppedLock:
        return self.locks.setdefault(segment_id, SteppedLock(self._preemption))
