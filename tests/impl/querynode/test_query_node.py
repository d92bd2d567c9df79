"""A whole query node on a plain loop: reads, waits, loads while the stream goes on, releases."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.impl.parts import Script, settle
from tests.impl.read_parts import CHANNEL, ListLog, delete, insert, tick
from tidemark.impl.errors import (
    DeletesTrimmedError,
    LagTooLargeError,
    NotServableError,
    ReplicaClosedError,
    RpcTimeoutError,
    ServiceTimeStalledError,
    StoreError,
)
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.delete_buffer import DeleteBuffer
from tidemark.impl.querynode.query_node import QueryNode, QueryNodePorts
from tidemark.impl.querynode.values import ChannelDescription, LoadSegment, ShardRead
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.storage.memory import MemoryObjectStore
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.timestamp import MAX_LOGICAL, compose
from tidemark.impl.types import BinlogRecord, Compaction, EndPosition, Row, SegmentRecord
from tidemark.impl.values.messages import InsertMessage
from tidemark.impl.values.nearest import Nearest


async def node_of(log, store=None, config=None, **description):
    store = MemoryObjectStore() if store is None else store
    config = QueryNodeConfig(stall_seconds=None) if config is None else config
    node = QueryNode(
        node_id="q", ports=QueryNodePorts(log=log, store=store, preemption=Script()), config=config
    )
    await node.watch(ChannelDescription(CHANNEL, **description))
    return node


async def stored(store, segment, *rows, position, flushed=True):
    """Store rows (ts, key), and return the coordinator's record of them."""
    path = f"segment-{segment}-{position}"
    await store.put(path, [Row(ts, segment, key) for ts, key in rows])
    binlog = BinlogRecord(path, tuple(ts for ts, _ in rows))
    return SegmentRecord(segment, CHANNEL, EndPosition(position), flushed=flushed, binlogs=(binlog,))


def seen(answer):
    return [(row.ts, row.key) for row in answer.rows]


async def test_a_waiting_read_ends_by_release_by_cancellation_by_deadline_and_by_standstill():
    config = QueryNodeConfig(stall_seconds=0.02)
    node = await node_of(ListLog(tick(2)), config=config)
    await settle()
    sleepers = node.delegators[CHANNEL].service_time.sleepers
    with pytest.raises(ServiceTimeStalledError):
        await node.query(CHANNEL, guarantee=9)
    with pytest.raises(RpcTimeoutError):
        await node.query(CHANNEL, guarantee=9, deadline=0.001)
    gives_up = asyncio.ensure_future(node.query(CHANNEL, guarantee=9))
    await settle()
    assert len(sleepers) == 1
    gives_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gives_up
    assert not sleepers
    waits = asyncio.ensure_future(node.query(CHANNEL, guarantee=9))
    await settle()
    await node.release(CHANNEL)
    with pytest.raises(ReplicaClosedError):
        await waits
    with pytest.raises(NotServableError):
        await node.query(CHANNEL, guarantee=0)
    await node.stop()


async def test_the_lag_is_looked_at_once_when_the_read_comes():
    log = ListLog()
    node = await node_of(log, config=QueryNodeConfig(stall_seconds=0.02, max_lag_ms=100))
    early = asyncio.ensure_future(node.query(CHANNEL, guarantee=compose(151, 0)))
    await settle()
    log.append(tick(compose(50, 3)))
    with pytest.raises(ServiceTimeStalledError):
        await early
    with pytest.raises(ServiceTimeStalledError):
        await node.query(CHANNEL, guarantee=compose(150, MAX_LOGICAL - 1))
    with pytest.raises(LagTooLargeError, match="lies 101 ms above"):
        await node.query(CHANNEL, guarantee=compose(151, 0))
    await node.stop()


async def test_a_node_takes_up_a_channel_from_binlogs_and_goes_on_with_the_stream(tmp_path):
    """Parquet files as the data node writes them: a flushed segment, a growing one, deletes of level zero."""
    store = ParquetStore(tmp_path)
    records = (
        await stored(store, 1, (1, 10), (2, 11), position=4),
        await stored(store, 2, (3, 12), (6, 13), position=6, flushed=False),
        await stored(store, -1, (4, 10), position=4, flushed=False),
    )
    log = ListLog(
        *(insert(1, 10, 1), insert(2, 11, 1), insert(3, 12, 2), delete(4, 10), tick(4)),
        *(insert(6, 13, 2), insert(7, 14, 2), delete(8, 11), tick(9)),
    )
    node = await node_of(log, store, seek=StreamPosition(0, 4), segments=records)
    assert seen(await node.query(CHANNEL, guarantee=4, mvcc=4)) == [(2, 11), (3, 12)]
    assert seen(await node.query(CHANNEL, guarantee=9)) == [(3, 12), (6, 13), (7, 14)]
    await node.stop()


