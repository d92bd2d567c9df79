"""Segments of new rows: filled, ended by a flush before its timestamp is asked for, never used again."""

import itertools
from typing import Any

import pytest

from tests.impl.parts import CHANNEL
from tidemark.impl.datacoord.collection_flush import CollectionFlush
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.segment_allocation import SegmentAllocator
from tidemark.impl.errors import RpcError
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import SegmentRecord


def allocator(coordinator=None, max_rows=10):
    return SegmentAllocator(
        coordinator=coordinator if coordinator is not None else Coordinator(meta=MemoryMetaStore()),
        take_number=itertools.count(1).__next__,
        max_rows=max_rows,
    )


def test_a_segment_is_filled_and_then_followed():
    segments = allocator(max_rows=10)
    assert [segments.allocate(CHANNEL, rows) for rows in (4, 6, 1, 30, 1)] == [1, 1, 2, 3, 4]
    assert segments.allocate(CHANNEL, 2, deletes=True) == -5
    assert segments.allocate("other", 1) == 6
    assert segments.end_all(CHANNEL) == (-5, 1, 2, 3, 4)
    segments.forget(CHANNEL, [1, 2, 3])
    assert segments.end_all(CHANNEL) == (-5, 4)
    segments.forget(CHANNEL, [-5, 4])
    assert segments.end_all(CHANNEL) == ()
    assert segments.allocate(CHANNEL, 1) == 7


def test_what_an_earlier_process_left_open_ends_with_the_next_flush():
    coordinator = Coordinator(meta=MemoryMetaStore())
    for number, flushed in ((101, False), (102, True), (-103, False)):
        record = SegmentRecord(segment_id=number, channel=CHANNEL, flushed=flushed)
        coordinator.segments[number] = record
    coordinator.segments[104] = SegmentRecord(segment_id=104, channel="other")
    segments = allocator(coordinator)
    assert segments.allocate(CHANNEL, 1) == 1
    assert segments.end_all(CHANNEL) == (-103, 1, 101)


def test_what_an_earlier_process_has_flushed_or_dropped_is_not_named_again():
    coordinator = Coordinator(meta=MemoryMetaStore())
    for number, flushed, dropped in ((101, False, False), (102, True, False), (103, False, True)):
        coordinator.segments[number] = SegmentRecord(number, CHANNEL, flushed=flushed, dropped=dropped)
    assert allocator(coordinator).end_all(CHANNEL) == (101,)


async def test_segments_end_before_the_flush_has_its_timestamp():
    """A row that is written while the oracle is asked goes to another segment, which the next flush ends; a
    segment is named until a flush of it is over.
    """
    segments = allocator()
    flushed: list[Any] = []
    timestamps = [70, 60, 50]

    class Oracle:
        async def alloc(self, count):
            assert count == 1
            flushed.append(("meanwhile", segments.allocate(CHANNEL, 1)))
            return timestamps.pop()

    class Service:
        async def flush(self, channel, flush_ts, ended):
            flushed.append((channel, flush_ts, ended))
            if flush_ts == 60:
                raise RpcError("the flush fails")

    service: Any = Service()
    assert segments.allocate(CHANNEL, 1) == 1
    flush = CollectionFlush(oracle=Oracle(), allocator=segments, service=service)
    assert await flush.flush([CHANNEL]) == 50
    assert flushed == [("meanwhile", 2), (CHANNEL, 50, (1,))]
    flushed.clear()
    with pytest.raises(RpcError):
        await flush.flush([CHANNEL])
    assert await flush.flush(["other", CHANNEL]) == 70
    assert flushed == [
        ("meanwhile", 3),
        (CHANNEL, 60, (2,)),
        ("meanwhile", 4),
        ("other", 70, ()),
        (CHANNEL, 70, (2, 3)),
    ]
