"""The proxy's read path: guarantees by level, further pages, several channels and replicas."""

import asyncio
from typing import Any

import pytest

from tests.impl.parts import settle
from tidemark.impl.errors import NotServableError, RpcError, RpcTimeoutError, UnknownChannelError
from tidemark.impl.proxy.reads import ReadAnswer, Reader, ReaderConfig, ReadPhase, ReadTask
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.timestamp import MILLISECOND
from tidemark.impl.types import Row
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.nearest import Nearest

STRONG, EVENTUALLY = ConsistencyLevel.STRONG, ConsistencyLevel.EVENTUALLY


class World:
    """An oracle at 100, a clock, and replicas by channel, each of which answers, raises or waits for ever.

    asked: what replicas were asked. phases: those of the task when the oracle and the replicas were asked.
    """

    def __init__(self, *, alloc=100, now=90, config=None, **answers):
        self.asked, self.answers, self.phases = [], answers, []
        self.stamp, self.time = alloc, now
        self.task: Any = None
        self.reader = Reader(
            oracle=self, clock=self, replicas=self, config=config or ReaderConfig(graceful_ts=15)
        )

    async def alloc(self, count):
        assert count == 1
        return await self.give(self.stamp)

    def now(self):
        return self.time

    def of(self, channel):
        return [Asked(self, answer) for answer in self.answers[channel]]

    async def give(self, answer):
        self.phases.append(self.task and self.task.phase)
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        return await asyncio.Event().wait() if answer is None else answer

    async def execute(self, level, *channels, **more):
        self.task = ReadTask(level, channels, **more)
        return await self.reader.execute(self.task)


class Asked:
    def __init__(self, world, answer):
        self.world, self.answer = world, answer

    async def query(self, channel, *, guarantee, mvcc, keys, deadline):
        self.world.asked.append((channel, guarantee, mvcc, keys, deadline))
        return await self.world.give(self.answer)


def answer(moment, *rows):
    return ShardAnswer(moment, tuple(Row(ts, 1, key) for ts, key in rows))


def shown(answer):
    return [(row.ts, row.key) for row in answer.rows]


@pytest.mark.parametrize(
    ("level", "guarantee", "now"),
    [
        (STRONG, 100, 90),
        (ConsistencyLevel.SESSION, 42, 90),
        (ConsistencyLevel.BOUNDED, 75, 90),
        (ConsistencyLevel.BOUNDED, 0, 14),
        (EVENTUALLY, 0, 90),
        (ConsistencyLevel.CUSTOMIZED, 42, 90),
    ],
)
async def test_each_level_has_its_guarantee(level, guarantee, now):
    config = ReaderConfig(graceful_ts=15, deadline=2.5)
    world = World(a=[answer(200, (3, 1))], now=now, config=config)
    seen = await world.reader.read(level, ["a"], client_ts=42, keys=(1, 8))
    assert seen == ReadAnswer((Row(3, 1, 1),), {"a": 200})
    found = await world.execute(level, "a", client_ts=42)
    assert world.asked == [("a", guarantee, None, keys, 2.5) for keys in ((1, 8), None)]
    asks_the_oracle = [ReadPhase.ASKED] if level is STRONG else []
    assert world.phases[-len(asks_the_oracle) - 1 :] == [*asks_the_oracle, ReadPhase.SENT]
    assert (world.task.guarantee, world.task.phase) == (guarantee, ReadPhase.ANSWERED)
    assert world.task.answer is found


async def test_further_pages_have_the_moments_of_the_first_channel_by_channel():
    world = World(a=[answer(120, (3, 1))], b=[answer(110, (2, 2), (4, 3))])
    first = await world.execute(STRONG, "a", "b")
    assert (shown(first), first.moment) == ([(2, 2), (3, 1), (4, 3)], 120)
    world.asked.clear()
    for channels in (("a", "b"), ("b",)):
        await world.execute(STRONG, *channels, page_of=first)
        assert world.task.guarantee == max(first.moments[channel] for channel in channels)
    assert [asked[:3] for asked in world.asked] == [("a", 120, 120), *[("b", 110, 110)] * 2]
    with pytest.raises(UnknownChannelError, match="channel 'c', and its first page shows a, b"):
        await world.execute(STRONG, "a", "c", page_of=first)
    assert world.task.phase is ReadPhase.FAILED
    assert (await world.execute(EVENTUALLY)).moment == 0


async def test_replicas_are_asked_one_after_the_other_until_one_answers():
    busy, late, lost = NotServableError("busy"), RpcTimeoutError("late"), RpcError("lost")
    world = World(a=[busy, late, answer(120), answer(130)], b=[busy, lost], c=[], d=[answer(7)])
    assert (await world.execute(STRONG, "a")).moments == {"a": 120}
    assert world.asked == [("a", 100, None, None, 10.0)] * 3
    world.asked.clear()
    for channel, error, text in (("b", RpcError, "lost"), ("c", NotServableError, "no replica serves")):
        with pytest.raises(error, match=text):
            await world.execute(STRONG, channel, "d")
        assert world.task.phase is ReadPhase.FAILED
    assert [asked[:2] for asked in world.asked if asked[0] == "b"] == [("b", 100)] * 2


async def test_a_failed_oracle_a_caller_that_leaves_and_a_fault_end_a_read():
    world = World(alloc=RpcError("no leader"), a=[answer(120)])
    with pytest.raises(RpcError, match="no leader"):
        await world.execute(STRONG, "a")
    assert (world.task.phase, world.asked) == (ReadPhase.FAILED, [])
    world = World(a=[None, answer(120)])
    leaves = asyncio.create_task(world.execute(STRONG, "a"))
    await settle()
    leaves.cancel()
    await settle()
    assert (leaves.cancelled(), world.task.phase, len(world.asked)) == (True, ReadPhase.FAILED, 1)
    world = World(a=[RuntimeError("a fault"), answer(120)])
    with pytest.raises(RuntimeError):
        await world.execute(STRONG, "a")
    assert (world.task.phase, len(world.asked)) == (ReadPhase.SENT, 1)


@pytest.mark.parametrize(
    ("more", "rows"),
    [
        ({}, [(5, 9), (12, 3), (12, 10), (30, 1), (40, 3)]),
        ({"nearest": Nearest(2, 2)}, [(30, 1), (40, 3)]),
        ({"nearest": Nearest(9, 9)}, [(5, 9), (12, 10), (40, 3), (30, 1)]),
    ],
)
async def test_an_answer_has_each_row_of_all_channels_once(more, rows):
    world = World(a=[answer(40, (12, 10), (12, 3), (5, 9))], b=[answer(50, (30, 1), (12, 3), (40, 3))])
    found = await world.execute(EVENTUALLY, "a", "b", **more)
    assert (shown(found), found.moments) == (rows, {"a": 40, "b": 50})


def test_a_grace_and_a_deadline_can_be_kept():
    assert ReaderConfig() == ReaderConfig(graceful_ts=5_000 * MILLISECOND, deadline=10.0)
    assert ReaderConfig(graceful_ts=0, deadline=0.5).graceful_ts == 0
    for wrong in ({"graceful_ts": -1}, {"deadline": 0.0}, {"deadline": -1.0}):
        with pytest.raises(
            ValueError, match=f"{next(iter(wrong))} is {next(iter(wrong.values()))}; it must be"
        ):
            ReaderConfig(**wrong)