class SlowStore(MemoryObjectStore):
    """An object store whose reads wait for a sign, and of which the next ones fail."""

    def __init__(self, failures=0):
        super().__init__()
        self.may_go = asyncio.Event()
        self.failures = failures

    async def get(self, path):
        await self.may_go.wait()
        if self.failures:
            self.failures -= 1
            raise StoreError(path)
        return await super().get(path)


async def test_a_flushed_segment_is_loaded_in_the_recovery_while_the_stream_goes_on():
    """A read that fails is tried again. The service time waits, and the buffer keeps what the load needs."""
    log, store = ListLog(insert(1, 10), insert(2, 11), tick(2)), SlowStore(failures=2)
    record = await stored(store, 1, (1, 10), (2, 11), position=2)
    node = QueryNode(node_id="q", ports=QueryNodePorts(log=log, store=store, preemption=Script()))
    watching = asyncio.ensure_future(node.watch(ChannelDescription(CHANNEL, segments=(record,))))
    await settle()
    log.append(delete(3, 10), tick(4))
    await settle()
    node.trim_deletes(CHANNEL, 4)
    assert (node.pipelines[CHANNEL].pack, node.service_time(CHANNEL)) == (4, 0)
    with pytest.raises(ReplicaClosedError):
        await node.query(CHANNEL, guarantee=9)
    store.may_go.set()
    await watching
    assert node.service_time(CHANNEL) == 4
    assert seen(await node.query(CHANNEL, guarantee=4)) == [(2, 11)]
    assert not node.delegators[CHANNEL].growing
    await node.stop()


async def test_a_recovery_ends_by_a_store_that_fails_by_a_release_and_by_cancellation():
    store = SlowStore(failures=3)
    record = await stored(store, 1, (1, 10), position=1)
    growing = await stored(store, 2, (1, 11), position=1, flushed=False)
    node = QueryNode(node_id="q", ports=QueryNodePorts(log=ListLog(tick(1)), store=store))
    store.may_go.set()
    with pytest.raises(StoreError):
        await node.watch(ChannelDescription(CHANNEL, segments=(record,)))
    store.may_go.clear()
    for segments, cancelled in (((record,), False), ((growing,), False), ((record,), True)):
        watching = asyncio.ensure_future(node.watch(ChannelDescription(CHANNEL, segments=segments)))
        await settle()
        if cancelled:
            watching.cancel()
        else:
            await node.release(CHANNEL)
        store.may_go.set()
        with pytest.raises(asyncio.CancelledError if cancelled else ReplicaClosedError):
            await watching
        assert (node.delegators, node.pipelines) == ({}, {})
        store.may_go.clear()
    await node.stop()


async def test_a_dropped_segment_is_not_read_and_a_broken_store_is_asked_once():
    class BrokenStore(MemoryObjectStore):
        asked = 0

        async def get(self, path):
            self.asked += 1
            raise RuntimeError(f"{path} is broken")

    store = BrokenStore()
    record = await stored(store, 1, (1, 10), position=1)
    node = await node_of(ListLog(tick(1)), store, segments=(replace(record, dropped=True),))
    assert store.asked == 0
    await node.release(CHANNEL)
    with pytest.raises(RuntimeError, match="segment-1-1 is broken"):
        await node.watch(ChannelDescription(CHANNEL, segments=(record,)))
    assert store.asked == 1
    await node.stop()


async def test_a_segment_is_loaded_while_the_stream_goes_on():
    log, store = ListLog(insert(1, 10), insert(2, 11), delete(3, 10), tick(4)), SlowStore()
    record = await stored(store, 1, (1, 10), (2, 11), (6, 12), position=6)
    node = await node_of(log, store)
    await settle()
    loading = asyncio.ensure_future(node.load_segment(CHANNEL, LoadSegment(record)))
    await settle()
    log.append(delete(5, 11), insert(6, 12), tick(7))
    assert seen(await node.query(CHANNEL, guarantee=7)) == [(6, 12)]
    store.may_go.set()
    await loading
    log.append(insert(6, 12), tick(8))  # a copy, and messages of the segment: left out
    assert seen(await node.query(CHANNEL, guarantee=8)) == [(6, 12)]
    assert seen(await node.query(CHANNEL, guarantee=8, mvcc=4)) == [(2, 11)]
    delegator = node.delegators[CHANNEL]
    assert (list(delegator.growing), list(delegator.sealed)) == ([], [1])
    await node.stop()


