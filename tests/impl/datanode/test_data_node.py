"""Whole nodes on a plain loop: time ticks, flushes from end to end, crash and recovery, drop and close."""

import asyncio

import pytest

from tests.impl.parts import CHANNEL, World, pack, run, settle
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datacoord.flush_service import FlushService, FlushServiceConfig
from tidemark.impl.datanode.data_node import DataNodeParts
from tidemark.impl.datanode.direct import DirectNodeClient
from tidemark.impl.datanode.policies import SealedSegment
from tidemark.impl.datanode.recovery import RecoveryFilter
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import LateRowError, RpcError
from tidemark.impl.types import DROPPED_CHECKPOINT, SegmentPhase

LAZY = DataNodeConfig(full_buffer_bytes=10**6, checkpoint_interval_ts=1000)
EACH_TICK = DataNodeConfig(full_buffer_bytes=1, checkpoint_interval_ts=0)


def crash(node):
    """The node is gone; nothing of it runs any more, and nobody tidied up."""
    return node.stop()


def test_the_first_tick_and_each_interval_report_without_urgency():
    async def scenario():
        world = World(config=DataNodeConfig(checkpoint_interval_ts=3))
        node = await world.node()
        submitted = []
        for end in range(1, 9):
            await world.feed(pack(end))
            submitted.append(node.pipelines[CHANNEL].time_tick_node.last_update)
        assert submitted == [1, 1, 1, 4, 4, 4, 7, 7]
        assert not node.updater.tasks[CHANNEL].flush
        await node.stop()

    run(scenario())


def test_when_the_interval_has_passed_a_flush_waits_for_the_next_tick():
    async def scenario():
        world = World(config=DataNodeConfig(checkpoint_interval_ts=100))
        node = await world.node()
        node.flush_channel(CHANNEL, 1)
        await world.feed(pack(1))
        assert (world.client.reports, node.updater.tasks[CHANNEL].flush) == ([], False)
        await world.feed(pack(2))
        assert world.stored == 2
        await node.stop()

    run(scenario())


def test_a_flush_syncs_what_began_before_it_and_is_confirmed_and_forgotten():
    async def scenario():
        world = World(config=LAZY)
        node = await world.node()
        await world.feed(pack(1, (1, 1)), pack(2, (2, 2)))
        await world.coordinator.request_flush(CHANNEL, 2)
        node.flush_channel(CHANNEL, 2)
        await world.feed(pack(3))
        assert world.recorded_keys() == [1, 2]
        assert not await world.coordinator.confirm_flush(CHANNEL, 2)
        await world.feed(pack(4))
        assert world.stored == 4
        assert node.buffers.get(CHANNEL).flush_ts == 0
        assert await world.coordinator.confirm_flush(CHANNEL, 2)
        await node.stop()

    run(scenario())


def test_a_checkpoint_that_equals_the_flush_leaves_it_pending_until_the_next_tick():
    async def scenario():
        world = World(config=LAZY)
        node = await world.node()
        await world.feed(pack(1))
        node.flush_channel(CHANNEL, 2)
        await world.feed(pack(2))
        assert (world.stored, node.buffers.get(CHANNEL).flush_ts) == (2, 2)
        await world.feed(pack(3))
        assert (world.stored, node.buffers.get(CHANNEL).flush_ts) == (3, 0)
        await node.stop()

    run(scenario())


def test_the_flush_service_seals_polls_and_tells_a_new_incarnation_again():
    async def scenario():
        world = World(config=LAZY)
        node = await world.node()
        client = DirectNodeClient(node)
        service = FlushService(
            coordinator=world.coordinator,
            node=client,
            clock=world.clock,
            config=FlushServiceConfig(poll_seconds=1.0),
        )
        await world.feed(pack(1, (1, 1)))
        flushing = asyncio.create_task(service.flush(CHANNEL, 2, [1]))
        await settle()
        assert node.buffers.get(CHANNEL).metacache.get(1).phase is SegmentPhase.GROWING
        await crash(node)
        client.node = node = await world.node()
        await world.clock.advance(1.0)
        assert node.buffers.get(CHANNEL).flush_ts == 2
        end = 2
        while not flushing.done():
            assert end < 10
            await world.feed(pack(end))
            await world.clock.advance(1.0)
            end += 1
        assert world.coordinator.segments[1].flushed
        assert world.recorded_keys() == [1]
        assert world.coordinator.channel(CHANNEL).flush_requests == ()
        await node.stop()

    run(scenario())


