"""The coordinator: which checkpoints and saves it takes, owners and terms, the end of a flush."""

import pytest

from tests.impl.parts import CHANNEL, run
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import ChannelLivesError, NotOwnerError, StoreError, UnknownChannelError
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import (
    DROPPED_CHECKPOINT,
    BinlogRecord,
    ChannelPosition,
    EndPosition,
    FlushRequest,
    Owner,
    SaveBinlogPaths,
    SaveOutcome,
    UpdateCheckpoints,
)


class Bench:
    def __init__(self):
        self.meta = MemoryMetaStore()
        self.coordinator = Coordinator(meta=self.meta)

    async def start(self):
        await self.coordinator.assign(CHANNEL, "a")
        self.owner = (await self.coordinator.recover_channel(CHANNEL, "a")).owner
        return self

    async def report(self, position, owner=None):
        positions = (ChannelPosition(CHANNEL, EndPosition(position), owner or self.owner),)
        await self.coordinator.update_channel_checkpoints(UpdateCheckpoints(positions))
        return self.coordinator.channel(CHANNEL).checkpoint

    async def save(self, position, *, rows=True, flushed=False, owner=None):
        request = SaveBinlogPaths(
            channel=CHANNEL,
            owner=owner or self.owner,
            segment_id=1,
            position=EndPosition(position),
            binlog=BinlogRecord(f"binlog-{position}", (position,)) if rows else None,
            flushed=flushed,
        )
        return await self.coordinator.save_binlog_paths(request)

    def paths(self):
        return [binlog.path for binlog in self.coordinator.segments[1].binlogs]


def test_a_checkpoint_never_goes_back():
    async def scenario():
        bench = await Bench().start()
        assert [await bench.report(position) for position in (5, 3, 5, 6)] == [5, 5, 5, 6]

    run(scenario())


def test_only_the_assigned_node_moves_the_checkpoint_and_the_call_succeeds_all_the_same():
    async def scenario():
        bench = await Bench().start()
        assert await bench.report(5, Owner("b", 1)) == 0
        await bench.coordinator.unassign(CHANNEL)
        assert await bench.report(5) == 0
        await bench.coordinator.assign(CHANNEL, "a")
        assert await bench.report(5) == 5

    run(scenario())


def test_a_batch_takes_what_it_may_and_leaves_the_rest():
    async def scenario():
        bench = await Bench().start()
        await bench.coordinator.assign("other", "b")
        positions = (
            ChannelPosition("unknown", EndPosition(4), bench.owner),
            ChannelPosition("other", EndPosition(4), bench.owner),
            ChannelPosition(CHANNEL, EndPosition(4), bench.owner),
        )
        await bench.coordinator.update_channel_checkpoints(UpdateCheckpoints(positions))
        assert bench.coordinator.channel("other").checkpoint == 0
        assert bench.coordinator.channel(CHANNEL).checkpoint == 4

    run(scenario())


def test_a_repeated_save_is_recorded_once():
    async def scenario():
        bench = await Bench().start()
        assert await bench.save(5) is SaveOutcome.RECORDED
        assert await bench.save(5) is SaveOutcome.ALREADY_RECORDED
        assert await bench.save(4) is SaveOutcome.ALREADY_RECORDED
        assert bench.paths() == ["binlog-5"]
        assert bench.coordinator.segments[1].dml_position == EndPosition(5)

    run(scenario())


def test_the_mark_of_a_last_save_is_recorded_even_at_an_old_position():
    async def scenario():
        bench = await Bench().start()
        await bench.save(5)
        assert await bench.save(4, rows=False, flushed=True) is SaveOutcome.RECORDED
        record = bench.coordinator.segments[1]
        assert (record.flushed, record.dml_position) == (True, EndPosition(5))

    run(scenario())