async def test_deletes_that_a_load_needs_stay_and_a_load_that_comes_too_late_fails():
    log, store = ListLog(insert(1, 10), delete(3, 10), delete(5, 10), tick(6)), SlowStore()
    record = await stored(store, 1, (1, 10), position=1)
    node = await node_of(log, store)
    await settle()
    loading = asyncio.ensure_future(node.load_segment(CHANNEL, LoadSegment(record, replay_from=2)))
    await settle()
    node.trim_deletes(CHANNEL, 5)
    store.may_go.set()
    await loading
    assert seen(await node.query(CHANNEL, guarantee=6)) == []
    node.trim_deletes(CHANNEL, 5)
    with pytest.raises(DeletesTrimmedError):
        await node.load_segment(CHANNEL, LoadSegment(record, replay_from=2))
    level_zero = await stored(store, -1, (3, 10), (5, 10), position=5)
    await node.load_segment(CHANNEL, LoadSegment(record, (level_zero,), replay_from=5))
    assert seen(await node.query(CHANNEL, guarantee=6)) == []
    await node.stop()


async def test_what_cannot_be_done_is_refused():
    store = MemoryObjectStore()
    growing = await stored(store, 1, (1, 10), position=1, flushed=False)
    node = await node_of(ListLog(tick(2)), store)
    with pytest.raises(ValueError, match="serves channel 'log_1v0' already"):
        await node.watch(ChannelDescription(CHANNEL))
    with pytest.raises(ValueError, match="segment 1 is not flushed"):
        await node.load_segment(CHANNEL, LoadSegment(growing))
    for call in (node.service_time, lambda name: node.serves_sealed(name, 1)):
        with pytest.raises(ReplicaClosedError, match="does not serve 'other'; it serves: log_1v0"):
            call("other")
    await node.stop()
    assert (node.delegators, node.pipelines) == ({}, {})


async def test_a_node_with_dispatchers_reads_through_them_and_ends_with_them():
    class BrokenLog(ListLog):
        async def read(self, channel, place):
            if len(self.entries) > 2:
                raise RuntimeError("the log is broken")
            return await super().read(channel, place)

    log = BrokenLog(insert(1, 10), tick(2))
    dispatchers = NodeDispatchers(log)
    ports = QueryNodePorts(
        log=ListLog(), store=MemoryObjectStore(), dispatchers=dispatchers, preemption=Script()
    )
    node = QueryNode(node_id="q", ports=ports)
    for _ in range(2):
        await node.watch(ChannelDescription(CHANNEL))
        assert seen(await node.query(CHANNEL, guarantee=2)) == [(1, 10)]
        assert dispatchers.managers["log"].channels() == (CHANNEL,)
        await node.release(CHANNEL)
        assert not dispatchers.managers["log"].channels()
        assert not any(task.get_name().startswith("pipeline") for task in asyncio.all_tasks())
    await node.stop()
    assert len(asyncio.all_tasks()) == 1
    node = QueryNode(node_id="q", ports=replace(ports, dispatchers=NodeDispatchers(log)))
    log.append(tick(3))
    await node.watch(ChannelDescription(CHANNEL))
    with pytest.raises(RuntimeError, match="the log is broken"):
        await node.supervisor.wait_failed()
    await node.stop()
    assert len(asyncio.all_tasks()) == 1


async def test_a_growing_segment_that_is_flushed_and_loaded_in_the_take_up_does_not_come_back():
    class SlowFile(SlowStore):
        async def get(self, path):
            if path == "segment-1-1":
                await self.may_go.wait()
            return self.objects[path]

    store = SlowFile()
    growing = await stored(store, 1, (1, 10), position=1, flushed=False)
    flushed = await stored(store, 1, (1, 10), position=2)
    node = QueryNode(node_id="q", ports=QueryNodePorts(log=ListLog(), store=store, preemption=Script()))
    watching = asyncio.ensure_future(node.watch(ChannelDescription(CHANNEL, segments=(growing,))))
    await settle()
    assert not node.serves_sealed(CHANNEL, 1)
    await node.load_segment(CHANNEL, LoadSegment(flushed))
    store.may_go.set()
    await watching
    assert node.serves_sealed(CHANNEL, 1)
    assert not node.delegators[CHANNEL].growing
    await node.stop()


