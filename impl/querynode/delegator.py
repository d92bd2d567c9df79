"""One channel at one replica: its segments, its deletes, its service time, and its reads."""

import itertools
from collections.abc import Callable, Iterable

from tidemark.impl.errors import ReplicaClosedError, StoreError
from tidemark.impl.ports import ObjectStore, Preemption
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.delete_buffer import Delete, DeleteBuffer
from tidemark.impl.querynode.excluded import EVERYTHING, ExcludedSegments
from tidemark.impl.querynode.segments import Segment
from tidemark.impl.querynode.service_time import ServiceTime
from tidemark.impl.querynode.values import ChannelDescription, LoadSegment, ShardAnswer, ShardRead
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import Row, SegmentId, SegmentRecord
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, is_level_zero


class ShardDelegator:
    """Holds the rows and deletes of the stream and of loaded files, and answers reads at one moment each.

    Milvus: shardDelegator, insertNode, ProcessDelete

    Attributes:
        growing: segments that the stream fills, by number.
        sealed: segments that were loaded from binlogs. A number is in one of the two.
        deletes: those that later loads may need.
        begun: flushed segments of the description whose loads have begun.
        serviceable: the stored segments of the description are loaded.
    """

    def __init__(
        self,
        description: ChannelDescription,
        *,
        store: ObjectStore,
        preemption: Preemption,
        config: QueryNodeConfig,
    ) -> None:
        self.channel = description.channel
        self.growing: dict[SegmentId, Segment] = {}
        self.sealed: dict[SegmentId, Segment] = {}
        self.deletes = DeleteBuffer()
        self.excluded = ExcludedSegments()
        self.begun: list[SegmentId] = []
        self.serviceable = False
        self.service_time = ServiceTime(preemption=preemption, config=config, start=description.seek.ts)
        self._description = description
        self._store = store
        self._preemption = preemption
        self._config = config

    # Recovery.

    async def recover(self, follow: Callable[[], None] = lambda: None) -> None:
        """Load the segments of the description; then answer reads.

        The flushed segments are loaded while the stream advances. Deletes stay in the buffer until then.

        Args:
            follow: begins the stream. It is called when the growing segments are loaded.

        Raise StoreError, CorruptDataError.
        """
        listed = [record for record in self._described() if record.flushed]
        with self.deletes.pinned(ZERO):
            await self._take_stored()
            for record in listed:
                self.excluded.add(record.segment_id, EVERYTHING)
            follow()
            for record in listed:
                await self._preemption.point("recover.load")
                await self._load_listed(record)
        if listed:
            await self._preemption.point("recover.tsafe")
        self.serviceable = True

    def _described(self) -> list[SegmentRecord]:
        return [
            record
            for record in self._description.segments
            if not is_level_zero(record.segment_id) and not record.dropped
        ]

    async def _take_stored(self) -> None:
        """Load the deletes of level zero, and the stored part of the growing segments."""
        for record in self._description.segments:
            if is_level_zero(record.segment_id):
                for row in await self._rows(record):
                    self.deletes.put(Delete(row.ts, row.key))
        for record in self._described():
            if not record.flushed:
                await self._take_growing(record)

    async def _take_growing(self, record: SegmentRecord) -> None:
        """A growing segment is in its binlogs up to its position. It may have been loaded since."""
        segment = await self._read(record)
        if record.segment_id in self.sealed:
            return
        for delete in self.deletes.kept:
            segment.delete(delete.key, delete.ts)
        self.growing[record.segment_id] = segment
        self.excluded.add(record.segment_id, record.dml_position.ts)

    async def _load_listed(self, record: SegmentRecord) -> None:
        """Load a flushed segment of the description: its deletes are in the buffer, from the first one on."""
        self.begun.append(record.segment_id)
        for failures in itertools.count(1):
            try:
                await self.load(LoadSegment(record))
            except StoreError:
                if failures >= self._config.load_attempts:
                    raise
            else:
                return

    async def _rows(self, record: SegmentRecord) -> list[Row]:
        return [row for binlog in record.binlogs for row in await self._store.get(binlog.path)]

    async def _read(self, record: SegmentRecord) -> Segment:
        segment = Segment(record.segment_id, await self._rows(record))
        for delta in record.compaction.deltas:
            for row in await self._store.get(delta.path):
                segment.delete(row.key, row.ts)
        return segment

    # The stream.

    def needs(self, message: InsertMessage | DeleteMessage) -> bool:
        """The filter: whether the pipeline has to process a message. Deletes are never left out: they may hit
        any segment, and a second application changes nothing.
        """
        return isinstance(message, DeleteMessage) or any(
            not self.excluded.excludes(row.segment_id, row.ts) for row in message.rows
        )

    def insert(self, rows: Iterable[Row]) -> None:
        """Take rows of the stream. A segment that was loaded after the filter already has them."""
        for row in rows:
            if not self.excluded.excludes(row.segment_id, row.ts):
                self.growing.setdefault(row.segment_id, Segment(row.segment_id)).insert(row)

    def delete(self, message: DeleteMessage) -> None:
        """Take deletes of the stream: into every served segment, and into the buffer."""
        for key in message.keys:
            self.deletes.put(Delete(message.ts, key))
            for segment in self.segments():
                segment.delete(key, message.ts)

    def finish_pack(self, tick: Timestamp) -> None:
        """All messages up to the tick are applied. It is served once the segments of the description are."""
        self.excluded.forget_below(tick)
        if self.serviceable:
            self.service_time.advance(tick)

    # Loading.

    async def load(self, request: LoadSegment) -> None:
        """Serve a flushed segment from its binlogs while the stream advances.

        Raise ValueError for a segment that is not flushed, DeletesTrimmedError, StoreError, CorruptDataError.
        """
        record = request.record
        if not record.flushed:
            raise ValueError(f"segment {record.segment_id} is not flushed; rows of it are still to come")
        with self.deletes.pinned(request.replay_from):
            segment = await self._read(record)
            for level_zero in request.level_zero:
                for row in await self._rows(level_zero):
                    segment.delete(row.key, row.ts)
            await self._replay(segment, request.replay_from)
            # No await between the last look at the buffer and this: no delete falls between.
            self._serve(segment)

    async def _replay(self, segment: Segment, since: Timestamp) -> None:
        """Apply the buffered deletes above ``since``, until there are no more."""
        done = 0
        while True:
            await self._preemption.point("load.replay")
            batch, done = self.deletes.batch(since, done, self._config.replay_batch)
            if not batch:
                return
            for delete in batch:
                segment.delete(delete.key, delete.ts)

    def _serve(self, segment: Segment) -> None:
        """The loaded segment replaces the growing one, whose messages are not needed any more."""
        self.excluded.add(segment.segment_id, EVERYTHING)
        self.growing.pop(segment.segment_id, None)
        self.sealed[segment.segment_id] = segment

    # Reading.

    def segments(self) -> tuple[Segment, ...]:
        """All served segments."""
        return (*self.sealed.values(), *self.growing.values())

    async def query(self, read: ShardRead) -> ShardAnswer:
        """Wait until the guarantee is served, and answer. Raise as ``ServiceTime.wait`` does."""
        self._check_serviceable()
        await self.service_time.wait(read)
        await self._preemption.point("read.collect")
        self._check_serviceable()
        return ShardAnswer(read.moment, self.collect(read))

    def _check_serviceable(self) -> None:
        if not self.serviceable or self.service_time.closed:
            raise ReplicaClosedError(f"channel {self.channel!r} is not served here now; ask another replica")

    def collect(self, read: ShardRead) -> tuple[Row, ...]:
        """The rows visible at the moment of the read, by timestamp and key; of a search the nearest."""
        found = (row for segment in self.segments() for row in segment.visible(read.moment, read.keys))
        if read.nearest is not None:
            return read.nearest.cut(found)
        return tuple(sorted(found, key=lambda row: (row.ts, row.key)))

    def close(self) -> None:
        """End the service: all waiting reads fail."""
        self.service_time.close()
