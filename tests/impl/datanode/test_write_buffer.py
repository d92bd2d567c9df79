"""The write buffer: what pins the checkpoint, what a yield takes, which rows are refused."""

import pytest

from tests.impl.parts import CHANNEL, OWNER, Script, pack, run
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datanode.metacache import MetaCache
from tidemark.impl.datanode.policies import FullBuffer, MemoryPressure, SealedSegment, default_policies
from tidemark.impl.datanode.sync_task import SyncTask
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import LateRowError
from tidemark.impl.types import EndPosition, SegmentPhase, SegmentRecord, StartPosition


def make(policies=(), segments=(), seek=0, preemption=None):
    submitted: list[SyncTask] = []
    buffer = WriteBuffer(
        channel=CHANNEL,
        owner=OWNER,
        seek=EndPosition(seek),
        metacache=MetaCache(segments),
        policies=policies,
        submit=submitted.append,
        preemption=preemption or Script(),
    )
    return buffer, submitted


def test_without_rows_the_checkpoint_is_what_was_consumed():
    buffer, _ = make(seek=4)
    assert buffer.get_checkpoint() == EndPosition(4)
    buffer.consume(pack(5))
    assert buffer.get_checkpoint() == EndPosition(5)


def test_a_buffer_pins_the_checkpoint_at_the_start_of_its_first_pack():
    buffer, _ = make()
    buffer.consume(pack(5, (1, 10), start=0))
    buffer.consume(pack(6, (1, 11)))
    assert buffer.get_checkpoint() == StartPosition(0)


def test_a_sync_in_flight_pins_the_checkpoint_until_it_is_recorded():
    buffer, _ = make()
    for end in (1, 2, 3):
        buffer.consume(pack(end, (1, end)))
    task = buffer.sync_if_picked(1, MemoryPressure())
    buffer.consume(pack(4, (2, 4)))
    assert buffer.get_checkpoint() == StartPosition(0)
    buffer.on_synced(task)
    assert buffer.get_checkpoint() == StartPosition(3)


def test_tasks_of_one_segment_release_only_their_own_start():
    buffer, _ = make()
    buffer.consume(pack(1, (1, 1)))
    first = buffer.sync_if_picked(1, MemoryPressure())
    buffer.consume(pack(2, (1, 2)))
    second = buffer.sync_if_picked(1, MemoryPressure())
    buffer.on_synced(second)
    assert buffer.get_checkpoint() == StartPosition(0)
    buffer.on_synced(first)
    assert buffer.get_checkpoint() == EndPosition(2)


def test_a_task_reports_the_consumed_position_not_the_end_of_its_rows():
    buffer, submitted = make()
    buffer.consume(pack(1, (1, 1)))
    buffer.consume(pack(2, (2, 2)))
    buffer.sync_if_picked(1, MemoryPressure())
    assert (submitted[0].position, submitted[0].start) == (EndPosition(2), StartPosition(0))
    assert [row.key for row in submitted[0].rows] == [1]
    assert 1 not in buffer.buffers


def test_a_pick_is_asked_again_after_the_preemption_point():
    async def scenario():
        script = Script()
        buffer, submitted = make(policies=[FullBuffer(limit_bytes=1)], preemption=script)
        script.plan["policy.full"] = lambda: buffer.sync_if_picked(1, MemoryPressure())
        buffer.consume(pack(1, (1, 1)))
        await buffer.apply_policies()
        assert len(submitted) == 1
        assert script.seen == ["policy.full"]

    run(scenario())


def test_each_yield_is_a_step_of_its_own():
    async def scenario():
        script = Script()
        buffer, submitted = make(policies=[FullBuffer(limit_bytes=1)], preemption=script)
        buffer.consume(pack(1, (2, 1), (1, 2)))
        await buffer.apply_policies()
        assert [task.segment_id for task in submitted] == [1, 2]
        assert script.seen == ["policy.full", "policy.full"]

    run(scenario())


def test_a_sealed_segment_goes_out_as_a_flush_and_once():
    async def scenario():
        buffer, submitted = make(policies=[SealedSegment()])
        buffer.consume(pack(1, (1, 1)))
        buffer.metacache.seal(1)
        await buffer.apply_policies()
        buffer.consume(pack(2))
        await buffer.apply_policies()
        assert [(task.is_flush, len(task.rows)) for task in submitted] == [(True, 1)]
        assert buffer.metacache.get(1).phase is SegmentPhase.FLUSHING
        buffer.on_synced(submitted[0])
        assert buffer.metacache.get(1).phase is SegmentPhase.FLUSHED

    run(scenario())


def test_a_full_buffer_of_a_sealed_segment_is_synced_and_the_flush_follows_with_the_next_pack():
    async def scenario():
        buffer, submitted = make(policies=default_policies(DataNodeConfig(full_buffer_bytes=1)))
        buffer.consume(pack(1, (1, 1)))
        buffer.metacache.seal(1)
        await buffer.apply_policies()
        buffer.consume(pack(2))
        await buffer.apply_policies()
        buffer.consume(pack(3))
        await buffer.apply_policies()
        assert [(task.position.ts, len(task.rows), task.is_flush) for task in submitted] == [
            (1, 1, False),
            (2, 0, True),
        ]

    run(scenario())


def test_a_sealed_segment_without_rows_waits_for_a_position_of_its_own_and_pins_nothing():
    async def scenario():
        buffer, submitted = make(policies=[SealedSegment()])
        buffer.consume(pack(1, (1, 1)))
        first = buffer.sync_if_picked(1, MemoryPressure())
        buffer.metacache.seal(1)
        await buffer.apply_policies()
        assert submitted == [first]
        buffer.consume(pack(2))
        await buffer.apply_policies()
        assert submitted[1].is_flush
        assert submitted[1].rows == ()
        buffer.on_synced(first)
        assert buffer.get_checkpoint() == EndPosition(2)

    run(scenario())


@pytest.mark.parametrize("phase", [SegmentPhase.FLUSHING, SegmentPhase.FLUSHED])
def test_a_late_row_is_refused_loudly(phase):
    buffer, _ = make()
    buffer.consume(pack(1, (1, 1)))
    buffer.metacache.get(1).phase = phase
    with pytest.raises(LateRowError, match=f"row 9 with ts 2 came for segment 1, which is {phase.value}"):
        buffer.consume(pack(2, (1, 9)))


def test_rows_of_a_dropped_segment_are_ignored():
    buffer, _ = make(segments=[SegmentRecord(segment_id=1, channel=CHANNEL, dropped=True)])
    buffer.consume(pack(1, (1, 1)))
    assert buffer.get_checkpoint() == EndPosition(1)


def test_unflushed_segments_restart_as_growing_and_flushed_ones_stay():
    cache = MetaCache(
        [
            SegmentRecord(segment_id=1, channel=CHANNEL),
            SegmentRecord(segment_id=2, channel=CHANNEL, flushed=True),
        ]
    )
    assert cache.get(1).phase is SegmentPhase.GROWING
    assert cache.get(2).phase is SegmentPhase.FLUSHED
    cache.seal(2)
    assert cache.get(2).phase is SegmentPhase.FLUSHED