async def test_a_load_takes_all_deletes_in_batches_in_the_order_of_time():
    """More deletes of one timestamp than a batch has; those of level zero come in any order."""
    store = MemoryObjectStore()
    record = await stored(store, 1, *[(ts, key) for key in range(5) for ts in (1, 4)], position=4)
    zero = [await stored(store, -1 - n, (ts, 4), position=ts) for n, ts in enumerate((5, 3))]
    config = QueryNodeConfig(replay_batch=2, stall_seconds=None)
    node = await node_of(ListLog(delete(6, 0, 1, 2), delete(7, 77, 3), tick(7)), store, config)
    await settle()
    await node.load_segment(CHANNEL, LoadSegment(record, tuple(zero), replay_from=5))
    assert seen(await node.query(CHANNEL, guarantee=7)) == []
    assert seen(await node.query(CHANNEL, guarantee=7, mvcc=6)) == [(1, 3), (4, 3)]
    assert seen(await node.query(CHANNEL, guarantee=7, mvcc=4, keys=(4, 4))) == [(4, 4)]
    assert seen(await node.query(CHANNEL, guarantee=7, mvcc=4, keys=())) == []
    assert set(node.delegators[CHANNEL].sealed[1].deletes) == set(range(5))
    await node.stop()


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 5), st.booleans()), max_size=14),
    st.integers(0, 14),
    st.integers(-1, 6),
)
def test_a_search_brings_the_nearest_of_the_visible_rows_of_all_segments(writes, moment, place):
    """Beside a list of all rows."""
    delegator = ShardDelegator(
        ChannelDescription(CHANNEL),
        store=MemoryObjectStore(),
        preemption=NoPreemption(),
        config=QueryNodeConfig(),
    )
    visible: dict[int, list[int]] = {}
    for ts, (segment, key, deletes) in enumerate(writes, start=1):
        if deletes:
            delegator.delete(delete(ts, key))
        else:
            delegator.insert(insert(ts, key, segment).rows)
        if ts <= moment:
            visible[key] = visible.get(key, []) * (not deletes) + [ts] * (not deletes)
    seen = [(row.ts, row.key) for row in delegator.collect(ShardRead(0, moment=moment))]
    assert seen == sorted((ts, key) for key, rows in visible.items() for ts in rows)
    found = delegator.collect(ShardRead(0, nearest=Nearest(place, 3), moment=moment))
    near = sorted((abs(key - place), key, rows[-1]) for key, rows in visible.items() if rows)
    assert [(row.key, row.ts) for row in found] == [(key, ts) for _, key, ts in near[:3]]


def test_two_loads_from_the_same_timestamp_on_hold_a_trim_back_until_both_have_ended():
    buffer = DeleteBuffer()
    with buffer.pinned(3):
        with buffer.pinned(3):
            buffer.trim(5)
        buffer.trim(5)
        assert buffer.floor == 3
    buffer.trim(5)
    assert buffer.floor == 5


async def test_a_segment_has_the_deletes_of_its_files_and_rows_are_older_than_their_deletes():
    store = MemoryObjectStore()
    record = await stored(store, 1, (1, 10), (2, 11), position=2)
    await store.put("delta", [Row(2, 1, 10)])
    record = replace(record, compaction=Compaction(deltas=(BinlogRecord("delta", (2,)),)))
    mixed = InsertMessage(3, CHANNEL, (Row(3, 1, 12), Row(3, 2, 13)))
    node = await node_of(ListLog(mixed, delete(3, 13), tick(3)), store, segments=(record,))
    assert seen(await node.query(CHANNEL, guarantee=3)) == [(2, 11), (3, 13)]
    await node.stop()


async def test_what_comes_at_a_point_of_preemption_is_not_lost():
    """A delete during a replay, before the segment is served; a release before the rows are collected."""
    store, script, served = MemoryObjectStore(), Script(), []
    record = await stored(store, 1, (1, 10), position=1)
    zero = await stored(store, -1, (2, 12), position=2)
    growing = await stored(store, 2, (1, 12), position=1, flushed=False)
    ports = QueryNodePorts(log=ListLog(tick(2)), store=store, preemption=script)
    node = QueryNode(node_id="q", ports=ports)
    await node.watch(ChannelDescription(CHANNEL, segments=(zero, growing)))
    delegator = node.delegators[CHANNEL]

    def deletes():
        served.append(node.serves_sealed(CHANNEL, 1))
        delegator.delete(delete(9, 10))

    node.trim_deletes(CHANNEL, 2)
    script.plan["load.replay"] = deletes
    await node.load_segment(CHANNEL, LoadSegment(record, replay_from=2))
    assert served == [False]
    assert seen(await node.query(CHANNEL, guarantee=2, mvcc=9)) == []
    script.plan["read.collect"] = delegator.close
    with pytest.raises(ReplicaClosedError):
        await node.query(CHANNEL, guarantee=2)
    await node.stop()