def test_a_node_that_is_not_there_is_a_failed_call():
    async def scenario():
        world = World()
        node = await world.node()
        with pytest.raises(RpcError, match="'elsewhere' has no write buffer"):
            await DirectNodeClient(node).flush_channel("elsewhere", 3, deadline=1.0)
        await node.stop()

    run(scenario())


@pytest.mark.parametrize("crash_after", range(1, 8))
def test_after_a_crash_anywhere_nothing_is_lost_or_doubled(crash_after):
    async def scenario():
        world = World(config=EACH_TICK)
        world.store.gates[2] = asyncio.Event()
        node = await world.node()
        packs = [pack(end, (1 + end % 2, end)) for end in range(1, 9)]
        await world.feed(*packs[:crash_after])
        await world.clock.advance(10.0)
        assert world.stored <= 1
        await crash(node)
        world.store.gates[2].set()
        await settle()
        node = await world.node()
        await world.feed(*packs[crash_after:])
        await world.feed(pack(9))
        await world.clock.advance(10.0)
        assert world.recorded_keys() == list(range(1, 9))
        assert world.stored >= 8
        await node.stop()

    run(scenario())


def test_without_the_filter_replayed_rows_are_stored_twice():
    class NoFilter(RecoveryFilter):
        def _should_filter(self, row):
            return False

    async def scenario(parts, expected):
        world = World(config=EACH_TICK, parts=parts)
        node = await world.node()
        await world.feed(pack(1, (1, 1)))
        await crash(node)
        world.config = LAZY
        node = await world.node()
        node.flush_channel(CHANNEL, 2)
        await world.feed(pack(2, (1, 2)))
        assert world.recorded_keys() == expected
        await node.stop()

    run(scenario(DataNodeParts(recovery_filter=NoFilter), [1, 1, 2]))
    run(scenario(DataNodeParts(), [1, 2]))


def test_without_the_starts_in_flight_the_checkpoint_passes_rows_that_are_not_durable():
    class Forgetful(WriteBuffer):
        def _earliest_in_flight(self):
            return None

    async def scenario(parts, expected):
        world = World(config=EACH_TICK, parts=parts)
        world.store.gates[1] = asyncio.Event()
        node = await world.node()
        await world.feed(pack(1, (1, 1)), pack(2))
        await world.clock.advance(10.0)
        assert world.stored == expected
        await crash(node)

    run(scenario(DataNodeParts(write_buffer=Forgetful), 2))
    run(scenario(DataNodeParts(), 0))


def test_a_late_save_of_a_dead_incarnation_is_refused():
    async def scenario():
        world = World(config=EACH_TICK)
        node = await world.node()
        world.client.lose_saves_before = 1
        await world.feed(pack(1, (1, 1)))
        late = world.client.saves[0]
        await crash(node)
        node = await world.node()
        await settle()
        assert world.recorded_keys() == [1]
        await world.coordinator.save_binlog_paths(late)
        assert world.recorded_keys() == [1]
        await node.stop()

    run(scenario())


def test_a_dropped_channel_syncs_everything_and_is_not_reported_again():
    async def scenario():
        world = World(config=LAZY)
        node = await world.node()
        await world.feed(pack(1, (1, 1)), pack(2, (2, 2)), pack(3, drop=True))
        assert world.recorded_keys() == [1, 2]
        assert all(record.dropped for record in world.coordinator.segments.values())
        assert world.stored == DROPPED_CHECKPOINT
        await world.clock.advance(10.0)
        assert (world.client.reports, node.pipelines, node.buffers.buffers) == ([], {}, {})
        node.supervisor.check()
        await node.stop()

    run(scenario())


def test_a_closed_channel_leaves_its_rows_to_the_next_owner():
    async def scenario():
        world = World(config=LAZY)
        node = await world.node()
        await world.feed(pack(1), pack(2, (1, 2)), pack(3, close=True))
        assert node.updater.tasks[CHANNEL].position.ts == 1
        assert node.pipelines[CHANNEL].ended == "close"
        await world.clock.advance(10.0)
        assert (world.stored, world.recorded_keys()) == (1, [])
        await crash(node)
        world.config = EACH_TICK
        await world.coordinator.assign(CHANNEL, "node-2")
        node = await world.node("node-2")
        await world.feed(pack(4))
        assert world.recorded_keys() == [2]
        await node.stop()

    run(scenario())


