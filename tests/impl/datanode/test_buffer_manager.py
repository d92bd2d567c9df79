"""FlushChannel, GetCheckpoint, NotifyCheckpointUpdated and the memory check, with races in the middle."""

import pytest

from tests.impl.parts import CHANNEL, OWNER, Script, pack, run
from tidemark.impl.datanode.buffer_manager import BufferManager
from tidemark.impl.datanode.metacache import MetaCache
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import UnknownChannelError
from tidemark.impl.types import CallStage, CheckpointCall, EndPosition, SegmentPhase


def make(script=None, watermark=10**9, channels=(CHANNEL,)):
    script = script or Script()
    manager = BufferManager(preemption=script, memory_watermark_bytes=watermark)
    for channel in channels:
        manager.register(
            WriteBuffer(
                channel=channel,
                owner=OWNER,
                seek=EndPosition(0),
                metacache=MetaCache(),
                policies=(),
                submit=lambda task: None,
                preemption=script,
            )
        )
    return manager


def acknowledge(manager, position):
    call = CheckpointCall(CHANNEL, EndPosition(position), OWNER, stage=CallStage.ACKED)
    run(manager.notify_checkpoint_updated(call))
    return call


def test_a_smaller_flush_does_not_replace_a_larger_one():
    manager = make()
    manager.flush_channel(CHANNEL, 9)
    manager.flush_channel(CHANNEL, 7)
    assert manager.get(CHANNEL).flush_ts == 9


@pytest.mark.parametrize(("position", "left"), [(4, 5), (5, 5), (6, 0)])
def test_only_a_strictly_larger_checkpoint_resets(position, left):
    manager = make()
    manager.flush_channel(CHANNEL, 5)
    call = acknowledge(manager, position)
    assert manager.get(CHANNEL).flush_ts == left
    assert (call.stage, call.saw_flush_ts) == (CallStage.CLEARED, 5)


def test_a_flush_between_the_read_and_the_clear_survives():
    manager = make(script=(script := Script()))
    manager.flush_channel(CHANNEL, 5)
    script.plan["notify.clear"] = lambda: manager.flush_channel(CHANNEL, 9)
    acknowledge(manager, 8)
    assert manager.get(CHANNEL).flush_ts == 9


def test_the_flush_timestamp_is_read_after_the_checkpoint():
    async def scenario():
        script = Script()
        manager = make(script=script)
        manager.get(CHANNEL).consume(pack(6))
        script.plan["tt.read_flush_ts"] = lambda: manager.flush_channel(CHANNEL, 5)
        assert await manager.get_checkpoint(CHANNEL) == (EndPosition(6), True)
        assert manager.reading == {}

    run(scenario())


def test_the_checkpoint_that_was_read_can_be_seen_until_it_is_used():
    async def scenario():
        script = Script()
        manager = make(script=script)
        seen = []
        script.plan["tt.read_flush_ts"] = lambda: seen.append(dict(manager.reading))
        await manager.get_checkpoint(CHANNEL)
        assert seen == [{CHANNEL: EndPosition(0)}]

    run(scenario())


@pytest.mark.parametrize(("flush_ts", "needed"), [(0, False), (5, True), (6, True), (7, False)])
def test_a_checkpoint_equal_to_the_flush_is_enough_to_report(flush_ts, needed):
    async def scenario():
        manager = make()
        manager.get(CHANNEL).consume(pack(6))
        manager.flush_channel(CHANNEL, flush_ts)
        assert (await manager.get_checkpoint(CHANNEL))[1] is needed

    run(scenario())


def test_a_segment_is_sealed_only_when_its_last_row_was_consumed():
    manager = make()
    manager.get(CHANNEL).consume(pack(6, (1, 1)))
    assert not manager.seal_segment(CHANNEL, 1, expires=7)
    assert manager.get(CHANNEL).metacache.get(1).phase is SegmentPhase.GROWING
    assert manager.seal_segment(CHANNEL, 1, expires=6)
    assert manager.get(CHANNEL).metacache.get(1).phase is SegmentPhase.SEALED


def test_memory_pressure_takes_the_oldest_buffer_of_the_biggest_channel():
    manager = make(watermark=100, channels=("a", "b"))
    manager.get("a").consume(pack(1, (1, 1)))
    manager.get("b").consume(pack(1, (8, 1)))
    manager.get("b").consume(pack(2, (7, 2), (7, 3)))
    assert manager.check_memory() is None
    manager.get("b").consume(pack(3, (7, 4)))
    task = manager.check_memory()
    assert (task.channel, task.segment_id) == ("b", 8)


def test_an_unknown_channel_is_named_with_those_that_are_served():
    with pytest.raises(UnknownChannelError, match=r"'elsewhere' has no write buffer here; served: channel-1"):
        make().flush_channel("elsewhere", 3)


def test_two_buffers_for_one_channel_are_refused():
    manager = make()
    with pytest.raises(ValueError, match="has a write buffer already"):
        manager.register(manager.get(CHANNEL))