def test_nothing_is_added_to_a_flushed_segment():
    async def scenario():
        bench = await Bench().start()
        await bench.save(5, flushed=True)
        before = bench.coordinator.segments[1]
        assert await bench.save(9) is SaveOutcome.ALREADY_RECORDED
        assert bench.coordinator.segments[1] == before

    run(scenario())


def test_saves_of_an_earlier_incarnation_are_refused_and_its_checkpoints_are_not():
    async def scenario():
        bench = await Bench().start()
        old = bench.owner
        answer = await bench.coordinator.recover_channel(CHANNEL, "a")
        assert answer.owner.term > old.term
        assert await bench.save(5, owner=old) is SaveOutcome.NOT_OWNER
        assert bench.coordinator.segments == {}
        assert await bench.report(3, old) == 3

    run(scenario())


def test_a_question_that_comes_again_does_not_fence_its_own_incarnation():
    """Repeated after a lost answer, or doubled on the way; late, even after a later incarnation has asked."""

    async def scenario():
        bench = await Bench().start()
        first = await bench.coordinator.recover_channel(CHANNEL, "a", 7)
        again = await bench.coordinator.recover_channel(CHANNEL, "a", 7)
        assert again.owner == first.owner
        assert await bench.save(5, owner=first.owner) is SaveOutcome.RECORDED
        later = await bench.coordinator.recover_channel(CHANNEL, "a", 8)
        assert later.owner.term == first.owner.term + 1
        with pytest.raises(NotOwnerError, match="incarnation 8 of 'a'; 7 is an earlier one"):
            await bench.coordinator.recover_channel(CHANNEL, "a", 7)
        assert await bench.save(6, owner=later.owner) is SaveOutcome.RECORDED

    run(scenario())


def test_the_incarnations_of_another_node_are_counted_apart():
    async def scenario():
        bench = await Bench().start()
        old = await bench.coordinator.recover_channel(CHANNEL, "a", 7)
        await bench.coordinator.unassign(CHANNEL)
        new = await bench.coordinator.recover_channel(CHANNEL, "b", 3)
        assert new.owner.term == old.owner.term + 1

    run(scenario())


def test_a_node_that_gets_its_channel_back_goes_on_unless_another_had_it():
    async def scenario():
        bench = await Bench().start()
        await bench.coordinator.unassign(CHANNEL)
        assert await bench.save(5) is SaveOutcome.NOT_OWNER
        await bench.coordinator.assign(CHANNEL, "a")
        assert await bench.save(5) is SaveOutcome.RECORDED
        await bench.coordinator.assign(CHANNEL, "b")
        await bench.coordinator.assign(CHANNEL, "a")
        assert await bench.save(6) is SaveOutcome.NOT_OWNER

    run(scenario())


def test_recovery_answers_with_everything_that_is_stored():
    async def scenario():
        bench = await Bench().start()
        await bench.save(5)
        await bench.report(3)
        answer = await bench.coordinator.recover_channel(CHANNEL, "a")
        assert answer.seek == EndPosition(3)
        assert answer.recorded_positions() == {1: EndPosition(5)}

    run(scenario())


def test_a_channel_of_another_node_is_not_handed_out():
    async def scenario():
        bench = await Bench().start()
        with pytest.raises(NotOwnerError, match="assigned to 'a', not to 'b'"):
            await bench.coordinator.recover_channel(CHANNEL, "b")
        await bench.coordinator.unassign(CHANNEL)
        assert (await bench.coordinator.recover_channel(CHANNEL, "b")).owner.node_id == "b"

    run(scenario())


@pytest.mark.parametrize(
    ("checkpoint", "flushed", "done"), [(4, True, False), (5, False, False), (5, True, True)]
)
def test_a_flush_is_done_when_segments_and_checkpoint_are(checkpoint, flushed, done):
    async def scenario():
        bench = await Bench().start()
        await bench.coordinator.request_flush(CHANNEL, 5, [1, 99])
        await bench.save(5, flushed=flushed)
        await bench.report(checkpoint)
        assert await bench.coordinator.confirm_flush(CHANNEL, 5, [1, 99]) is done
        assert bench.coordinator.channel(CHANNEL).flush_requests == (
            () if done else (FlushRequest(5, (1, 99)),)
        )

    run(scenario())