def test_the_memory_check_runs_by_the_clock():
    async def scenario():
        world = World(config=DataNodeConfig(memory_watermark_bytes=1, memory_check_seconds=3.0))
        node = await world.node()
        node.supervisor.spawn(node._run_memory_check, "memory check")
        await world.feed(pack(1, (1, 1)))
        assert world.recorded_keys() == []
        await world.clock.advance(3.0)
        assert world.recorded_keys() == [1]
        await node.stop()

    run(scenario())


def test_sealing_several_segments_can_be_interrupted_between_them():
    async def scenario():
        world = World(config=LAZY, parts=DataNodeParts(policies=lambda config: (SealedSegment(),)))
        node = await world.node()
        await world.feed(pack(1, (1, 1), (2, 2)))
        world.script.seen.clear()
        assert await node.seal_segments(CHANNEL, [2, 1], expires=1)
        assert world.script.seen == ["node.seal"]
        await world.feed(pack(2))
        assert [record.flushed for record in world.coordinator.segments.values()] == [True, True]
        await node.stop()

    run(scenario())


def test_a_late_row_is_the_failure_of_the_node():
    async def scenario():
        world = World(config=EACH_TICK)
        node = await world.node()
        await world.feed(pack(1, (1, 1)))
        await node.seal_segments(CHANNEL, [1], expires=1)
        await world.feed(pack(2), pack(3, (1, 3)))
        with pytest.raises(LateRowError, match="row 3 with ts 3"):
            node.supervisor.check()
        with pytest.raises(LateRowError):
            await node.supervisor.wait_failed()
        await node.stop()

    run(scenario())


def test_the_points_of_one_pack_come_in_the_order_of_the_table():
    async def scenario():
        world = World(config=LAZY)
        node = await world.node()
        node.flush_channel(CHANNEL, 1)
        await world.feed(pack(1, (1, 1)))
        await world.feed(pack(2))
        assert world.script.seen == [
            "policy.flush_ts",
            "tt.read_checkpoint",
            "sync.send_save",
            "tt.read_flush_ts",
            "tt.read_checkpoint",
            "tt.read_flush_ts",
            "updater.select",
            "notify.read_flush_ts",
            "notify.clear",
            "updater.clean_up",
        ]
        await node.stop()

    run(scenario())


def test_a_close_submits_the_checkpoint_even_between_two_intervals():
    async def scenario():
        world = World(config=LAZY)
        node = await world.node()
        await world.feed(pack(1), pack(2), pack(3, close=True))
        task = node.updater.tasks[CHANNEL]
        assert (task.position.ts, task.flush) == (3, False)
        await node.stop()

    run(scenario())


def test_a_close_starts_no_sync():
    async def scenario():
        world = World(config=LAZY)
        node = await world.node()
        await world.feed(pack(1, (1, 1)))
        node.flush_channel(CHANNEL, 2)
        await world.feed(pack(2, close=True))
        assert (node.buffers.get(CHANNEL).tasks, world.recorded_keys()) == ({}, [])
        await node.stop()

    run(scenario())


def test_a_dropped_channel_does_not_look_at_its_checkpoint():
    async def scenario():
        world = World(config=EACH_TICK)
        node = await world.node()
        await world.feed(pack(1))
        world.script.seen.clear()
        await world.feed(pack(2, drop=True))
        assert world.script.seen == []
        await node.stop()

    run(scenario())


def test_a_drop_is_reported_only_after_every_sync_has_ended():
    async def scenario():
        world = World(config=LAZY)
        world.store.gates[2] = asyncio.Event()
        node = await world.node()
        await world.feed(pack(1, (1, 1), (2, 2)), pack(2, drop=True))
        assert not world.coordinator.channel(CHANNEL).dropped
        world.store.gates[2].set()
        await settle()
        assert world.coordinator.channel(CHANNEL).dropped
        assert world.recorded_keys() == [1, 2]
        await node.stop()

    run(scenario())


def test_a_flush_that_one_incarnation_has_taken_is_brought_to_the_next():
    async def scenario():
        world = World(config=LAZY)
        node = await world.node()
        client = DirectNodeClient(node)
        service = FlushService(coordinator=world.coordinator, node=client, clock=world.clock)
        flushing = asyncio.create_task(service.flush(CHANNEL, 2))
        await settle()
        assert node.buffers.get(CHANNEL).flush_ts == 2
        await crash(node)
        client.node = node = await world.node()
        assert node.buffers.get(CHANNEL).flush_ts == 0
        await world.clock.advance(1.0)
        assert node.buffers.get(CHANNEL).flush_ts == 2
        flushing.cancel()
        await asyncio.gather(flushing, return_exceptions=True)
        await node.stop()

    run(scenario())