def test_flush_requests_are_kept_in_order_and_once():
    async def scenario():
        bench = await Bench().start()
        for flush_ts in (7, 5, 7):
            await bench.coordinator.request_flush(CHANNEL, flush_ts)
        assert bench.coordinator.channel(CHANNEL).flush_requests == (
            FlushRequest(5),
            FlushRequest(7),
        )
        with pytest.raises(ValueError, match="flush timestamp is 0"):
            await bench.coordinator.request_flush(CHANNEL, 0)

    run(scenario())


def test_a_dropped_channel_takes_no_later_checkpoint():
    async def scenario():
        bench = await Bench().start()
        with pytest.raises(NotOwnerError, match="only its owner may drop it"):
            await bench.coordinator.drop_channel(CHANNEL, Owner("b", 1))
        await bench.coordinator.drop_channel(CHANNEL, bench.owner)
        assert await bench.report(10**6) == DROPPED_CHECKPOINT
        assert await bench.save(7) is SaveOutcome.NOT_OWNER

    run(scenario())


def test_an_earlier_incarnation_drops_nothing():
    async def scenario():
        bench = await Bench().start()
        await bench.coordinator.recover_channel(CHANNEL, "a")
        with pytest.raises(NotOwnerError, match="'a' in term 3, not to 'a' in term 2"):
            await bench.coordinator.drop_channel(CHANNEL, bench.owner)
        assert not bench.coordinator.channel(CHANNEL).dropped

    run(scenario())


def test_a_name_that_comes_back_has_a_new_term():
    async def scenario():
        bench = await Bench().start()
        coordinator, first = bench.coordinator, bench.owner
        await bench.save(5)
        with pytest.raises(ChannelLivesError, match="was not dropped"):
            await coordinator.collect_channel(CHANNEL)
        await coordinator.drop_channel(CHANNEL, first)
        with pytest.raises(ChannelLivesError, match="drop and collect it first"):
            await coordinator.create_channel(CHANNEL, EndPosition(5))
        await coordinator.collect_channel(CHANNEL)
        assert not bench.meta.segments
        assert not coordinator.segments
        assert await bench.report(10) == 0
        await coordinator.create_channel(CHANNEL, EndPosition(5))
        answer = await coordinator.recover_channel(CHANNEL, "a")
        assert (answer.seek.ts, answer.segments) == (5, ())
        assert answer.owner.term > first.term + 1
        assert await bench.save(9, owner=first) is SaveOutcome.NOT_OWNER
        with pytest.raises(NotOwnerError):
            await coordinator.drop_channel(CHANNEL, first)

    run(scenario())


def test_a_failing_store_leaves_the_memory_as_it_was():
    class BrokenMeta(MemoryMetaStore):
        async def save_channels(self, records):
            if any(record.checkpoint for record in records):
                raise StoreError("away")
            await super().save_channels(records)

    async def scenario():
        bench = Bench()
        bench.meta = BrokenMeta()
        bench.coordinator = Coordinator(meta=bench.meta)
        await bench.start()
        with pytest.raises(StoreError):
            await bench.report(5)
        assert bench.coordinator.channel(CHANNEL).checkpoint == 0

    run(scenario())


def test_a_restarted_coordinator_knows_what_was_stored():
    async def scenario():
        bench = await Bench().start()
        await bench.save(5)
        await bench.report(3)
        again = Coordinator(meta=bench.meta)
        await again.load()
        assert again.channels == bench.coordinator.channels
        assert again.segments == bench.coordinator.segments

    run(scenario())


def test_an_unknown_channel_is_named():
    with pytest.raises(UnknownChannelError, match="'nowhere' was never assigned; known: none"):
        Coordinator(meta=MemoryMetaStore()).channel("nowhere")
